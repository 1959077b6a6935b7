// A chart of lines over one axis: Chart.js with our colours, moving and zooming, and marks.

import { css } from "./colours.js";
import { clock, isNumber, number } from "./format.js";
import { view } from "./view.js";

const kMarkReach = 6;  // pixels from a mark to the pointer

function axisColours() {
  return { grid: { color: css("grid"), drawBorder: false }, ticks: { color: css("soft"), maxRotation: 0 } };
}

function pixelsOfMarks(chart) {
  const { x } = chart.scales, { left, right } = chart.chartArea;
  return (chart.marks || [])
    .map((mark) => ({ ...mark, pixel: x.getPixelForValue(mark.x) }))
    .filter((mark) => mark.pixel >= left - 1 && mark.pixel <= right + 1);
}

const drawMarks = {
  id: "marks",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea } = chart;
    ctx.save();
    for (const mark of pixelsOfMarks(chart)) {
      ctx.strokeStyle = ctx.fillStyle = css(mark.colour);
      if (mark.isSmall) {  // a tick at the bottom
        ctx.fillRect(mark.pixel - 1, chartArea.bottom - 6, 2, 6);
        continue;
      }
      ctx.setLineDash([4, 3]);
      ctx.beginPath();
      ctx.moveTo(mark.pixel, chartArea.top + 12);
      ctx.lineTo(mark.pixel, chartArea.bottom);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.font = "bold 12px system-ui, sans-serif";
      ctx.textAlign = "center";
      ctx.fillText(mark.sign, mark.pixel, chartArea.top + 9);
    }
    ctx.restore();
  },
};

const drawSelection = {
  id: "selection",
  afterDraw(chart) {
    if (!chart.selection) return;
    const { ctx, chartArea } = chart, [a, b] = chart.selection;
    ctx.save();
    ctx.globalAlpha = 0.18;
    ctx.fillStyle = css("accent");
    ctx.fillRect(Math.min(a, b), chartArea.top, Math.abs(b - a), chartArea.bottom - chartArea.top);
    ctx.restore();
  },
};

export function xText(value) {
  if (view.x === "time") return clock(value);
  return view.x === "epoch" ? number(value, 5) : String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ");
}

// The ends of the axis have ticks of their own, which would be written over their neighbours.
function dropCrowdedEnds(axis) {
  const { ticks } = axis;
  if (ticks.length < 4) return;
  const usual = ticks[2].value - ticks[1].value, count = ticks.length;
  if (ticks[count - 1].value - ticks[count - 2].value < 0.8 * usual) ticks.pop();
  if (ticks[1].value - ticks[0].value < 0.8 * usual) ticks.shift();
}

// `options`: format(value), isLog(), min, max.
export function makeChart(canvas, options) {
  const chart = new window.Chart(canvas, {
    type: "line",
    data: { datasets: [] },
    plugins: [drawMarks, drawSelection],
    options: {
      animation: false,
      parsing: false,
      normalized: true,
      maintainAspectRatio: false,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      elements: { point: { radius: 0, hitRadius: 4 }, line: { borderWidth: 1.75, borderJoinStyle: "round" } },
      scales: {
        x: { type: "linear", bounds: "data", ...axisColours() },
        y: { type: "linear", ...axisColours() },
      },
      plugins: {
        legend: { display: false, align: "end", labels: { boxWidth: 14, boxHeight: 2, padding: 8 } },
        decimation: { enabled: true, algorithm: "min-max", threshold: 1500 },
        tooltip: {
          filter: (item) => !item.dataset.isFaint,
          callbacks: {
            title: (items) => (items.length ? `${view.x} ${xText(items[0].parsed.x)}` : ""),
            label: (item) => ` ${item.dataset.label}: ${options.format(item.parsed.y)}`,
            footer: (items) =>
              items.length
                ? pixelsOfMarks(chart)
                    .filter((mark) => Math.abs(mark.pixel - items[0].element.x) <= kMarkReach)
                    .map((mark) => mark.text)
                    .slice(0, 5)
                : [],
          },
        },
      },
    },
  });
  chart.options.scales.x.afterBuildTicks = dropCrowdedEnds;
  chart.options.scales.x.ticks.callback = (value) => xText(value);
  chart.options.scales.y.ticks.callback = (value) => options.format(value);
  chart.ourOptions = options;
  chart.isSeen = true;
  observer.observe(canvas);
  return chart;
}

// Charts that are scrolled out of sight are drawn when they come back: moving through many points stays quick.
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const chart = window.Chart.getChart(entry.target);
    if (!chart) continue;
    chart.isSeen = entry.isIntersecting;
    if (chart.isSeen && chart.isStale) update(chart);
  }
}, { rootMargin: "100px" });

function update(chart) {
  chart.isStale = !chart.isSeen;
  if (chart.isSeen) chart.update("none");
}

// Draws the datasets with the colours, axis and range of now.
export function draw(chart, datasets, marks) {
  const { scales, plugins } = chart.options, options = chart.ourOptions;
  keepDatasets(chart, datasets);
  chart.marks = marks;
  for (const scale of [scales.x, scales.y]) {
    scale.grid.color = css("grid");
    scale.ticks.color = css("soft");
  }
  plugins.legend.display = Boolean(options.hasLegend && datasets.length > 1 && datasets.length <= 8);
  plugins.legend.labels.color = css("soft");
  plugins.tooltip.backgroundColor = css("tip");
  scales.y.type = options.isLog?.() ? "logarithmic" : "linear";
  scales.y.suggestedMin = options.min;
  scales.y.suggestedMax = options.max;
  applyRange(chart);
}

export function applyRange(chart) {
  const { x } = chart.options.scales;
  x.min = view.range?.min ?? 0;
  x.max = view.range?.max;
  update(chart);
}

// Chart.js thins out what it is given as `data`; the same object with more points stays.
function keepDatasets(chart, datasets) {
  const before = new Map(chart.data.datasets.map((set) => [set.key, set]));
  chart.data.datasets = datasets.map((set) => {
    const kept = before.get(set.key);
    if (!kept) return set;
    const { data, ...rest } = set;
    Object.assign(kept, rest);
    kept.data = data;
    return kept;
  });
}

// The range of x over all that the charts show.
export function wholeRange(charts) {
  const min = 0;
  let max = -Infinity;
  for (const chart of charts)
    for (const set of chart.data.datasets) {
      const points = set.points || [];
      if (points.length === 0) continue;
      max = Math.max(max, points[points.length - 1].x);
    }
  return isNumber(max) && max > min ? { min, max } : null;
}
