// Norms of weights, gradients and updates of each parameter (--watch-layers), and how their values are spread.

import { card } from "./card.js";
import { css } from "./colours.js";
import { element } from "./dom.js";
import { count, isNumber, number } from "./format.js";
import { columnOf, table } from "./store.js";

const kWidth = 110, kHeight = 22;

function canvasOf(title) {
  const scale = window.devicePixelRatio || 1;
  const canvas = element("canvas", { role: "img", "aria-label": title, width: kWidth * scale,
                                     height: kHeight * scale });
  canvas.style.width = `${kWidth}px`;
  canvas.style.height = `${kHeight}px`;
  const ctx = canvas.getContext("2d");
  ctx.scale(scale, scale);
  return { canvas, ctx };
}

// How a norm went over the run, on a logarithmic axis.
function curve(data, name, title) {
  const { canvas, ctx } = canvasOf(title), place = columnOf(data, name);
  const values = data.rows.map((row) => row[place]).filter((value) => isNumber(value) && value > 0).map(Math.log);
  const low = Math.min(...values), high = Math.max(...values);
  ctx.strokeStyle = css("accent");
  ctx.lineWidth = 1.4;
  ctx.beginPath();
  values.forEach((value, i) => {
    const x = 1 + ((kWidth - 2) * i) / Math.max(1, values.length - 1);
    const y = high > low ? kHeight - 2 - ((kHeight - 4) * (value - low)) / (high - low) : kHeight / 2;
    if (i === 0) ctx.moveTo(x, y);
    else ctx.lineTo(x, y);
  });
  ctx.stroke();
  return canvas;
}

function histogram(values, title) {
  if (!Array.isArray(values?.counts) || values.counts.length === 0)
    return element("span", { class: "soft", text: "–" });
  const words = `${title} from ${number(values.low, 3)} to ${number(values.high, 3)}`;
  const { canvas, ctx } = canvasOf(words), most = Math.max(...values.counts, 1), width = kWidth / values.counts.length;
  canvas.title = words;
  ctx.fillStyle = css("accent");
  values.counts.forEach((value, i) => {
    const height = (kHeight - 1) * Math.sqrt(value / most);
    ctx.fillRect(i * width, kHeight - height, Math.max(width - 0.5, 0.5), height);
  });
  return canvas;
}

export class Layers {
  constructor(parent) {
    this.body = element("tbody");
    const head = ["parameter", "elements", "‖weights‖", "‖gradients‖", "update / weights", "gradients over the run",
                  "weights", "gradients"];
    this.card = card(parent, "card-layers", "Layers",
      element("div", { class: "scroll" }, element("table", {},
        element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { text, scope: "col" })))),
        this.body)));
    this.card.node.classList.add("wide");
    document.addEventListener("theme", () => { this.shown = null; });
  }

  update(run) {
    const { layers } = run.sections, parameters = layers?.parameters;
    this.card.show(Array.isArray(parameters));
    if (!Array.isArray(parameters) || layers === this.shown) return;
    this.shown = layers;
    this.card.note(`step ${count(layers.step)}`);
    this.body.replaceChildren(...parameters.slice(0, 400).map((one) => {
      const ratio = one.weights > 0 ? one.updates / one.weights : null;
      return element("tr", {},
        element("th", { scope: "row", text: one.name }), element("td", { text: count(one.elements) }),
        element("td", { text: number(one.weights, 3) }), element("td", { text: number(one.gradients, 3) }),
        element("td", { text: number(ratio, 2), class: ratio > 0.1 || ratio < 1e-6 ? "odd" : "" }),
        element("td", {}, curve(table(run, `layer/${one.name}`), "gradients", `gradients of ${one.name}`)),
        element("td", {}, histogram(one.weight_histogram, "weights")),
        element("td", {}, histogram(one.gradient_histogram, "gradients")));
    }));
  }
}
