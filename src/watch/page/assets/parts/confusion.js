// The confusion matrix: a row for each true class, and the pairs that are confused most.

import { card } from "./card.js";
import { css } from "./colours.js";
import { element } from "./dom.js";
import { percent } from "./format.js";

const kMostPairs = 5;

export class Confusion {
  constructor(parent) {
    this.canvas = element("canvas", { role: "img", id: "confusion" });
    this.tip = element("div", { class: "tip", hidden: true });
    this.pairs = element("ul", { class: "pairs" });
    this.frame = element("div", { class: "matrix" }, this.canvas, this.tip);
    this.card = card(parent, "card-confusion", "Confusion matrix", this.frame, this.pairs);
    this.canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    document.addEventListener("theme", () => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(this.frame);
  }

  update(run) {
    const { confusion } = run.sections;
    const isThere = Array.isArray(confusion?.counts) && confusion.counts.length > 0;
    this.card.show(isThere);
    if (!isThere || confusion === this.shown) return;
    this.shown = confusion;
    const set = confusion.is_validation ? "validation" : "test";
    this.card.note(`${set} set after epoch ${(confusion.epoch ?? 0) + 1} · rows: true class`);
    const pairs = [];
    confusion.counts.forEach((row, i) => {
      const sum = row.reduce((a, b) => a + b, 0);
      row.forEach((count, j) => { if (i !== j && count > 0) pairs.push({ i, j, count, share: count / sum }); });
    });
    pairs.sort((a, b) => b.count - a.count);
    const name = (i) => String(confusion.classes?.[i] ?? i);
    this.pairs.replaceChildren(...pairs.slice(0, kMostPairs).map((pair) =>
      element("li", { text: `${name(pair.i)} taken for ${name(pair.j)}: ${pair.count} (${percent(pair.share, 1)})` })));
    this.canvas.setAttribute("aria-label",
      `Confusion matrix of ${confusion.counts.length} classes. ${this.pairs.textContent}`);
    this.#draw();
  }

  #draw() {
    if (!this.shown || this.frame.clientWidth === 0) return;
    const { counts, classes } = this.shown, n = counts.length, scale = window.devicePixelRatio || 1;
    const width = this.frame.clientWidth;
    const label = n <= 30 ? Math.min(96, 0.25 * width) : 0;
    this.cell = Math.min(34, (width - label) / n);
    this.label = label;
    const height = this.cell * n + (label ? 66 : 0);
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    this.canvas.style.height = `${height}px`;
    const ctx = this.canvas.getContext("2d");
    ctx.scale(scale, scale);
    ctx.textBaseline = "middle";
    counts.forEach((row, i) => {
      const sum = row.reduce((a, b) => a + b, 0) || 1;
      row.forEach((count, j) => {
        const share = count / sum, x = label + j * this.cell, y = i * this.cell;
        ctx.globalAlpha = 1;
        ctx.fillStyle = css("grid");
        ctx.fillRect(x, y, this.cell - 1, this.cell - 1);
        ctx.globalAlpha = share > 0 ? 0.12 + 0.88 * Math.sqrt(share) : 0;
        ctx.fillStyle = css(i === j ? "accent" : "warn");
        ctx.fillRect(x, y, this.cell - 1, this.cell - 1);
        if (this.cell < 24 || count === 0) return;
        ctx.globalAlpha = 1;
        ctx.fillStyle = share > 0.4 ? css("accent-text") : css("text");
        ctx.font = "10.5px system-ui, sans-serif";
        ctx.textAlign = "center";
        const text = count > 9999 ? `${Math.round(count / 1000)}k` : count;
        ctx.fillText(text, x + this.cell / 2, y + this.cell / 2, this.cell - 2);
      });
    });
    ctx.globalAlpha = 1;
    if (!label) return;
    ctx.fillStyle = css("soft");
    ctx.font = "12px system-ui, sans-serif";
    counts.forEach((_, i) => {
      const name = String(classes?.[i] ?? i);
      ctx.textAlign = "right";
      ctx.fillText(name, label - 6, (i + 0.5) * this.cell, label - 8);
      ctx.save();
      ctx.translate(label + (i + 0.5) * this.cell, n * this.cell + 5);
      ctx.rotate(Math.PI / 4);
      ctx.textAlign = "left";
      ctx.fillText(name, 0, 0, 84);
      ctx.restore();
    });
  }

  #point(event) {
    const { counts, classes } = this.shown || { counts: [] };
    const i = Math.floor(event.offsetY / this.cell), j = Math.floor((event.offsetX - this.label) / this.cell);
    this.tip.hidden = !(counts[i]?.[j] >= 0);
    if (this.tip.hidden) return;
    const name = (k) => String(classes?.[k] ?? k), sum = counts[i].reduce((a, b) => a + b, 0) || 1;
    this.tip.textContent = `${name(i)} → ${name(j)}: ${counts[i][j]} (${percent(counts[i][j] / sum, 1)})`;
    this.tip.style.left = `${Math.min(event.offsetX + 12, this.frame.clientWidth - 180)}px`;
    this.tip.style.top = `${event.offsetY + 14}px`;
  }
}
