// The time line of the newest steps over all ranks, from trace_now.json, drawn on a canvas of its own.
//   drag or left and right: move; Ctrl and wheel, + and -: zoom; double click or 0: all

import { card } from "./card.js";
import { colour, css, phases } from "./colours.js";
import { element } from "./dom.js";
import { duration } from "./format.js";
import { readTrace } from "./trace.js";

const kRow = 17, kHead = 20, kAxis = 20, kMostHeight = 620;

function hashOf(text) {
  let hash = 7;
  for (const c of text) hash = (31 * hash + c.charCodeAt(0)) | 0;
  return Math.abs(hash);
}

function colourOf(name) {
  const word = name.toLowerCase(), phase = phases.find((one) => word.startsWith(one.name));
  if (phase) return colour(phase.colour);
  if (/^(reduce|push|pull|send|receive|gather|wait|all)/.test(word)) return colour(1);
  if (/^step/.test(word)) return colour(7);
  return colour([5, 7, 4, 3][hashOf(word) % 4]);
}

export class Timeline {
  constructor(parent) {
    this.canvas = element("canvas", { tabindex: 0, role: "img", id: "timeline" });
    this.tip = element("div", { class: "tip", hidden: true });
    this.frame = element("div", { class: "timeline" }, this.canvas, this.tip);
    this.card = card(parent, "card-timeline", "The newest steps", this.frame);
    this.card.node.classList.add("wide");
    this.pauseButton = element("button", { type: "button", text: "hold", "aria-pressed": "false", class: "small",
                                           onclick: () => this.#hold(!this.isHeld) });
    this.card.node.firstChild.append(this.pauseButton);
    this.canvas.addEventListener("pointerdown", (event) => this.#down(event));
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    this.canvas.addEventListener("pointerup", () => { this.drag = null; });
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.canvas.addEventListener("dblclick", () => this.#see(null));
    this.canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("theme", () => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(this.frame);
  }

  update(run) {
    const { trace } = run.sections;
    this.card.show(Boolean(trace));
    if (!trace || trace === this.trace || (this.isHeld && run === this.run)) return;
    this.trace = trace;
    if (run !== this.run) this.seen = null;
    this.run = run;
    this.lanes = readTrace(trace);
    this.card.show(this.lanes.spans > 0);
    const steps = this.lanes.steps;
    this.card.note(steps.length ? `step ${steps[0]}${steps.length > 1 ? ` to ${steps[steps.length - 1]}` : ""}` : "");
    const seconds = (this.lanes.end - this.lanes.start) / 1e6;
    this.canvas.setAttribute("aria-label",
                             `Time line of ${this.lanes.processes.length} processes over ${duration(seconds)}`);
    this.#draw();
  }

  #hold(isHeld) {
    this.isHeld = isHeld;
    this.pauseButton.setAttribute("aria-pressed", String(isHeld));
  }

  #range() {
    return this.seen || { start: this.lanes.start, end: this.lanes.end };
  }

  #see(range) {
    if (range) this.#hold(true);
    this.seen = range && {
      start: Math.max(range.start, this.lanes.start), end: Math.min(range.end, this.lanes.end),
    };
    this.#draw();
  }

  #zoom(factor, around) {
    const { start, end } = this.#range(), width = (end - start) * factor;
    if (width < 1) return;
    if (width >= this.lanes.end - this.lanes.start) return this.#see(null);
    const from = start + around * (end - start) - around * width;
    this.#see({ start: from, end: from + width });
  }

  #shift(share) {
    if (!this.seen) return;
    const { start, end } = this.seen, width = end - start;
    const from = Math.min(Math.max(start + share * width, this.lanes.start), this.lanes.end - width);
    this.#see({ start: from, end: from + width });
  }

