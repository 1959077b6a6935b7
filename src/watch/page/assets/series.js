// Points of curves: made once and then only extended, so that a new step costs the same in a long run as in a short
// one.

import { columnOf, table } from "./store.js";
import { isNumber } from "./format.js";

// The function from a row to its place on the x axis.
export function placeOf(run, data, axis) {
  const step = columnOf(data, "step"), time = columnOf(data, "time");
  const perEpoch = run.sections.run?.resolved?.steps_per_epoch || 0;
  if (axis === "time" && time >= 0) return (row) => row[time];
  if (axis === "epoch" && perEpoch > 0) return (row) => row[step] / perEpoch;
  return (row) => row[step];
}

// A moving mean whose weight of the past is `smooth`, without a bias to the first values.
class Smoother {
  constructor(smooth) {
    this.smooth = smooth;
    this.sum = 0;
    this.weight = 0;
  }
  next(value) {
    this.sum = this.smooth * this.sum + (1 - this.smooth) * value;
    this.weight = this.smooth * this.weight + (1 - this.smooth);
    return this.sum / this.weight;
  }
}

// Points of `value(row)` over the rows of a table, as they are and smoothed. `isLog`: without what is not above 0.
export class Series {
  constructor(run, tableName, makeValue) {
    this.run = run;
    this.tableName = tableName;
    this.makeValue = makeValue;
    this.key = "";
  }

  // Brings the points up to date; true if there are any.
  update(axis, smooth, isLog) {
    const data = table(this.run, this.tableName);
    const perEpoch = this.run.sections.run?.resolved?.steps_per_epoch || 0;
    const key = [axis, smooth, isLog, data.generation, data.columns.length, perEpoch].join();
    if (key !== this.key || this.rows > data.rows.length || this.data !== data) {
      this.key = key;
      this.data = data;
      this.rows = 0;
      this.raw = [];
      this.smoothed = [];
      this.smoother = new Smoother(smooth);
    }
    const place = placeOf(this.run, data, axis), value = this.makeValue(data);
    for (; this.rows < data.rows.length; this.rows += 1) {
      const row = data.rows[this.rows], x = place(row), y = value(row, data.rows, this.rows);
      if (!isNumber(x) || !isNumber(y) || (isLog && y <= 0)) continue;
      this.raw.push({ x, y });
      this.smoothed.push({ x, y: this.smoother.next(y) });
    }
    return this.raw.length > 0;
  }
}

// The value of a column.
export const column = (name) => (data) => {
  const place = columnOf(data, name);
  return place < 0 ? () => null : (row) => row[place];
};

// The first of these columns that has a number.
export const firstColumn = (...names) => (data) => {
  const places = names.map((name) => columnOf(data, name)).filter((place) => place >= 0);
  return (row) => {
    for (const place of places) if (isNumber(row[place])) return row[place];
    return null;
  };
};
