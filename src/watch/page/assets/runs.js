// The list of runs to choose from, newest first.

import { colour } from "./colours.js";
import { byId, element } from "./dom.js";
import { date, isNumber, number, percent } from "./format.js";
import { store } from "./store.js";
import { indexOf, showRun, toggleRun, view } from "./view.js";

const kMostShown = 300;

function result(run) {
  const accuracy = run.validation_accuracy ?? run.test_accuracy ?? run.accuracy;
  if (isNumber(accuracy)) return percent(accuracy, 1);
  const loss = run.validation_loss ?? run.test_loss ?? run.loss;
  return isNumber(loss) ? number(loss, 3) : "";
}

function progress(run) {
  if (run.state !== "running" || !run.total_steps) return run.state;
  return `${Math.floor((100 * (run.step || 0)) / run.total_steps)} %`;
}

export class Runs {
  constructor(onChange) {
    this.onChange = onChange;
    this.node = byId("runs");
    this.filter = element("input", { type: "search", placeholder: "find runs", "aria-label": "Find runs",
                                     oninput: () => this.update() });
    this.items = element("ul", {});
    this.more = element("p", { class: "soft" });
    this.node.append(this.filter, this.items, this.more);
    byId("runs-button").addEventListener("click", () => this.open(!document.body.classList.contains("runs-open")));
    document.addEventListener("theme", () => this.update());
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.open(false);
    });
  }

  open(isOpen) {
    document.body.classList.toggle("runs-open", isOpen);
    byId("runs-button").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.filter.focus();
  }

  static newestFirst() {
    return [...store.list].sort((a, b) => (b.started || 0) - (a.started || 0) || (a.name < b.name ? 1 : -1));
  }

  update() {
    const words = this.filter.value.toLowerCase().split(/\s+/);
    const text = (run) => `${run.name} ${run.model} ${run.data} ${run.strategy} ${run.state}`.toLowerCase();
    const found = Runs.newestFirst().filter((run) => words.every((word) => text(run).includes(word)));
    const focused = document.activeElement?.dataset?.focusKey;
    this.items.replaceChildren(...found.slice(0, kMostShown).map((run) => this.#item(run)));
    if (focused) this.items.querySelector(`[data-focus-key="${CSS.escape(focused)}"]`)?.focus();
    this.more.textContent = found.length > kMostShown ? `and ${found.length - kMostShown} more` : "";
  }

  #item(run) {
    const isShown = view.runs.includes(run.name);
    const box = element("input", {
      type: "checkbox", "aria-label": `Draw ${run.name}`, "data-focus-key": `box ${run.name}`,
      css: { "accent-color": isShown ? colour(indexOf(run.name)) : "" },
      onchange: () => {
        toggleRun(run.name);
        this.onChange();
      },
    });
    box.checked = isShown;
    const button = element("button", {
      type: "button", class: "run", "aria-current": run.name === view.detail ? "true" : null,
      "data-focus-key": `run ${run.name}`, title: run.name,
      onclick: () => {
        showRun(run.name);
        this.open(false);
        this.onChange();
      },
    },
    element("span", { class: "name", text: run.name }),
    element("span", { class: "result", text: result(run) }),
    element("span", { class: "about", text: [run.model, run.data, date(run.started)].filter(Boolean).join(" · ") }),
    element("span", { class: `state ${run.state}`, text: progress(run) }));
    return element("li", {}, box, button);
  }
}
