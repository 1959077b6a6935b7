// The page: starts the connection and hands what is new to the parts that show it.

import { Confusion } from "./confusion.js";
import { makeControls } from "./controls.js";
import { Curves } from "./curves.js";
import { Details } from "./details.js";
import { byId, setText } from "./dom.js";
import { Layers } from "./layers.js";
import { Live } from "./live.js";
import { Resources } from "./resources.js";
import { Runs } from "./runs.js";
import { Staleness } from "./staleness.js";
import { Steering } from "./steering.js";
import { runNamed, stateOf, store } from "./store.js";
import { updateHead, updateTiles } from "./tiles.js";
import { Timeline } from "./timeline.js";
import { readAddress, view, writeAddress } from "./view.js";
import { Workers } from "./workers.js";

const kLinkTexts = {
  live: "live",
  waiting: "connection lost; trying again …",
  full: "the page does not answer; trying again …",
  paused: "paused while hidden",
  ended: "the run's page has ended; trireme watch shows it again",
};

let shownFirst = "", isDrawing = false;
const cards = byId("cards");
const curves = new Curves(cards);
const parts = [new Workers(cards), new Staleness(cards), new Timeline(cards), new Resources(cards),
               new Confusion(cards), new Layers(cards), new Details(cards)];
const steering = new Steering();
const runs = new Runs(changed);
const live = new Live(news, (state) => {
  setText(byId("link"), kLinkTexts[state]);
  byId("link").dataset.state = state;
  if (state === "live" && !store.isConnected) store.steering = "";  // the new server tells its own
  if (state !== "paused") store.isConnected = state === "live";
  draw();
});

// Nothing chosen: the run of this page, else the newest.
function chooseFirst() {
  if (view.runs.length > 0 || store.list.length === 0) return;
  const first = store.list.find((run) => run.name === shownFirst) || Runs.newestFirst()[0];
  view.runs = [first.name];
  view.detail = first.name;
  live.watch(view.runs, view.detail);
}

function draw() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    const hasRun = view.detail !== "";
    byId("empty").hidden = hasRun;
    setText(byId("empty"), "No runs here yet. One that begins appears by itself.");
    for (const id of ["head", "tiles", "controls", "cards"]) byId(id).hidden = !hasRun;
    if (!hasRun) return;
    const run = runNamed(view.detail);
    document.title = `${view.detail} – Trireme`;
    const shown = stateOf(run, view.detail === shownFirst);
    updateHead(run, shown);
    updateTiles(run, shown);
    curves.update();
    for (const part of parts) part.update(run);
    steering.show(store.steering, view.detail === shownFirst, store.isConnected);
    document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
  });
}

function news() {
  chooseFirst();
  runs.update();
  draw();
}

function changed() {
  writeAddress();
  live.watch(view.runs, view.detail);
  runs.update();
  draw();
}

function start() {
  readAddress();
  makeControls(byId("controls"), curves.navigation, () => {
    writeAddress();
    draw();
  });
  byId("theme").addEventListener("click", () => window.switchTheme());
  document.addEventListener("theme", draw);
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "t") window.switchTheme();
    if (event.key === "r") runs.open(true);
  });
  window.addEventListener("hashchange", () => {
    readAddress();
    changed();
  });
  fetch("/api/page").then((answer) => answer.json()).then((page) => {
    shownFirst = page.shown;
  }).catch(() => {}).finally(() => {
    live.watch(view.runs, view.detail);
    draw();
  });
}

start();
