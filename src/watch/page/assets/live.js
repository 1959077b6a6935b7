// The connection to the server: one stream of events, which is closed while nobody looks at the page.

import { apply, forgetTables } from "./store.js";

const kRetryMs = 3000;

export class Live {
  // onNews(changed) after each message; onState("live" | "waiting" | "full" | "paused" | "ended").
  constructor(onNews, onState) {
    this.onNews = onNews;
    this.onState = onState;
    this.source = null;
    this.address = "";
    document.addEventListener("visibilitychange", () => this.#visible());
    window.addEventListener("pagehide", () => this.close());
  }

  watch(runs, detail) {
    const query = new URLSearchParams();
    for (const run of runs) query.append("run", run);
    if (detail) query.set("detail", detail);
    const address = `/api/live?${query}`;
    if (address === this.address && this.source) return;
    this.address = address;
    this.#open();
  }

  close() {
    clearTimeout(this.retry);
    if (this.source) this.source.close();
    this.source = null;
  }

  #visible() {
    if (document.visibilityState === "visible") {
      if (!this.source && this.address) this.#open();
    } else {
      this.close();
      if (this.address) this.onState("paused");
    }
  }

  #open() {
    this.close();
    let isFirst = true;
    const source = new EventSource(this.address);
    this.source = source;
    source.onopen = () => {
      isFirst = true;
      this.onState("live");
    };
    source.onmessage = (event) => {
      if (isFirst) forgetTables();
      isFirst = false;
      const message = JSON.parse(event.data);
      if (message.ended) {
        this.address = "";
        this.close();
        return this.onState("ended");
      }
      this.onNews(apply(message));
    };
    source.onerror = () => {
      this.onState("waiting");
      if (source.readyState !== EventSource.CLOSED || source !== this.source) return;
      this.onState("full");  // refused: try again later
      this.retry = setTimeout(() => this.#open(), kRetryMs);
    };
  }
}
