// The curves of all chosen runs over each other: loss, accuracy, learning rate and speed.

import { applyRange, draw, makeChart } from "./chart.js";
import { colour, dash, faint, shape } from "./colours.js";
import { card } from "./card.js";
import { element } from "./dom.js";
import { number, percent, rate } from "./format.js";
import { marksOver } from "./marks.js";
import { Navigation } from "./navigation.js";
import { column, firstColumn, Series } from "./series.js";
import { columnOf, runNamed } from "./store.js";
import { indexOf, view } from "./view.js";

// Steps a second, over the rows of about a second: the times of single steps are too short for their milliseconds.
const speed = (data) => {
  const step = columnOf(data, "step"), time = columnOf(data, "time");
  return (row, rows, place) => {
    let first = place - 1;
    while (first > 0 && place - first < 100 && row[time] - rows[first][time] < 1) first -= 1;
    const seconds = first < 0 ? 0 : row[time] - rows[first][time];
    return seconds > 0.02 ? (row[step] - rows[first][step]) / seconds : null;
  };
};

const kCurves = [
  { id: "loss", title: "Loss", train: column("loss"), heldOut: firstColumn("validation_loss", "test_loss"),
    format: (value) => number(value), takesLog: true },
  { id: "accuracy", title: "Accuracy", train: column("accuracy"),
    heldOut: firstColumn("validation_accuracy", "test_accuracy"), format: (value) => percent(value, 1), max: 1 },
  { id: "lr", title: "Learning rate", train: column("lr"), format: (value) => number(value, 3), takesLog: true,
    isExact: true },
  { id: "speed", title: "Steps a second", train: speed, format: rate, min: 0 },
];

export class Curves {
  constructor(parent) {
    this.series = new Map();
    this.navigation = new Navigation(() => this.#range());
    this.charts = kCurves.map((curve) => {
      const canvas = element("canvas", { tabindex: 0, role: "img", "aria-label": curve.title,
                                         id: `curve-${curve.id}` });
      const part = card(parent, `card-${curve.id}`, curve.title, element("div", { class: "plot" }, canvas));
      const chart = makeChart(canvas, { ...curve, isLog: () => curve.takesLog && view.isLog });
      this.navigation.add(chart);
      return { curve, canvas, part, chart };
    });
    document.addEventListener("theme", () => this.update());
  }

  #seriesOf(run, curve, kind) {
    const key = `${run.name}\n${curve.id}\n${kind}`;
    let series = this.series.get(key);
    if (!series || series.run !== run) {
      series = new Series(run, kind === "train" ? "steps" : "epochs", curve[kind]);
      this.series.set(key, series);
    }
    return series;
  }

  #datasets(run, curve, isLog) {
    const index = indexOf(run.name), line = colour(index), sets = [];
    const common = { borderDash: dash(index), pointHoverRadius: 3 };
    const smooth = curve.isExact ? 0 : view.smooth;
    const train = this.#seriesOf(run, curve, "train");
    if (train.update(view.x, smooth, isLog)) {
      const label = curve.heldOut ? `${run.name}, training` : run.name;
      if (smooth > 0)
        sets.push({ ...common, order: 3, key: `${run.name} raw`, label, data: train.raw, points: train.raw,
                    isFaint: true, borderColor: faint(line, 0.22), borderWidth: 1 });
      sets.push({ ...common, order: 2, key: `${run.name} train`, label, data: train.smoothed, points: train.smoothed,
                  borderColor: line, backgroundColor: line });
    }
    if (!curve.heldOut) return sets;
    const heldOut = this.#seriesOf(run, curve, "heldOut");
    if (heldOut.update(view.x, 0, isLog))
      sets.push({ ...common, order: 1, key: `${run.name} held out`, label: `${run.name}, held-out`, data: heldOut.raw,
                  points: heldOut.raw, borderColor: line, backgroundColor: line, borderDash: [6, 4], borderWidth: 1.5,
                  pointStyle: shape(index), pointRadius: heldOut.raw.length <= 100 ? 3.5 : 0 });
    return sets;
  }

  update() {
    const runs = view.runs.map(runNamed);
    const marks = runs.length <= 3 ? runs.flatMap((run) => marksOver(run, view.x)) : [];
    for (const { curve, chart, canvas, part } of this.charts) {
      const datasets = runs.flatMap((run) => this.#datasets(run, curve, Boolean(curve.takesLog && view.isLog)));
      part.show(datasets.length > 0);
      const hasHeldOut = datasets.some((set) => set.key.endsWith("held out"));
      part.note(hasHeldOut ? "— training   ╌ ● held-out" : "");
      draw(chart, datasets, marks);
      canvas.setAttribute("aria-label", this.#words(curve, datasets));
    }
  }

  #words(curve, datasets) {
    const lines = datasets.filter((set) => !set.isFaint).map((set) =>
      `${set.label}: ${curve.format(set.points[set.points.length - 1].y)}`);
    return `${curve.title}. ${lines.join("; ")}. Keys: left and right move, plus and minus zoom, 0 shows all.`;
  }

  #range() {
    for (const { chart } of this.charts) applyRange(chart);
    document.dispatchEvent(new Event("range"));
  }
}
