// The numbers of now: how far the run is, how fast, and how good.

import { byId, element, setText } from "./dom.js";
import { count, counted, duration, isNumber, number, percent, rate } from "./format.js";
import { columnOf, last, table } from "./store.js";

const kWindow = 10;  // seconds over which speed is measured
const kPhases = ["load", "forward", "backward", "network", "update"];

// Steps a second lately, with all that is done between them; null when it cannot be told.
function paceOf(run) {
  const { rows, columns } = table(run, "steps");
  const step = columns.indexOf("step"), time = columns.indexOf("time");
  if (rows.length < 2 || time < 0) return null;
  const end = rows[rows.length - 1];
  let first = rows.length - 2;
  while (first > 0 && end[time] - rows[first][time] < kWindow) first -= 1;
  const seconds = end[time] - rows[first][time];
  return seconds > 0 ? (end[step] - rows[first][step]) / seconds : null;
}

// Steps over the time of the steps, as in summary.json: without pauses, evaluations and checkpoints.
function stepRate(run) {
  const { rows, columns } = table(run, "steps");
  const step = columns.indexOf("step"), phases = kPhases.map((name) => columns.indexOf(name));
  let steps = 0, seconds = 0;
  for (let i = rows.length - 1; i > 0 && seconds < kWindow; i -= 1) {
    const made = rows[i][step] - rows[i - 1][step];  // a row of a long run is the mean of several steps
    steps += made;
    for (const phase of phases) seconds += made * (rows[i][phase] || 0);
  }
  return steps > 0 && seconds > 0 ? steps / seconds : null;
}

// Both from the same time: of the run when it has ended, else of the last seconds.
function speedOf(run) {
  const { run: about, state, summary } = run.sections, batch = about?.resolved?.batch;
  const samples = state === "running" ? null : summary?.samples_per_second;
  if (isNumber(samples)) return { samples, steps: batch ? samples / batch : null };
  const steps = stepRate(run) ?? paceOf(run);
  return { steps, samples: steps && batch ? steps * batch : null };
}

function tilesOf(run, state) {
  const { run: about, summary, workers } = run.sections;
  const resolved = about?.resolved || {}, step = last(run, "steps", "step");
  const { steps, samples } = speedOf(run), pace = paceOf(run);
  const total = resolved.total_steps, isRunning = state === "running" || state === "paused";
  const left = isRunning && pace > 0 && total ? (total - step) / pace : null;
  const epochs = table(run, "epochs");
  const heldOut = (what) => {
    for (const kind of ["validation", "test"])
      if (columnOf(epochs, `${kind}_${what}`) >= 0 && isNumber(last(run, "epochs", `${kind}_${what}`)))
        return { kind, value: last(run, "epochs", `${kind}_${what}`) };
    return null;
  };
  const accuracy = heldOut("accuracy"), loss = heldOut("loss");
  const kind = { validation: "validation", test: "test" };
  return [
    { title: "Progress", value: total ? percent(Math.min(1, (step || 0) / total), 0) : "–",
      more: `step ${count(step)} of ${count(total)}`, share: total ? (step || 0) / total : null },
    { title: isRunning ? "Time left" : state === "not connected" ? "Took so far" : "Took",
      value: isRunning ? duration(left)
        : duration(summary?.seconds?.whole_run ?? summary?.seconds?.total ?? last(run, "steps", "time")),
      more: isRunning ? `${duration(last(run, "steps", "time"))} so far` : state || "" },
    { title: "Samples a second", value: rate(samples), more: steps ? `${rate(steps)} steps a second` : "" },
    { title: "Training loss", value: number(last(run, "steps", "loss")),
      more: loss ? `${kind[loss.kind]} ${number(loss.value)}` : "" },
    { title: accuracy ? `${accuracy.kind === "test" ? "Test" : "Validation"} accuracy` : "Training accuracy",
      value: percent(accuracy ? accuracy.value : last(run, "steps", "accuracy")),
      more: accuracy ? `training ${percent(last(run, "steps", "accuracy"))}` : "" },
    { title: "Workers", value: count(workers?.workers?.length ?? resolved.workers),
      more: resolved.servers ? counted(resolved.servers, "server")
        : resolved.threads ? `${counted(resolved.threads, "thread")} each` : "" },
  ];
}

export function updateTiles(run, state) {
  const parent = byId("tiles"), tiles = tilesOf(run, state);
  while (parent.children.length < tiles.length)
    parent.append(element("div", { class: "tile" }, element("h3"), element("p", { class: "value" }),
                          element("p", { class: "soft" }), element("div", { class: "bar" }, element("div"))));
  tiles.forEach((tile, i) => {
    const [title, value, more, bar] = parent.children[i].children;
    setText(title, tile.title);
    setText(value, tile.value);
    setText(more, tile.more);
    bar.hidden = !isNumber(tile.share);
    if (isNumber(tile.share)) bar.firstChild.style.width = `${100 * Math.min(1, tile.share)}%`;
  });
}

// `state`: as stateOf() tells it.
export function updateHead(run, state) {
  const parent = byId("head"), { run: about, workers } = run.sections;
  const configuration = about?.configuration || {};
  if (parent.children.length === 0)
    parent.append(element("h2"), element("span", { class: "state" }), element("p", { class: "soft" }),
                  element("p", { class: "lateness", role: "status" }));
  const [name, badge, words, lateness] = parent.children;
  setText(name, run.name);
  setText(badge, state);
  badge.className = `state ${state.replace(" ", "-")}`;
  const strategy = configuration.strategy && configuration.strategy !== "auto" ? configuration.strategy : null;
  setText(words, [configuration.model, configuration.data, strategy, configuration.optimizer,
                  about?.resolved?.parameters ? `${count(about.resolved.parameters)} parameters` : null]
    .filter(Boolean).join(" · "));
  const late = (run.sections.state === "running" ? workers?.lateness : run.sections.summary?.lateness) || "";
  setText(lateness, late);
  lateness.hidden = late === "";
}
