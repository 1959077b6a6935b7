// The list of runs to choose from, newest first.

import { colour } from "./colours.js";
import { byId, element, setText } from "./dom.js";
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
    this.known = new Map();
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
    const shown = found.slice(0, kMostShown), names = new Set(shown.map((run) => run.name));
    for (const [name, item] of this.known) if (!names.has(name)) {
      item.remove();
      this.known.delete(name);
    }
    shown.forEach((run, place) => {
      const item = this.known.get(run.name) || this.#make(run.name);
      if (this.items.children[place] !== item) this.items.insertBefore(item, this.items.children[place] || null);
      this.#fill(item, run);
    });
    this.more.textContent = found.length > kMostShown ? `and ${found.length - kMostShown} more` : "";
  }

  // Items stay the same nodes while their texts change: a click must not meet another node than it began on.
  #make(name) {
    const box = element("input", {
      type: "checkbox", "aria-label": `Draw ${name}`,
      onchange: () => {
        toggleRun(name);
        this.onChange();
      },
    });
    const button = element("button", {
      type: "button", class: "run", title: name,
      onclick: () => {
        showRun(name);
        this.open(false);
        this.onChange();
      },
    },
    element("span", { class: "name", text: name }), element("span", { class: "result" }),
    element("span", { class: "about" }), element("span", { class: "state" }));
    const item = element("li", {}, box, button);
    this.known.set(name, item);
    return item;
  }

  #fill(item, run) {
    const [box, button] = item.children, isShown = view.runs.includes(run.name);
    box.checked = isShown;
    box.style.accentColor = isShown ? colour(indexOf(run.name)) : "";
    if (run.name === view.detail) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    const [, outcome, about, state] = button.children;
    setText(outcome, result(run));
    setText(about, [run.model, run.data, date(run.started)].filter(Boolean).join(" · "));
    setText(state, progress(run));
    state.className = `state ${run.state}`;
  }
}
