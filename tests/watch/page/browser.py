"""A real browser (Debian's Chromium, headless) on the real page, and runs to show: what browser_test.py and
browser_benchmark.py share."""

import contextlib
import json
import math
import os
import pathlib
import re
import select
import subprocess
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


@contextlib.contextmanager
def browser(width=1400, height=1000, dark=False, phone=False):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en",
                     "--no-first-run", "--disable-component-update", "--disable-background-networking"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        driver.set_page_load_timeout(120)
        driver.set_script_timeout(120)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        if phone:
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": height, "deviceScaleFactor": 2, "mobile": True})
            driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        yield driver
    finally:
        driver.quit()


def wait_for(driver, script, seconds=60, what=""):
    """Until the JavaScript expression is true; returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = driver.execute_script(f"return {script}")
        if value:
            return value
        assert time.monotonic() < end, f"never: {what or script}"
        time.sleep(0.1)


def console_errors(driver):
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def foreign_requests(driver, port):
    """Addresses of other hosts that the page asked for, from the browser's own log of its network."""
    addresses = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            addresses.append(message["params"]["request"]["url"])
    own = re.compile(rf"(http://(127\.0\.0\.1|localhost):{port}/|data:|about:|chrome:)")
    assert addresses, "the browser has logged no request"
    return [address for address in addresses if not own.match(address)]


@contextlib.contextmanager
def watching(folder, *options):
    """`trireme watch`: gives its address."""
    command = [os.environ["TRIREME_BINARY"], "watch", str(folder), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield address_in(server)
        finally:
            server.terminate()


def address_in(process, seconds=120):
    """The first address that a process prints."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([process.stdout], [], [], 1)[0]:
            continue
        line = process.stdout.readline()
        if match := re.search(r"http://\S+", line):
            return match.group(0)
        assert line, "the program ended without naming an address"
    raise AssertionError("the program names no address")


def port_of(address):
    return int(re.search(r":(\d+)/", address).group(1))


def step_line(step, loss, seconds=0.01, **more):
    accuracy = min(0.99, 1 - loss / 3)
    return json.dumps({"type": "step", "time": 1.8e9 + seconds * step, "step": step, "epoch": step // 1000,
                       "loss": loss, "accuracy": accuracy, "lr": 0.05 * (1 + math.cos(step / 4000)) / 2,
                       "seconds": {"load": 0.05 * seconds, "forward": 0.3 * seconds, "backward": 0.5 * seconds,
                                   "network": 0.1 * seconds, "update": 0.05 * seconds, "hidden_network": 0}, **more},
                      separators=(",", ":")) + "\n"


def made_run(folder, name, steps, speed=1.0, model="lenet5", workers=2):
    """A run folder with made-up numbers."""
    run = pathlib.Path(folder) / name
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({
        "configuration": {"model": model, "data": "fashion-mnist", "strategy": "allreduce", "optimizer": "sgd:lr=0.05"},
        "resolved": {"workers": workers, "servers": 0, "batch": 64, "steps_per_epoch": 1000, "total_steps": steps,
                     "threads": 1, "parameters": 61706}}))
    with open(run / "metrics.jsonl", "w", encoding="ascii") as out:
        for step in range(1, steps + 1):
            noise = 0.15 * math.sin(12.9898 * step) * math.sin(78.233 * step)
            out.write(step_line(step, 2.3 * math.exp(-speed * step / 3000) + 0.3 + noise))
            if step % 1000 == 0:
                loss = 2.3 * math.exp(-speed * step / 3000) + 0.35
                out.write(json.dumps({"type": "epoch", "step": step, "epoch": step // 1000 - 1, "train_loss": loss,
                                      "train_accuracy": 1 - loss / 3, "test_loss": loss, "test_accuracy": 1 - loss / 3,
                                      "lr": 0.05, "seconds": 10}, separators=(",", ":")) + "\n")
    return run
