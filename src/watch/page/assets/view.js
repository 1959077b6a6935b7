// How the page is set: which runs, and how curves are drawn. Kept in the address, so that a link shows the same.

export const kAxes = ["step", "epoch", "time"];

export const view = { runs: [], detail: "", x: "step", smooth: 0.6, isLog: false, range: null, isOwnChoice: false };

export function readAddress() {
  const query = new URLSearchParams(location.hash.slice(1));
  view.runs = query.getAll("run");
  view.detail = query.get("detail") || view.runs[0] || "";
  view.isOwnChoice = view.runs.length > 0;
  if (kAxes.includes(query.get("x"))) view.x = query.get("x");
  const smooth = Number.parseFloat(query.get("smooth"));
  if (smooth >= 0 && smooth < 1) view.smooth = smooth;
  view.isLog = query.get("log") === "yes";
}

export function writeAddress() {
  const query = new URLSearchParams();
  if (view.isOwnChoice) for (const run of view.runs) query.append("run", run);
  if (view.isOwnChoice && view.detail !== view.runs[0]) query.set("detail", view.detail);
  if (view.x !== "step") query.set("x", view.x);
  if (view.smooth !== 0.6) query.set("smooth", String(view.smooth));
  if (view.isLog) query.set("log", "yes");
  history.replaceState(null, "", `#${query}`);
}

export const kMostRuns = 16;

export function toggleRun(name) {
  const chosen = view.runs.includes(name);
  if (chosen && view.runs.length > 1) view.runs = view.runs.filter((run) => run !== name);
  if (!chosen && view.runs.length < kMostRuns) view.runs = [...view.runs, name];
  if (!view.runs.includes(view.detail)) view.detail = view.runs[0];
  view.isOwnChoice = true;
}

export function showRun(name) {
  if (!view.runs.includes(name)) view.runs = view.runs.length > 1 ? [...view.runs, name].slice(-kMostRuns) : [name];
  view.detail = name;
  view.isOwnChoice = true;
}

// The place of a run among the chosen ones decides its colour.
export const indexOf = (name) => Math.max(0, view.runs.indexOf(name));
