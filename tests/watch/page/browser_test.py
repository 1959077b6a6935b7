"""The page in a real browser: what it shows, how it answers, and that it stays on this host.
Environment: TRIREME_BINARY; TRIREME_PICTURES, a folder for screenshots (none without)."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import browser as page

POINTS = "Chart.getChart('curve-{}')?.data.datasets.filter(s => !s.isFaint).map(s => s.points.length)"
RANGE = "(s => [s.min, s.max])(Chart.getChart('curve-loss').scales.x)"


def picture(driver, name):
    if folder := os.environ.get("TRIREME_PICTURES"):
        driver.save_screenshot(str(pathlib.Path(folder) / f"{name}.png"))


class PageTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="trireme-browser-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def open(self, runs, **size):
        """The page of a folder of runs in a new browser."""
        address = self.enterContext(page.watching(runs))
        driver = self.enterContext(page.browser(**size))
        driver.get(address)
        page.wait_for(driver, POINTS.format("loss"))
        self.driver, self.port = driver, page.port_of(address)
        return driver

    def finish(self):
        self.assertEqual(page.console_errors(self.driver), [])
        self.assertEqual(page.foreign_requests(self.driver, self.port), [])

    def test_several_runs_and_how_they_are_drawn(self):
        for i, name in enumerate(["slow", "medium", "fast"]):
            page.made_run(self.folder / "runs", name, 3000, speed=1 + i)
        driver = self.open(self.folder / "runs")
        boxes = driver.find_elements(By.CSS_SELECTOR, "#runs li input")
        self.assertEqual(len(boxes), 3)
        for i in range(3):
            box = driver.find_elements(By.CSS_SELECTOR, "#runs li input")[i]
            if not box.is_selected():
                box.click()
        page.wait_for(driver, f"{POINTS.format('loss')}?.length == 6", what="two lines for each of three runs")
        self.assertEqual(sorted(driver.execute_script("return " + POINTS.format("loss"))), [3, 3, 3, 3000, 3000, 3000])
        colours = driver.execute_script(
            "return Chart.getChart('curve-loss').data.datasets.filter(s => !s.isFaint).map(s => s.borderColor)")
        self.assertEqual(len(set(colours)), 3)
        # Smoothing: the drawn line is calmer.
        rough = "(p => p.slice(1).reduce((a, q, i) => a + Math.abs(q.y - p[i].y), 0))" \
                "(Chart.getChart('curve-loss').data.datasets.find(s => s.key.endsWith('train')).points)"
        before = driver.execute_script("return " + rough)
        slider = driver.find_element(By.ID, "smooth")
        slider.send_keys(Keys.END)
        page.wait_for(driver, f"{rough} < {before / 3}", what="a smoother line")
        slider.send_keys(Keys.HOME)
        page.wait_for(driver, "Chart.getChart('curve-loss').data.datasets.every(s => !s.isFaint)")
        # The logarithmic axis, of losses only.
        driver.find_element(By.ID, "log").click()
        page.wait_for(driver, "Chart.getChart('curve-loss').options.scales.y.type == 'logarithmic'")
        scale = "return Chart.getChart('curve-{}').options.scales.y.type"
        self.assertEqual(driver.execute_script(scale.format("accuracy")), "linear")
        # The x axis.
        for axis, most in (("epoch", 3), ("time", 30), ("step", 3000)):
            driver.find_element(By.CSS_SELECTOR, f"[data-axis={axis}]").click()
            page.wait_for(driver, f"Math.abs({RANGE}[1] - {most}) < {0.02 * most}", what=f"x by {axis}")
        # The address remembers it all.
        address = driver.current_url
        self.assertIn("log=yes", address)
        driver.get("about:blank")
        driver.get(address)
        page.wait_for(driver, f"{POINTS.format('loss')}?.length == 6")
        self.assertEqual(driver.execute_script(scale.format("loss")), "logarithmic")
        self.finish()

    def test_speed_of_steps_is_without_the_time_between_them(self):
        run = page.made_run(self.folder / "runs", "rested", 1000)
        with open(run / "metrics.jsonl", "a", encoding="ascii") as out:
            for step in range(1001, 1101):  # after 60 s without steps
                out.write(page.step_line(step, 0.4).replace(f"{1.8e9 + 0.01 * step}", f"{1.8e9 + 0.01 * step + 60}"))
        driver = self.open(self.folder / "runs")
        tile = driver.find_element(By.XPATH, "//*[@id='tiles']/div[h3='Samples a second']")
        self.assertIn("100 steps a second", tile.text)
        self.assertIn("6400", tile.text)
        self.finish()

    def test_moving_by_keys_and_pointer(self):
        page.made_run(self.folder / "runs", "one", 2000)
        driver = self.open(self.folder / "runs")
        whole = driver.execute_script("return " + RANGE)
        canvas = driver.find_element(By.ID, "curve-loss")
        driver.execute_script("arguments[0].focus()", canvas)
        canvas.send_keys("+")
        page.wait_for(driver, f"{RANGE}[1] - {RANGE}[0] < 1100", what="half of the steps")
        left = driver.execute_script("return " + RANGE)[0]
        canvas.send_keys(Keys.ARROW_RIGHT)
        page.wait_for(driver, f"{RANGE}[0] > {left}")
        self.assertEqual(driver.execute_script("return (s => [s.min, s.max])(Chart.getChart('curve-lr').scales.x)"),
                         driver.execute_script("return " + RANGE), "all curves show the same range")
        canvas.send_keys("0")
        page.wait_for(driver, f"{RANGE}[0] == {whole[0]} && {RANGE}[1] == {whole[1]}")
        ActionChains(driver).move_to_element(canvas).click_and_hold().move_by_offset(120, 0).release().perform()
        page.wait_for(driver, f"{RANGE}[1] - {RANGE}[0] < 1500", what="the chosen range")
        ActionChains(driver).double_click(canvas).perform()
        page.wait_for(driver, f"{RANGE}[1] == {whole[1]}")
        driver.find_element(By.ID, "zoom-in").click()
        page.wait_for(driver, f"{RANGE}[1] - {RANGE}[0] < 1100")
        self.finish()

    def test_everything_can_be_reached_by_keyboard_and_has_a_name(self):
        page.made_run(self.folder / "runs", "one", 1000)
        driver = self.open(self.folder / "runs")
        body = driver.find_element(By.TAG_NAME, "body")
        reached = set()
        for _ in range(60):
            body.send_keys(Keys.TAB)
            reached.add(driver.execute_script(
                "return (n => n.id || n.className || n.tagName)(document.activeElement)"))
            body = driver.switch_to.active_element
        for wanted in ("theme", "smooth", "log", "zoom-in", "curve-loss", "curve-accuracy", "run"):
            self.assertIn(wanted, reached)
        unnamed = driver.execute_script("""
          return [...document.querySelectorAll('button, input, canvas, select')].filter(n => n.offsetParent &&
            !(n.textContent || n.getAttribute('aria-label') || n.labels?.[0]?.textContent)).map(n => n.outerHTML)""")
        self.assertEqual(unnamed, [])
        self.finish()

    def test_light_dark_and_phone(self):
        page.made_run(self.folder / "runs", "one", 1000)
        driver = self.open(self.folder / "runs", width=390, height=844, dark=True, phone=True)
        theme = "document.documentElement.dataset.theme"
        self.assertEqual(driver.execute_script("return " + theme), "dark")
        wide = "document.documentElement.scrollWidth"
        self.assertLessEqual(driver.execute_script("return " + wide), 390, "nothing sticks out")
        driver.find_element(By.ID, "theme").click()
        self.assertEqual(driver.execute_script("return " + theme), "light")
        driver.refresh()
        page.wait_for(driver, POINTS.format("loss"))
        self.assertEqual(driver.execute_script("return " + theme), "light", "the choice stays")
        driver.find_element(By.ID, "runs-button").click()
        page.wait_for(driver, "document.querySelector('#runs .run').getBoundingClientRect().left >= 0")
        self.finish()

    def test_a_run_that_trains_is_shown_live(self):
        run = self.folder / "runs" / "live"
        training = self.train("live")
        driver = self.driver
        before = driver.execute_script("return " + POINTS.format("loss"))[0]
        page.wait_for(driver, f"{POINTS.format('loss')}[0] > {before + 20}", what="new points by themselves")
        self.assertEqual(driver.execute_script("return document.querySelector('#head .state').textContent"), "running")
        page.wait_for(driver, "document.querySelector('#card-workers .bar-row .sum').textContent.includes('s')")
        page.wait_for(driver, "!document.getElementById('card-cpu').hidden")
        self.finish()
        # Stopped as with Ctrl-C: the page shows the last step and says that it has ended.
        training.send_signal(signal.SIGINT)
        page.wait_for(driver, "document.getElementById('link').dataset.state == 'ended'")
        training.stdout.read()
        last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["step"]
        page.wait_for(driver, f"{POINTS.format('loss')}[0] == {last}", what="the last step")

    def train(self, name, *options):
        """A run with a page, which is opened in a browser."""
        command = [os.environ["TRIREME_BINARY"], "train", "--model", "lenet5", "--data", "synthetic", "--train-samples",
                   "3200", "--test-samples", "64", "--batch", "32", "--epochs", "10000", "--run",
                   str(self.folder / "runs" / name), "--watch", "--watch-port", "0", *options]
        training = self.enterContext(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                                      text=True))
        self.addCleanup(training.kill)
        address = page.address_in(training)
        self.driver, self.port = self.enterContext(page.browser()), page.port_of(address)
        self.driver.get(address)
        page.wait_for(self.driver, POINTS.format("loss"))
        return training

    def test_a_lost_worker(self):
        training = self.train("lost", "--workers", "3", "--strategy", "ps:mode=async")
        driver = self.driver
        page.wait_for(driver, "document.querySelectorAll('#card-workers .bar-row').length == 3")
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(training.pid)], capture_output=True, text=True,
                                  check=True).stdout.split()
        os.kill(int(children[-1]), signal.SIGKILL)
        page.wait_for(driver, "Chart.getChart('curve-loss').marks.some(m => m.sign == '✕')")
        self.assertIn("2 left", driver.find_element(By.ID, "card-events").text)
        page.wait_for(driver, "document.querySelectorAll('#card-workers .bar-row').length == 2")
        before = driver.execute_script("return " + POINTS.format("loss"))[0]
        page.wait_for(driver, f"{POINTS.format('loss')}[0] > {before}", what="the others go on")
        self.finish()
        training.terminate()

    def test_steering(self):
        training = self.train("steered", "--watch-control")
        driver = self.driver
        self.assertNotIn("token", driver.current_url, "the token does not stay in the address")
        driver.find_element(By.ID, "steer-pause").click()
        page.wait_for(driver, "document.querySelector('.steering .soft').textContent == 'paused'")
        badge = "document.querySelector('#head .state').textContent"
        page.wait_for(driver, f"{badge} == 'paused'")
        picture(driver, "resting")
        driver.find_element(By.ID, "steer-continue").click()
        before = driver.execute_script("return " + POINTS.format("loss"))[0]
        page.wait_for(driver, f"{POINTS.format('loss')}[0] > {before}", what="the run goes on")
        page.wait_for(driver, f"{badge} == 'running'")
        driver.find_element(By.ID, "steer-stop").click()
        driver.switch_to.alert.dismiss()
        self.assertIsNone(training.poll())
        driver.find_element(By.ID, "steer-stop").click()
        driver.switch_to.alert.accept()
        page.wait_for(driver, "document.getElementById('link').dataset.state == 'ended'")
        self.assertEqual(training.wait(60), 1)
        # Nobody answers any more.
        page.wait_for(driver, f"{badge} == 'not connected'")
        picture(driver, "ended")
        for button in driver.find_elements(By.CSS_SELECTOR, ".steering button"):
            self.assertFalse(button.is_enabled(), button.get_attribute("id"))
        self.assertNotIn("Time left", driver.find_element(By.ID, "tiles").text)

    def test_marks_and_what_others_have_not_recorded(self):
        run = page.made_run(self.folder / "runs", "marked", 1500)
        with open(run / "metrics.jsonl", "a", encoding="ascii") as out:
            out.write(json.dumps({"type": "lost", "time": 1.8e9 + 15, "step": 1500, "who": "worker 1 on node7",
                                  "workers_left": 1}) + "\n")
            out.write("{\"type\":\"something new\",\"step\":1500}\n{\"half a li")
        driver = self.open(self.folder / "runs")
        page.wait_for(driver, "Chart.getChart('curve-loss').marks.some(m => m.sign == '✕')")
        self.assertIn("worker 1 on node7 lost", driver.find_element(By.ID, "card-events").text)
        for absent in ("card-confusion", "card-layers", "card-timeline", "card-clocks", "card-cpu"):
            self.assertFalse(driver.find_element(By.ID, absent).is_displayed(), absent)
        # The run goes on: its half line becomes whole, and the file is replaced by a resume.
        with open(run / "metrics.jsonl", "a", encoding="ascii") as out:
            out.write("ne\n" + page.step_line(1501, 0.4))
        page.wait_for(driver, f"{POINTS.format('loss')}[0] == 1501")
        lines = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
        (run / "metrics.jsonl").write_text("".join(lines[:1000]))
        page.wait_for(driver, f"{POINTS.format('loss')}[0] == 1000", what="the steps that were taken back are gone")
        self.finish()

    def test_the_time_line_of_the_newest_step(self):
        run = page.made_run(self.folder / "runs", "traced", 100)
        events = [{"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"worker {rank}"}}
                  for rank in (0, 1)]
        events += [{"ph": "X", "name": name, "pid": rank, "tid": 1, "ts": 1000 + start, "dur": 400, "args": {"step": 7}}
                   for rank in (0, 1) for name, start in (("forward", 0), ("backward", 400))]
        events += [{"ph": "s", "id": 5, "pid": 0, "tid": 1, "ts": 1500},
                   {"ph": "f", "id": 5, "pid": 1, "tid": 1, "ts": 1600},
                   None, {"ph": "X"}, {"ph": "f", "id": "nothing"}]
        trace = {"traceEvents": events, "otherData": {"step": 7, "begin_us": 1000, "end_us": 1800}}
        (run / "trace_now.json").write_text(json.dumps(trace))
        driver = self.open(self.folder / "runs")
        card = driver.find_element(By.ID, "card-timeline")
        page.wait_for(driver, "!document.getElementById('card-timeline').hidden")
        self.assertIn("step 7", card.text)
        self.assertIn("2 processes over 800 µs", driver.find_element(By.ID, "timeline").get_attribute("aria-label"))
        canvas = driver.find_element(By.ID, "timeline")
        ActionChains(driver).move_to_element_with_offset(canvas, 0, 8 - canvas.size["height"] // 2 + 40).perform()
        page.wait_for(driver, "/forward|backward/.test(document.querySelector('.timeline .tip').textContent)")
        trace["otherData"]["step"] = 8
        (run / "trace_now.json").write_text(json.dumps(trace))
        page.wait_for(driver, "document.getElementById('card-timeline').textContent.includes('step 8')")
        driver.execute_script("arguments[0].focus()", canvas)
        canvas.send_keys("+")  # who zooms wants to look: the picture is held
        page.wait_for(driver, "document.querySelector('#card-timeline button').getAttribute('aria-pressed') == 'true'")
        self.finish()

    def test_names_that_are_markup_stay_text(self):
        name = "<img src=x onerror=alert(1)>"
        page.made_run(self.folder / "runs", name, 20, model="<b>bold</b>")
        driver = self.open(self.folder / "runs")
        self.assertEqual(driver.find_element(By.CSS_SELECTOR, "#head h2").text, name)
        self.assertEqual(driver.execute_script("return document.querySelectorAll('main img, main b').length"), 0)
        self.finish()


if __name__ == "__main__":
    unittest.main(verbosity=2)
