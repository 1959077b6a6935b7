// Reads a Chrome trace: spans in lanes of threads of processes, those within others one row lower.

const kMostSpans = 20000;

function about(args) {
  if (!args || typeof args !== "object") return "";
  const words = Object.entries(args).filter(([, value]) => typeof value !== "object").slice(0, 6)
    .map(([name, value]) => `${name} ${value}`);
  return words.length ? ` (${words.join(", ")})` : "";
}

// Rows for spans that lie within each other.
function stack(spans) {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const ends = [];
  for (const span of spans) {
    while (ends.length > 0 && ends[ends.length - 1] <= span.start + 1e-3) ends.pop();
    span.depth = Math.min(ends.length, 5);
    ends.push(span.end);
  }
  return spans.reduce((most, span) => Math.max(most, span.depth + 1), 1);
}

export function readTrace(trace) {
  const events = Array.isArray(trace) ? trace : trace?.traceEvents || [];
  const processes = new Map(), arrows = [], starts = new Map(), steps = new Set();
  const result = { processes: [], arrows, start: Infinity, end: -Infinity, spans: 0, steps: [] };
  const process = (pid) => {
    if (!processes.has(pid)) processes.set(pid, { pid, name: `process ${pid}`, order: pid, lanes: new Map() });
    return processes.get(pid);
  };
  const lane = (pid, tid) => {
    const { lanes } = process(pid);
    if (!lanes.has(tid)) lanes.set(tid, { key: `${pid}/${tid}`, tid, name: `thread ${tid}`, order: 1e6, spans: [] });
    return lanes.get(tid);
  };
  for (const event of events) {
    if (!event || typeof event !== "object") continue;
    if (event.ph === "M") {
      if (event.name === "process_name") process(event.pid).name = String(event.args?.name ?? event.pid);
      if (event.name === "process_sort_index") process(event.pid).order = event.args?.sort_index ?? 0;
      if (event.name === "thread_name") lane(event.pid, event.tid).name = String(event.args?.name ?? event.tid);
      if (event.name === "thread_sort_index") lane(event.pid, event.tid).order = event.args?.sort_index ?? 0;
    } else if (event.ph === "X" && result.spans < kMostSpans && Number.isFinite(event.ts)) {
      const end = event.ts + (event.dur || 0);
      const name = event.name === "step" && event.args?.step ? `step ${event.args.step}` : String(event.name);
      lane(event.pid, event.tid).spans.push({ name, start: event.ts, end,
                                              about: about(event.args) });
      result.start = Math.min(result.start, event.ts);
      result.end = Math.max(result.end, end);
      result.spans += 1;
      const step = event.args?.step;
      if (Number.isFinite(step)) steps.add(step);
    } else if (event.ph === "s") {
      starts.set(event.id, { key: `${event.pid}/${event.tid}`, time: event.ts });
    } else if (event.ph === "f" && starts.has(event.id)) {
      arrows.push({ from: starts.get(event.id), to: { key: `${event.pid}/${event.tid}`, time: event.ts } });
    }
  }
  for (const one of processes.values()) {
    const lanes = [...one.lanes.values()].filter((each) => each.spans.length > 0)
      .sort((a, b) => a.order - b.order || a.tid - b.tid);
    for (const each of lanes) each.depth = stack(each.spans);
    if (lanes.length > 0) result.processes.push({ name: one.name, order: one.order, lanes });
  }
  result.processes.sort((a, b) => a.order - b.order);
  const { step: newest } = trace.otherData || {};
  result.steps = Number.isFinite(newest) ? [newest] : [...steps].sort((a, b) => a - b);
  const { begin_us: begin, end_us: end } = trace.otherData || {};
  if (Number.isFinite(begin) && end > begin && result.spans > 0) Object.assign(result, { start: begin, end });
  if (!(result.end > result.start)) result.end = result.start + 1;
  return result;
}
