// What happened, the run's configuration, its processes and its starts.

import { card } from "./card.js";
import { element } from "./dom.js";
import { clock, count, number } from "./format.js";
import { marksOf } from "./marks.js";

// Checkpoints one after the other as one line, or they would hide what is rare.
function joined(marks) {
  const lines = [];
  for (const mark of marks) {
    const before = lines[lines.length - 1];
    if (before && before.type === "checkpoint" && mark.type === "checkpoint") before.more += 1;
    else lines.push({ ...mark, more: 0 });
  }
  return lines;
}

function rows(pairs) {
  return element("div", { class: "scroll" }, element("table", { class: "facts" }, element("tbody", {},
    ...pairs.filter(([, value]) => value !== undefined && value !== null && value !== "").map(([name, value]) =>
      element("tr", {}, element("th", { scope: "row", text: name }), element("td", { text: String(value) }))))));
}

function text(value) {
  if (typeof value === "number") return number(value, 6);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export class Details {
  constructor(parent) {
    this.events = element("ol", { class: "events" });
    this.eventCard = card(parent, "card-events", "What happened", this.events);
    this.body = element("div", {});
    this.card = card(parent, "card-details", "The run", this.body);
    this.card.node.classList.add("wide");
  }

  update(run) {
    const { marks, run: about, summary } = run.sections;
    if (marks !== this.marks || run !== this.run) this.#events(run);
    if (about !== this.about || summary !== this.summary || run !== this.run) this.#facts(about, summary);
    Object.assign(this, { marks, about, summary, run });
  }

  #events(run) {
    const marks = joined(marksOf(run).reverse());
    this.eventCard.show(marks.length > 0);
    this.events.replaceChildren(...marks.slice(0, 60).map((mark) =>
      element("li", { class: mark.colour }, element("b", { text: mark.sign, "aria-hidden": true }),
        element("span", { text: mark.more ? `${mark.text}, after ${mark.more} others` : mark.text }),
        element("span", { class: "soft", text: `step ${count(mark.step)} · ${clock(mark.elapsed || 0)}` }))));
  }

  #facts(about, summary) {
    this.card.show(Boolean(about));
    if (!about) return;
    const part = (title, isOpen, content) =>
      element("details", { open: isOpen }, element("summary", { text: title }), content);
    const isOpen = (title) => [...this.body.children].some((one) => one.open && one.firstChild.textContent === title);
    const simple = (object) => Object.entries(object || {}).map(([name, value]) => [name, text(value)]);
    const parts = [
      ["Configuration", rows(simple(about.configuration))],
      ["What it resolved to", rows(simple(about.resolved))],
      ["Processes", rows((about.processes || []).map((one) => [one.name, `${one.host} · ${one.threads} threads`]))],
      ["Starts", rows((about.starts || []).map((one) =>
        [one.date, `step ${one.step} on ${one.host}: ${one.command}`]))],
      ["Host and libraries", rows([...simple(about.host), ...simple(about.libraries), ["isa", about.isa],
                                   ["trireme", text(about.trireme ?? "")]])],
    ];
    if (summary) parts.unshift(["Summary", rows(simple(summary))]);
    this.body.replaceChildren(...parts.map(([title, content]) => part(title, isOpen(title), content)));
  }
}
