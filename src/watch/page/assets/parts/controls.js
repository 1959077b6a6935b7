// The bar above the curves: the x axis, smoothing, the logarithmic axis, and the range that is seen.

import { element } from "./dom.js";
import { kAxes, view } from "./view.js";

export function makeControls(parent, navigation, onChange) {
  const axes = kAxes.map((axis) => {
    const button = element("button", {
      type: "button", text: axis, "data-axis": axis, "aria-pressed": String(view.x === axis),
      onclick: () => {
        view.x = axis;
        view.range = null;
        for (const other of axes) other.setAttribute("aria-pressed", String(other === button));
        onChange();
      },
    });
    return button;
  });
  const shown = element("output", { for: "smooth", text: view.smooth.toFixed(2) });
  const smooth = element("input", {
    type: "range", id: "smooth", min: 0, max: 0.99, step: 0.01, value: view.smooth,
    oninput: () => {
      view.smooth = Number(smooth.value);
      shown.textContent = view.smooth.toFixed(2);
      onChange();
    },
  });
  const log = element("input", {
    type: "checkbox", id: "log",
    onchange: () => {
      view.isLog = log.checked;
      onChange();
    },
  });
  log.checked = view.isLog;
  const button = (id, text, title, onclick) =>
    element("button", { type: "button", id, text, title, "aria-label": title, onclick });
  parent.append(
    element("div", { class: "group", role: "group", "aria-label": "x axis" }, ...axes),
    element("label", { class: "slider" }, element("span", { text: "smoothing" }), smooth, shown),
    element("label", { class: "check" }, log, element("span", { text: "log axis" })),
    element("div", { class: "group", role: "group", "aria-label": "range" },
            button("move-left", "◀", "Move left", () => navigation.move(-0.2)),
            button("zoom-out", "−", "Show more", () => navigation.zoom(2)),
            button("zoom-in", "+", "Show less", () => navigation.zoom(0.5)),
            button("move-right", "▶", "Move right", () => navigation.move(0.2)),
            button("show-all", "all", "Show all", () => navigation.all())));
}
