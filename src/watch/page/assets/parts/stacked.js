// The phases of a step stacked over the run, of one worker or of all.

import { card } from "./card.js";
import { colour, faint, phases } from "./colours.js";
import { draw, makeChart } from "./chart.js";
import { element } from "./dom.js";
import { duration, isNumber } from "./format.js";
import { placeOf } from "./series.js";
import { columnOf, table } from "./store.js";
import { view } from "./view.js";

const kMostPoints = 300;

// Means of groups of rows: [{x, parts: [...]}].
function thinned(run, name) {
  const data = table(run, name), { rows } = data;
  const place = placeOf(run, data, view.x), steps = columnOf(data, "steps");
  const places = phases.map((phase) => columnOf(data, phase.name));
  const size = Math.ceil(rows.length / kMostPoints), points = [];
  for (let first = 0; first < rows.length; first += size) {
    const group = rows.slice(first, first + size), sums = places.map(() => 0);
    let count = 0;
    for (const row of group) {
      const weight = steps < 0 ? 1 : row[steps];
      if (!isNumber(weight) || weight <= 0) continue;
      count += weight;
      places.forEach((column, i) => { sums[i] += (column >= 0 && row[column]) || 0; });
    }
    if (count > 0) points.push({ x: place(group[group.length - 1]), parts: sums.map((sum) => sum / count) });
  }
  return points;
}

export class StackedChart {
  constructor(parent, id, title) {
    this.choice = element("select", { "aria-label": "Whose time", onchange: () => this.#draw() });
    this.canvas = element("canvas", { role: "img", "aria-label": title });
    this.card = card(parent, id, title, element("div", { class: "plot" }, this.canvas));
    this.card.node.firstChild.append(this.choice);
    this.chart = makeChart(this.canvas, { format: duration, min: 0 });
    this.chart.options.scales.y.stacked = true;
    this.chart.options.plugins.decimation.enabled = false;
    this.chart.options.interaction = { mode: "index", axis: "x", intersect: false };
    document.addEventListener("theme", () => this.#draw());
    document.addEventListener("range", () => this.#draw());
  }

  update(run, names) {
    this.run = run;
    this.card.show(table(run, names[0]).rows.length > 1);
    const key = names.join();
    if (key !== this.key) {
      this.key = key;
      this.choice.replaceChildren(...names.slice(0, 512).map((name) =>
        element("option", { value: name, text: name === "steps" ? "all workers" : name.replace("/", " ") })));
      this.choice.hidden = names.length < 2;
    }
    this.#draw();
  }

  #draw() {
    if (!this.run || this.card.node.hidden) return;
    const points = thinned(this.run, this.choice.value || "steps");
    draw(this.chart, phases.map((phase, i) => ({
      key: phase.name, label: phase.name, fill: i === 0 ? "origin" : "-1", borderWidth: 0.5,
      borderColor: colour(phase.colour), backgroundColor: faint(colour(phase.colour), 0.75),
      data: points.map((point) => ({ x: point.x, y: point.parts[i] })),
    })), []);
  }
}