  #draw() {
    if (!this.lanes || this.frame.clientWidth === 0) return;
    const width = this.frame.clientWidth, scale = window.devicePixelRatio || 1;
    this.labels = Math.min(150, Math.max(70, 0.2 * width));
    const height = Math.min(kMostHeight, kAxis + this.lanes.processes.reduce(
      (sum, process) => sum + kHead + process.lanes.reduce((rows, lane) => rows + kRow * lane.depth, 0), 0));
    this.canvas.style.height = `${height}px`;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    const ctx = this.canvas.getContext("2d");
    ctx.scale(scale, scale);
    ctx.font = "12px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    this.boxes = [];
    const { start, end } = this.#range(), place = (time) =>
      this.labels + ((time - start) / (end - start)) * (width - this.labels);
    this.#drawAxis(ctx, start, end, place, height);
    let y = kAxis;
    this.places = new Map();
    for (const process of this.lanes.processes) {
      ctx.fillStyle = css("text");
      ctx.font = "bold 12px system-ui, sans-serif";
      ctx.fillText(process.name, 2, y + kHead / 2, width - 4);
      y += kHead;
      for (const lane of process.lanes) {
        ctx.font = "11.5px system-ui, sans-serif";
        ctx.fillStyle = css("soft");
        ctx.fillText(lane.name, 8, y + kRow / 2, this.labels - 14);
        this.places.set(lane.key, y);
        ctx.save();
        ctx.beginPath();
        ctx.rect(this.labels, y, width - this.labels, kRow * lane.depth);
        ctx.clip();
        for (const span of lane.spans) this.#drawSpan(ctx, span, place, y + kRow * span.depth, start, end);
        ctx.restore();
        y += kRow * lane.depth;
      }
    }
    this.#drawArrows(ctx, place, start, end);
  }

  #drawAxis(ctx, start, end, place, height) {
    const raw = (end - start) / 8, unit = 10 ** Math.floor(Math.log10(raw));
    const step = unit * ([1, 2, 5, 10].find((factor) => factor * unit >= raw) || 10);
    ctx.fillStyle = css("soft");
    ctx.strokeStyle = css("grid");
    for (let time = 0; time <= end - this.lanes.start; time += step) {
      if (this.lanes.start + time < start) continue;
      const x = place(this.lanes.start + time);
      ctx.beginPath();
      ctx.moveTo(x, kAxis - 4);
      ctx.lineTo(x, height);
      ctx.stroke();
      ctx.fillText(duration(time / 1e6), x + 3, kAxis / 2 - 1);
    }
  }

  #drawSpan(ctx, span, place, y, start, end) {
    if (span.start > end || span.end < start) return;
    const x = Math.max(place(span.start), this.labels), width = Math.max(place(span.end) - x, 0.7);
    ctx.fillStyle = colourOf(span.name);
    ctx.fillRect(x, y + 1, width, kRow - 2);
    this.boxes.push({ x, y, width, span });
    if (width < 34) return;
    ctx.fillStyle = css("on-bar");
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, y, width - 3, kRow);
    ctx.clip();
    ctx.fillText(span.name, x + 4, y + kRow / 2);
    ctx.restore();
  }

  #drawArrows(ctx, place, start, end) {
    if (this.lanes.arrows.length > 400) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(this.labels, kAxis, this.frame.clientWidth, this.canvas.clientHeight);
    ctx.clip();
    ctx.strokeStyle = css("text");
    ctx.globalAlpha = 0.45;
    for (const { from, to } of this.lanes.arrows) {
      const a = this.places.get(from.key), b = this.places.get(to.key);
      if (a === undefined || b === undefined || to.time < start || from.time > end) continue;
      ctx.beginPath();
      ctx.moveTo(place(from.time), a + kRow / 2);
      ctx.lineTo(place(to.time), b + kRow / 2);
      ctx.stroke();
    }
    ctx.restore();
  }

  #down(event) {
    this.drag = { from: event.offsetX, range: this.#range() };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (this.drag && this.seen) {
      const width = this.canvas.clientWidth - this.labels, { range, from } = this.drag;
      const by = ((from - event.offsetX) / width) * (range.end - range.start), length = range.end - range.start;
      const begin = Math.min(Math.max(range.start + by, this.lanes.start), this.lanes.end - length);
      this.#see({ start: begin, end: begin + length });
      return;
    }
    const box = (this.boxes || []).findLast((one) => event.offsetX >= one.x && event.offsetX <= one.x + one.width &&
                                                     event.offsetY >= one.y && event.offsetY < one.y + kRow);
    this.tip.hidden = !box;
    if (!box) return;
    this.tip.textContent = `${box.span.name}: ${duration((box.span.end - box.span.start) / 1e6)}${box.span.about}`;
    this.tip.style.left = `${Math.min(event.offsetX + 12, Math.max(0, this.frame.clientWidth - 260))}px`;
    this.tip.style.top = `${event.offsetY + 16}px`;
  }

  #wheel(event) {
    if (!this.lanes || (!event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    const share = (event.offsetX - this.labels) / (this.canvas.clientWidth - this.labels);
    this.#zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max(share, 0), 1));
  }

  #key(event) {
    const actions = { ArrowLeft: () => this.#shift(-0.2), ArrowRight: () => this.#shift(0.2),
                      "+": () => this.#zoom(0.5, 0.5), "=": () => this.#zoom(0.5, 0.5),
                      "-": () => this.#zoom(2, 0.5), 0: () => this.#see(null), Home: () => this.#see(null) };
    if (!this.lanes || event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }
}
