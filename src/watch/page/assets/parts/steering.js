// Pause, checkpoint and stop, where the server allows it (--watch-control).

import { byId, element, setText } from "./dom.js";

const kWords = {
  running: "", "only stop": "", pausing: "pausing at the next synchronisation point …", paused: "paused",
  "going on": "going on …", stopping: "writing a checkpoint and stopping …",
};

export class Steering {
  constructor() {
    const button = (id, text, wish) => element("button", { type: "button", id, text, onclick: () => this.#ask(wish) });
    this.pause = button("steer-pause", "Pause", "pause");
    this.go = button("steer-continue", "Go on", "continue");
    this.checkpoint = button("steer-checkpoint", "Checkpoint", "checkpoint");
    this.stop = button("steer-stop", "Stop …", "stop");
    this.words = element("span", { class: "soft", role: "status" });
    this.node = element("div", { class: "steering", hidden: true },
      element("div", { class: "group", role: "group", "aria-label": "Steer the run" },
        this.pause, this.go, this.checkpoint, this.stop), this.words);
    byId("head").after(this.node);
  }

  // `state`: as the server tells it; empty where the page may only look.
  show(state, isShownRun, isConnected) {
    this.node.hidden = !state || !isShownRun;
    if (!state) return;
    const isResting = state === "paused" || state === "pausing";
    this.pause.hidden = isResting;
    this.go.hidden = !isResting;
    for (const one of [this.pause, this.checkpoint]) one.disabled = !isConnected || state !== "running";
    this.go.disabled = !isConnected;
    this.stop.disabled = !isConnected || state === "stopping";
    setText(this.words, isConnected ? kWords[state] ?? state : "");
  }

  async #ask(wish) {
    if (wish === "stop" && !window.confirm("Write a checkpoint and stop the run? It can be resumed.")) return;
    try {
      const answer = await fetch(`/api/control?do=${wish}`, { method: "POST" });
      if (!answer.ok) setText(this.words, await answer.text());
    } catch {
      setText(this.words, "the run did not answer");
    }
  }
}
