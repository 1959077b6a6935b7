// What the browser knows of the runs: tables of numbers that grow, and sections that are replaced.

export const store = { list: [], runs: new Map(), versions: 0, steering: "", isConnected: true };

// {columns: ["step", ...], every, rows: [[...], ...]}; also found by column: values(table, "loss").
function applyTable(tables, name, news) {
  let table = tables.get(name);
  if (!table || news.columns) {
    table = { columns: news.columns || [], every: 1, rows: [], generation: 0 };
    tables.set(name, table);
  }
  if (news.first === 0 || news.first < table.rows.length) table.generation += 1;
  table.rows.length = Math.min(table.rows.length, news.first);
  for (const row of news.rows) table.rows.push(row);
  table.every = news.every;
}

export function runNamed(name) {
  let run = store.runs.get(name);
  if (!run) {
    run = { name, tables: new Map(), sections: {} };
    store.runs.set(name, run);
  }
  return run;
}

// What is known of a run now. A run that nobody tells about may have ended.
export function stateOf(run, isShownRun) {
  const { state } = run.sections;
  if (state !== "running") return state || "";
  if (!store.isConnected) return "not connected";
  return isShownRun && store.steering === "paused" ? "paused" : state;
}

export function apply(message) {
  store.versions += 1;
  if (message.list) store.list = message.list;
  if (message.steering !== undefined) store.steering = message.steering;
  const changed = new Set();
  for (const [name, news] of Object.entries(message.runs || {})) {
    const run = runNamed(name);
    for (const [table, change] of Object.entries(news.tables)) {
      applyTable(run.tables, table, change);
      changed.add(`table/${table}`);
    }
    for (const [section, value] of Object.entries(news.sections)) {
      run.sections[section] = value;
      changed.add(section);
    }
  }
  return changed;
}

// A new connection sends everything again.
export function forgetTables() {
  for (const run of store.runs.values()) run.tables.clear();
}

export function table(run, name) {
  return run.tables.get(name) || { columns: [], every: 1, rows: [], generation: 0 };
}

export function columnOf(data, name) {
  return data.columns.indexOf(name);
}

export function last(run, name, column) {
  const data = table(run, name), place = columnOf(data, column);
  return data.rows.length > 0 && place >= 0 ? data.rows[data.rows.length - 1][place] : null;
}

export function tablesBelow(run, prefix) {
  return [...run.tables.keys()].filter((name) => name.startsWith(prefix) && table(run, name).rows.length > 0);
}
