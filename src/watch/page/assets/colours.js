// Colours that people with colour-blindness can tell apart (Okabe and Ito), as in the plots of `trireme plot`; for dark
// pages lighter ones. Beyond eight runs the lines are dashed differently, too.

const kLight = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#888888"];
const kDark = ["#4ea8de", "#ff8c42", "#2dd4a7", "#e59ac6", "#f4b942", "#8fd3ff", "#f2f2f2", "#a3a3a3"];
const kDashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const kShapes = ["circle", "triangle", "rect", "rectRot", "star", "cross"];

export const isDark = () => document.documentElement.dataset.theme === "dark";

export function colour(index) {
  const palette = isDark() ? kDark : kLight;
  return palette[index % palette.length];
}

export function dash(index) {
  return kDashes[Math.floor(index / kLight.length) % kDashes.length];
}

export function shape(index) {
  return kShapes[index % kShapes.length];
}

export function faint(hex, share) {
  return hex + Math.round(255 * share).toString(16).padStart(2, "0");
}

// A colour of the style sheet.
export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const phases = [
  { name: "load", colour: 4 },
  { name: "forward", colour: 0 },
  { name: "backward", colour: 2 },
  { name: "network", colour: 1 },
  { name: "update", colour: 3 },
];
