// Numbers as people read them.

export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

export function number(value, digits = 4) {
  if (!isNumber(value)) return "–";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toExponential(digits - 2);
  return String(Number(value.toPrecision(digits)));
}

export function percent(share, digits = 2) {
  return isNumber(share) ? `${(100 * share).toFixed(digits)} %` : "–";
}

export function count(value) {
  return isNumber(value) ? Math.round(value).toLocaleString("en").replaceAll(",", " ") : "–";
}

export function counted(value, what) {
  return `${count(value)} ${what}${value === 1 ? "" : "s"}`;
}

export function rate(value) {
  if (!isNumber(value)) return "–";
  if (value >= 1e5) return `${(value / 1000).toFixed(0)}k`;
  if (value >= 1e4) return `${(value / 1000).toFixed(1)}k`;
  return value >= 100 ? value.toFixed(0) : number(value, 3);
}

export function duration(seconds) {
  if (!isNumber(seconds)) return "–";
  if (seconds < 0.001) return `${(1e6 * seconds).toFixed(0)} µs`;
  if (seconds < 1) return `${number(1000 * seconds, 3)} ms`;
  if (seconds < 60) return `${number(seconds, 3)} s`;
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const rest = `${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

export function bytes(value) {
  if (!isNumber(value)) return "–";
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (Math.abs(value) < 1000 || unit === "TB") return `${number(value, 3)} ${unit}`;
    value /= 1000;
  }
  return "–";
}

export function date(unixSeconds) {
  if (!isNumber(unixSeconds)) return "–";
  const day = new Date(1000 * unixSeconds);
  return `${day.toLocaleDateString("sv")} ${day.toLocaleTimeString("sv").slice(0, 5)}`;
}
