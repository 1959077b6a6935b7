"""Runs with --watch: steered through the page, and with everything that can go wrong with it.
Environment: TRIREME_BINARY."""

import http.client
import json
import os
import pathlib
import re
import select
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

SMALL = ["--model", "lenet5", "--data", "synthetic", "--train-samples", "640", "--test-samples", "32", "--batch", "16",
         "--threads", "1", "--json"]


class Run:
    """A run that trains, and its page."""

    def __init__(self, folder, *options):
        self.folder = pathlib.Path(folder)
        self.process = subprocess.Popen([os.environ["TRIREME_BINARY"], "train", *SMALL, "--run", str(folder), *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said = ""

    def page(self):
        """Where the page is, as the run says on standard error."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if select.select([self.process.stderr], [], [], 1)[0]:
                line = self.process.stderr.readline()
                self.said += line
                if match := re.search(r"watch this run at (http://\S+)", line):
                    return urllib.parse.urlparse(match.group(1))
                assert line, self.said
        raise AssertionError("no page: " + self.said)

    def end(self):
        out, err = self.process.communicate(timeout=900)
        self.said += err
        return self.process.returncode, out

    def steps(self):
        try:
            lines = (self.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return 0
        return sum(line.startswith('{"type":"step"') for line in lines)

    def wait_for_steps(self, least):
        end = time.monotonic() + 120
        while self.steps() < least:
            assert self.process.poll() is None and time.monotonic() < end, f"only {self.steps()} steps"
            time.sleep(0.05)


def ask(page, method, target):
    link = http.client.HTTPConnection(page.hostname, page.port, timeout=60)
    token = urllib.parse.parse_qs(page.query).get("token", [""])[0]
    link.request(method, target, headers={"Origin": f"http://{page.hostname}:{page.port}",
                                          "Authorization": f"Bearer {token}"})
    answer = link.getresponse()
    return answer.status, answer.read().decode()


def steer(page, wish):
    return ask(page, "POST", f"/api/control?do={wish}")[0]


def state(page):
    return json.loads(ask(page, "GET", "/api/page")[1])["steering"]


def wait_for_state(page, wanted):
    end = time.monotonic() + 120
    while state(page) != wanted:
        assert time.monotonic() < end, f"{state(page)}, not {wanted}"
        time.sleep(0.05)


class TrainingTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="trireme-steering-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.started = []
        self.addCleanup(lambda: [run.process.kill() for run in self.started])

    def run_of(self, name, *options):
        run = Run(self.folder / name, *options)
        self.started.append(run)
        return run

    def weights(self, run):
        code, out = run.end()
        self.assertEqual(code, 0, run.said)
        return json.loads(out.splitlines()[-1])["weights_sha256"]

    def test_a_pause_outlives_the_stall_timeout_and_changes_no_bit(self):
        for strategy in (["--workers", "2"], ["--workers", "2", "--strategy", "ps"]):
            with self.subTest(strategy=strategy):
                name = "-".join(strategy).strip("-").replace(" ", "")
                options = ["--epochs", "60", *strategy, "--stall-timeout", "4"]
                undisturbed = self.weights(self.run_of("undisturbed" + name, *options))
                run = self.run_of("paused" + name, *options, "--watch", "--watch-port", "0", "--watch-control")
                page = run.page()
                run.wait_for_steps(10)
                self.assertEqual(steer(page, "pause"), 204)
                wait_for_state(page, "paused")
                time.sleep(1)
                before = run.steps()
                time.sleep(7)
                self.assertEqual(run.steps(), before)
                self.assertLess(before, 2400, "the run was over before it could be paused")
                self.assertEqual(steer(page, "continue"), 204)
                self.assertEqual(self.weights(run), undisturbed)

    def test_a_checkpoint_now_and_a_stop_that_can_be_resumed(self):
        options = ["--epochs", "60"]
        undisturbed = self.weights(self.run_of("undisturbed", *options))
        run = self.run_of("steered", *options, "--keep", "1000", "--watch", "--watch-port", "0", "--watch-control")
        page = run.page()
        run.wait_for_steps(10)
        self.assertEqual(steer(page, "checkpoint"), 204)
        wanted = time.monotonic() + 60
        while not any(int(one.name[5:]) % 40 for one in run.folder.glob("checkpoints/step-*")):
            self.assertLess(time.monotonic(), wanted, "no checkpoint within an epoch")
            time.sleep(0.05)
        self.assertEqual(steer(page, "pause"), 204)
        wait_for_state(page, "paused")
        self.assertEqual(steer(page, "stop"), 204)
        code, _ = run.end()
        self.assertEqual(code, 1)
        self.assertIn("interrupted after step", run.said)
        resumed = subprocess.run([os.environ["TRIREME_BINARY"], "train", "--resume", str(run.folder), "--json"],
                                 capture_output=True, text=True, timeout=900, check=True)
        self.assertEqual(json.loads(resumed.stdout.splitlines()[-1])["weights_sha256"], undisturbed)

    def test_strategies_whose_weights_a_pause_would_change_can_only_be_stopped(self):
        run = self.run_of("local", "--epochs", "500", "--workers", "2", "--strategy", "local", "--watch",
                          "--watch-port", "0", "--watch-control")
        page = run.page()
        self.assertEqual(steer(page, "pause"), 409)
        self.assertEqual(steer(page, "checkpoint"), 409)
        self.assertEqual(steer(page, "stop"), 204)
        self.assertEqual(run.end()[0], 1)

    def test_without_leave_nothing_can_be_changed(self):
        run = self.run_of("run", "--epochs", "500", "--watch", "--watch-port", "0")
        page = run.page()
        self.assertEqual(page.query, "", "no token is needed here")
        self.assertEqual(steer(page, "stop"), 405)
        run.wait_for_steps(5)
        run.process.terminate()
        self.assertEqual(run.end()[0], 1)

    def test_a_page_that_cannot_be_is_a_warning(self):
        plain = self.weights(self.run_of("plain", "--epochs", "2"))
        for name, options, word in (
                ("address", ["--watch-address", "203.0.113.9"], "203.0.113.9"),
                ("token", ["--watch-token-file", str(self.folder / "none")], "none")):
            with self.subTest(name):
                run = self.run_of(name, "--epochs", "2", "--watch", *options)
                self.assertEqual(self.weights(run), plain)
                self.assertIn("no page for this run", run.said)
                self.assertIn(word, run.said)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            run = self.run_of("taken", "--epochs", "2", "--watch", "--watch-port", str(port))
            self.assertEqual(self.weights(run), plain)
            self.assertIn(f"port {port} is in use", run.said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
