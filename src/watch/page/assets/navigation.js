// Moving through the curves: by pointer, wheel and keys. All curves show the same range.
//   drag: choose a range; Shift and drag, or a finger: move; Ctrl and wheel: zoom; double click: all
//   keys on a curve: left and right move, + and - zoom, 0 or Home shows all

import { wholeRange } from "./chart.js";
import { view } from "./view.js";

const kSmallestDrag = 8;  // pixels

export class Navigation {
  // onRange() after each change.
  constructor(onRange) {
    this.charts = [];
    this.onRange = onRange;
  }

  add(chart) {
    this.charts.push(chart);
    const canvas = chart.canvas;
    canvas.addEventListener("pointerdown", (event) => this.#down(chart, event));
    canvas.addEventListener("pointermove", (event) => this.#move(chart, event));
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, (event) => this.#up(chart, event));
    canvas.addEventListener("dblclick", () => this.all());
    canvas.addEventListener("wheel", (event) => this.#wheel(chart, event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  all() {
    this.#set(null);
  }

  // By shares of what is seen: shift 0.2 to the right; factor 0.5 shows half.
  move(shift) {
    const now = this.#now();
    if (!now) return;
    const by = shift * (now.max - now.min);
    this.#set({ min: now.min + by, max: now.max + by });
  }

  zoom(factor, around = 0.5) {
    const now = this.#now();
    if (!now) return;
    const width = now.max - now.min, centre = now.min + around * width;
    this.#set({ min: centre - around * width * factor, max: centre + (1 - around) * width * factor });
  }

  #now() {
    return view.range || wholeRange(this.charts);
  }

  // Within what there is; all of it is no range.
  #set(range) {
    const whole = wholeRange(this.charts);
    if (range && whole) {
      const width = Math.max(range.max - range.min, (whole.max - whole.min) / 1e5);
      if (width >= whole.max - whole.min) {
        range = null;
      } else {
        const min = Math.min(Math.max(range.min, whole.min), whole.max - width);
        range = { min, max: min + width };
      }
    }
    view.range = range;
    this.onRange();
  }

  #down(chart, event) {
    if (event.button !== 0) return;
    const pans = event.shiftKey || event.pointerType === "touch";
    if (pans && !view.range) return;
    chart.canvas.setPointerCapture(event.pointerId);
    this.drag = { chart, from: event.offsetX, pans, range: this.#now() };
  }

  #move(chart, event) {
    if (!this.drag || this.drag.chart !== chart || !this.drag.range) return;
    const { from, pans, range } = this.drag, { left, right } = chart.chartArea;
    if (pans) {
      const by = ((from - event.offsetX) / (right - left)) * (range.max - range.min);
      this.#set({ min: range.min + by, max: range.max + by });
    } else if (Math.abs(event.offsetX - from) >= kSmallestDrag || chart.selection) {
      const inside = (pixel) => Math.min(Math.max(pixel, left), right);
      chart.selection = [inside(from), inside(event.offsetX)];
      chart.draw();
    }
  }

  #up(chart, event) {
    const drag = this.drag, selection = chart.selection;
    this.drag = null;
    chart.selection = null;
    if (!drag || drag.pans || !selection || event.type === "pointercancel") return;
    const [a, b] = selection.map((pixel) => chart.scales.x.getValueForPixel(pixel)).sort((p, q) => p - q);
    if (b > a) this.#set({ min: a, max: b });
    else chart.draw();
  }

  #wheel(chart, event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, right } = chart.chartArea;
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max((event.offsetX - left) / (right - left), 0), 1));
  }

  #key(event) {
    const actions = {
      ArrowLeft: () => this.move(-0.2),
      ArrowRight: () => this.move(0.2),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      0: () => this.all(),
      Home: () => this.all(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }
}
