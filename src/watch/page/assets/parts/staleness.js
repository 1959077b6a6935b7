// Asynchronous workers: how many pushes each has made, and how far it is ahead of the slowest.

import { card } from "./card.js";
import { css } from "./colours.js";
import { element } from "./dom.js";
import { count, isNumber } from "./format.js";

export class Staleness {
  constructor(parent) {
    this.list = element("div", { class: "bars" });
    this.spread = element("div", { class: "spread" });
    this.card = card(parent, "card-clocks", "Clocks and staleness", this.list, this.spread);
    this.card.note("pushes of each worker since the last synchronisation point");
  }

  update(run) {
    const pushes = run.sections.pushes, staleness = run.sections.epoch?.staleness || run.sections.summary?.staleness;
    const hasPushes = Array.isArray(pushes) && pushes.length > 0;
    this.card.show(hasPushes);
    if (!hasPushes || (pushes === this.pushes && staleness === this.staleness)) return;
    this.pushes = pushes;
    this.staleness = staleness;
    const newest = Math.max(...pushes.map((one) => one.step));
    const perEpoch = run.sections.run?.resolved?.steps_per_epoch || Infinity;
    const isGone = (one) => one.step < newest - perEpoch;  // lost, or not of this phase
    const clocks = pushes.filter((one) => !isGone(one)).map((one) => one.clock);
    const most = Math.max(...clocks, 0) + 1, least = Math.min(...clocks);
    this.list.replaceChildren(...pushes.slice(0, 128).map((one) =>
      element("div", { class: "bar-row" }, element("span", { class: "who", text: one.who }),
        element("span", { class: "soft", text: `${isGone(one) ? "no push since step" : "step"} ${count(one.step)}` }),
        element("div", { class: "stack" }, element("div", {
          css: { width: isGone(one) ? "0" : `${(100 * (one.clock + 1)) / most}%`, background: css("accent") } })),
        element("span", { class: "sum", text: count(one.clock + 1) }),
        element("span", { class: "blame",
                          text: !isGone(one) && one.clock > least ? `${one.clock - least} ahead` : "" }))));
    this.#spread(staleness);
  }

  // How many pushes had how many others between their pull and themselves.
  #spread(staleness) {
    const entries = Object.entries(staleness || {}).map(([behind, pushes]) => [Number(behind), pushes])
      .filter(([, pushes]) => isNumber(pushes)).sort((a, b) => a[0] - b[0]).slice(0, 24);
    this.spread.hidden = entries.length === 0;
    const most = Math.max(...entries.map(([, pushes]) => pushes), 1);
    this.spread.replaceChildren(element("p", { class: "soft", text: "others' pushes between a pull and its push" }),
      element("div", { class: "columns" }, ...entries.map(([behind, pushes]) =>
        element("div", { title: `${count(pushes)} pushes` },
          element("i", { css: { height: `${64 * (pushes / most)}px`, background: css("accent") } }),
          element("span", { text: String(behind) })))));
  }
}
