"""How quickly the page answers with 3 runs of 10 000 points: prints the first paint, the first curves, panning, and a
live update. Environment: TRIREME_BINARY."""

import pathlib
import statistics
import tempfile
import time

import browser as page

PAN = """
const done = arguments[arguments.length - 1], times = [];
const canvas = document.getElementById('curve-loss');
const key = (name) => canvas.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
key('+'); key('+');
let left = 40;
const one = () => {
  const start = performance.now();
  key(left % 2 ? 'ArrowRight' : 'ArrowLeft');
  requestAnimationFrame(() => setTimeout(() => {
    times.push(performance.now() - start);
    if (--left > 0) setTimeout(one, 5); else done(times);
  }));
};
one();
"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def main():
    with tempfile.TemporaryDirectory(prefix="trireme-browser-") as name:
        runs = pathlib.Path(name) / "runs"
        for i in range(3):
            page.made_run(runs, f"run{i}", 10_000, speed=1 + i)
        with page.watching(runs) as address, page.browser() as driver:
            started = time.monotonic()
            driver.get(f"{address}#run=run0&run=run1&run=run2")
            paint = page.wait_for(driver, PAINT)
            page.wait_for(driver, "Chart.getChart('curve-loss')?.data.datasets.filter(s => s.points.length == 10000)"
                                  ".length == 6")
            curves = time.monotonic() - started
            times = sorted(driver.execute_async_script(PAN))
            print(f"first paint {paint:.0f} ms; all 30 000 points of 4 charts drawn {1000 * curves:.0f} ms after the "
                  "address was opened")
            print(f"panning, 40 times, from the key to the next frame: median {statistics.median(times):.0f} ms, "
                  f"slowest {times[-1]:.0f} ms")
            with open(runs / "run0" / "metrics.jsonl", "a", encoding="ascii") as out:
                out.write(page.step_line(10_001, 0.3))
            started = time.monotonic()
            page.wait_for(driver, "Chart.getChart('curve-loss').data.datasets.some(s => s.points.length == 10001)")
            print(f"a new step is drawn {1000 * (time.monotonic() - started):.0f} ms after it was written")


if __name__ == "__main__":
    main()
