// Where the time of a step goes: bars for each worker, and how that changes.

import { card } from "./card.js";
import { colour, phases } from "./colours.js";
import { element, setText } from "./dom.js";
import { duration, isNumber, number } from "./format.js";
import { StackedChart } from "./stacked.js";
import { columnOf, table, tablesBelow } from "./store.js";

const kRows = 10;  // reports that the bars are a mean of
const kMostBars = 128;

// The sum of a column over the newest rows.
function recent(data, name, rows = kRows) {
  const place = columnOf(data, name);
  if (place < 0) return null;
  let sum = null;
  for (const row of data.rows.slice(-rows)) if (isNumber(row[place])) sum = (sum || 0) + row[place];
  return sum;
}

function barOf(name, about, data, perStep, blame) {
  return { name, about, blame, parts: phases.map((phase) => (recent(data, phase.name) || 0) / perStep),
           hidden: (recent(data, "hidden_network") || 0) / perStep };
}

// A bar per worker; where the run does not say what each did, one bar of means.
function barsOf(run) {
  const reports = run.sections.workers?.workers || [];
  const bars = [];
  for (const worker of reports.slice(0, kMostBars)) {
    const data = table(run, `worker/${worker.worker}`), steps = recent(data, "steps");
    if (!steps) continue;
    const oars = worker.oars ? `oars ${worker.oars[0]}–${worker.oars[1] - 1}` : "";
    const share = (recent(data, "caused_seconds") || 0) / (recent(data, "seconds") || 1);
    bars.push(barOf(`worker ${worker.worker}`, [worker.host, oars].filter(Boolean).join(" · "), data, steps,
                    share > 0.05 ? `others wait ${Math.round(100 * share)} %` : ""));
  }
  if (bars.length > 0) return bars;
  const steps = table(run, "steps");
  return steps.rows.length > 0 ? [barOf("mean", "of all workers", steps, Math.min(kRows, steps.rows.length), "")] : [];
}

export class Workers {
  constructor(parent) {
    this.legend = element("div", { class: "legend" }, ...phases.map((phase) =>
      element("span", {}, element("i", { "data-colour": phase.colour }), phase.name)));
    this.list = element("div", { class: "bars", role: "table", "aria-label": "Time of a step by worker" });
    this.card = card(parent, "card-workers", "Time of a step", this.legend, this.list);
    this.chart = new StackedChart(parent, "card-phases", "Time of a step, over the run");
    this.recolour();
    document.addEventListener("theme", () => this.recolour());
  }

  recolour() {
    for (const mark of document.querySelectorAll("[data-colour]"))
      mark.style.background = colour(Number(mark.dataset.colour));
  }

  update(run) {
    const bars = barsOf(run), longest = Math.max(...bars.map((bar) => bar.parts.reduce((a, b) => a + b, 0)), 1e-12);
    this.card.show(bars.length > 0);
    this.card.note(bars.length > 1 ? "the last ten seconds or so" : "");
    while (this.list.children.length > bars.length) this.list.lastChild.remove();
    while (this.list.children.length < bars.length) this.list.append(this.#row());
    bars.forEach((bar, i) => this.#fill(this.list.children[i], bar, longest));
    const names = tablesBelow(run, "worker/");
    this.chart.update(run, names.length > 0 ? names : ["steps"]);
  }

  #row() {
    const row = element("div", { class: "bar-row", role: "row" },
                        element("span", { class: "who", role: "rowheader" }), element("span", { class: "soft" }),
                        element("div", { class: "stack", role: "cell" }),
                        element("span", { class: "sum", role: "cell" }),
                        element("span", { class: "blame", role: "cell" }));
    row.children[2].append(...phases.map((phase) => element("div", { "data-colour": phase.colour,
                                                                     css: { background: colour(phase.colour) } })));
    return row;
  }

  #fill(row, bar, longest) {
    const [who, about, stack, sum, blame] = row.children;
    setText(who, bar.name);
    setText(about, bar.about);
    setText(sum, duration(bar.parts.reduce((a, b) => a + b, 0)));
    setText(blame, bar.blame);
    blame.hidden = bar.blame === "";
    phases.forEach((phase, i) => {
      const part = stack.children[i];
      part.style.width = `${(100 * bar.parts[i]) / longest}%`;
      part.title = `${phase.name} ${duration(bar.parts[i])}`;
    });
    const words = phases.map((phase, i) => `${phase.name} ${number(1000 * bar.parts[i], 3)} ms`).join(", ");
    stack.setAttribute("aria-label", words);
    stack.title = bar.hidden > 0 ? `${words}; network beside the computation ${duration(bar.hidden)}` : words;
  }
}
