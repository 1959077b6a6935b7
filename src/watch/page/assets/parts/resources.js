// What every host uses: processors, memory, network and disk, once a second.

import { card } from "./card.js";
import { draw, makeChart } from "./chart.js";
import { colour, css, dash, isDark } from "./colours.js";
import { element } from "./dom.js";
import { bytes, clock, isNumber, number, percent } from "./format.js";
import { columnOf, table, tablesBelow } from "./store.js";
import { view } from "./view.js";

// Values of a row by the names of its columns; `per` divides what was counted by the seconds since the row before.
const kCharts = [
  { id: "cpu", title: "Processors", unit: (v) => `${number(v, 3)} cores`,
    parts: [["cpu_user", "cpu_system"], ["cpu_iowait"]],
    labels: ["", " waiting for a disk"] },
  { id: "memory", title: "Memory", unit: bytes, parts: [["memory_used_bytes"]],
    process: [["resident_bytes"]], labels: [""] },
  { id: "network", title: "Network", unit: (v) => `${bytes(v)}/s`,
    parts: [["network_received_bytes"], ["network_sent_bytes"]],
    labels: [" in", " out"], isRate: true },
  { id: "disk", title: "Disk", unit: (v) => `${bytes(v)}/s`, parts: [["disk_read_bytes"], ["disk_written_bytes"]],
    labels: [" read", " written"], isRate: true },
  { id: "running", title: "Threads that run or wait", unit: (v) => number(v, 3), parts: [["running"]], labels: [""] },
  { id: "retransmits", title: "TCP segments sent again", unit: (v) => number(v, 3), parts: [["tcp_retransmits"]],
    labels: [""] },
];

// Lines about hosts; where there are none (older runs), those about processes.
function sources(run) {
  const names = tablesBelow(run, "resources/");
  const hosts = names.filter((name) => name.endsWith("/null"));
  return (hosts.length > 0 ? hosts : names).map((name) => {
    const [, host, rank] = name.match(/^resources\/(.*)\/([^/]*)$/);
    return { name, label: rank === "null" ? host : `${host}, rank ${rank}`, isHost: rank === "null" };
  });
}

function pointsOf(data, columns, isRate, origin) {
  const places = columns.map((name) => columnOf(data, name)).filter((place) => place >= 0);
  const time = columnOf(data, "time"), seconds = columnOf(data, "seconds");
  if (places.length === 0) return [];
  const points = [];
  let before = null;
  for (const row of data.rows) {
    const at = time >= 0 ? row[time] : row[seconds];
    let sum = null;
    for (const place of places) if (isNumber(row[place])) sum = (sum || 0) + row[place];
    const passed = before === null ? null : (at - before) / data.every;
    before = at;
    if (sum === null || (isRate && !(passed > 0.05))) continue;
    points.push({ x: at - (time >= 0 ? origin : 0), y: isRate ? sum / passed : sum });
  }
  return points;
}

export class Resources {
  constructor(parent) {
    this.cores = element("div", { class: "cores" });
    this.charts = kCharts.map((kind) => {
      const canvas = element("canvas", { role: "img", "aria-label": kind.title });
      const part = card(parent, `card-${kind.id}`, kind.title, element("div", { class: "plot low" }, canvas));
      const chart = makeChart(canvas, { format: kind.unit, min: 0, hasLegend: true });
      chart.options.scales.x.ticks.callback = (value) => clock(value);
      chart.options.plugins.tooltip.callbacks.title = (items) => (items.length ? clock(items[0].parsed.x) : "");
      return { kind, part, chart, canvas };
    });
    this.coreCard = card(parent, "card-cores", "Cores", this.cores);
    this.coreCard.note("busy: user, system and waiting for a disk");
  }

  update(run) {
    const from = sources(run);
    const key = [run.name, isDark(), ...from.map((one) => [one.name, table(run, one.name).generation,
                                                           table(run, one.name).rows.length])].join();
    if (key === this.key) return;
    this.key = key;
    const origin = Math.min(...from.map((source) => {
      const data = table(run, source.name), time = columnOf(data, "time");
      return time >= 0 ? data.rows[0][time] : Infinity;
    }));
    const range = view.range;
    view.range = null;  // these charts have a time of their own
    for (const { kind, part, chart, canvas } of this.charts) {
      const sets = [];
      from.forEach((source, index) => {
        const parts = source.isHost ? kind.parts : kind.process || kind.parts;
        parts.forEach((columns, i) => {
          const points = pointsOf(table(run, source.name), columns, kind.isRate, origin);
          if (points.length === 0 || (i > 0 && kind.id === "cpu" && points.every((point) => point.y < 0.02))) return;
          sets.push({ key: `${source.name} ${i}`, label: source.label + kind.labels[i], data: points, points,
                      borderColor: colour(index), backgroundColor: colour(index),
                      borderDash: i === 0 ? dash(index) : [5, 4] });
        });
      });
      const isQuiet = (kind.id === "retransmits" || kind.id === "disk") &&
        sets.every((set) => set.data.every((point) => point.y === 0));
      part.show(sets.length > 0 && !isQuiet);
      if (sets.length === 0 || isQuiet) continue;
      draw(chart, sets, []);
      canvas.setAttribute("aria-label", `${kind.title}. ${sets.slice(0, 8).map((set) =>
        `${set.label}: ${kind.unit(set.data[set.data.length - 1].y)}`).join("; ")}`);
    }
    view.range = range;
    this.#cores(run);
  }

  #cores(run) {
    const hosts = Object.entries(run.sections).filter(([name, value]) => name.startsWith("host/") && value?.core);
    this.coreCard.show(hosts.length > 0);
    this.cores.replaceChildren(...hosts.map(([name, line]) => this.#host(name.slice(5), line)));
  }

  #host(name, line) {
    const { core } = line, busy = (core.user || []).map((user, i) => ({
      number: core.number?.[i] ?? i, user, system: core.system?.[i] || 0, iowait: core.iowait?.[i] || 0,
    }));
    const facts = [isNumber(line.temperature_celsius) ? `${Math.round(line.temperature_celsius)} °C` : null,
                   isNumber(core.mhz?.[0]) ? `${Math.round(Math.max(...core.mhz))} MHz` : null,
                   isNumber(line.load) ? `load ${number(line.load, 3)}` : null].filter(Boolean).join(" · ");
    return element("div", { class: "host" },
      element("p", {}, element("strong", { text: name }), " ", element("span", { class: "soft", text: facts })),
      element("div", { class: "core-grid" }, ...busy.slice(0, 512).map((one) => {
        const share = Math.min(1, one.user + one.system);
        return element("div", { class: "core",
          title: `core ${one.number}: user ${percent(one.user, 0)}, system ${percent(one.system, 0)}, ` +
                 `waiting ${percent(one.iowait, 0)}` },
          element("i", { css: { height: `${100 * Math.min(1, one.user)}%`, background: css("accent") } }),
          element("i", { css: { height: `${100 * Math.max(0, share - one.user)}%`, background: css("warn") } }),
          element("b", { text: `${Math.round(100 * share)}` }));
      })));
  }
}
