#!/usr/bin/env python3
"""Reads the event files of real runs with TensorBoard and compares them with what the runs wrote elsewhere.

tensorboard_test.py TRIREME: trains small networks with the program TRIREME; needs PyPI's tensorboard. Called by
`make test-pypi`.
"""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import numpy
from PIL import Image
from tensorboard.backend.event_processing import data_provider, event_accumulator, plugin_event_multiplexer
from tensorboard.plugins import base_plugin
from tensorboard.plugins.hparams import api_pb2, backend_context, get_experiment, list_session_groups, metadata
from tensorboard.context import RequestContext
from tensorboard.util import tensor_util

PROGRAM = ""
SMALL = ["--model", "lenet5", "--data", "synthetic", "--train-samples", "320", "--test-samples", "64", "--batch", "16"]
# A worker that rests makes steps slow enough for every one to be shown.
SLOW = ["--slow", "worker=0,factor=200", "--threads", "1", "--assign", "even"]


def train(*arguments, **more):
    return subprocess.run([PROGRAM, "train", *arguments, "--quiet"], check=True, **more)


def lines(path):
    result = []
    for line in path.read_text().splitlines():
        try:
            result.append(json.loads(line))
        except ValueError:  # half a line of a run that was killed
            pass
    return result


def single(value):
    return float(numpy.float32(value))


def has_option(name):
    text = subprocess.run([PROGRAM, "train", "--help"], check=True, capture_output=True, text=True).stdout
    return name in text


class TensorboardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.place.name)
        options = ["--tensorboard"] + (["--watch-layers", "5"] if has_option("--watch-layers") else [])
        train(*SMALL, *SLOW, *options, "--epochs", "2", "--workers", "2", "--run", str(cls.root / "two"))
        cls.kill_and_resume(cls.root / "killed", options)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def kill_and_resume(cls, run, options):
        """Killed between two checkpoints: its last steps are made again."""
        command = [PROGRAM, "train", *SMALL, *SLOW, *options, "--epochs", "2", "--checkpoint-every", "10", "--quiet"]
        process = subprocess.Popen(command + ["--run", str(run)], start_new_session=True)
        metrics = run / "metrics.jsonl"
        while process.poll() is None:
            steps = [line for line in lines(metrics) if line["type"] == "step"] if metrics.exists() else []
            if len(steps) >= 14:
                os.killpg(process.pid, signal.SIGKILL)
                break
            time.sleep(0.02)
        process.wait()
        time.sleep(1.1)  # a file of its own second
        train("--resume", str(run))

    def accumulator(self, run):
        loaded = event_accumulator.EventAccumulator(
            str(self.root / run / "tensorboard"), size_guidance={name: 0 for name in ("tensors", "scalars", "images")})
        loaded.Reload()
        return loaded

    def scalars(self, loaded, tag):
        if tag in loaded.Tags()["scalars"]:
            return {event.step: event.value for event in loaded.Scalars(tag)}
        return {event.step: float(tensor_util.make_ndarray(event.tensor_proto)) for event in loaded.Tensors(tag)}

    def test_curves_are_those_of_metrics(self):
        for run in ("two", "killed"):
            loaded = self.accumulator(run)
            steps = {line["step"]: line for line in lines(self.root / run / "metrics.jsonl") if line["type"] == "step"}
            for tag, name in (("train/loss", "loss"), ("train/accuracy", "accuracy"), ("train/lr", "lr")):
                shown = self.scalars(loaded, tag)
                self.assertGreater(len(shown), 5, run)
                for step, value in shown.items():
                    self.assertEqual(value, single(steps[step][name]), f"{run} {tag} at {step}")
            for phase in ("load", "forward", "backward", "network", "update", "hidden_network"):
                for step, value in self.scalars(loaded, "seconds/" + phase).items():
                    self.assertEqual(value, single(steps[step]["seconds"][phase]), f"{run} {phase} at {step}")
            epochs = {line["step"]: line for line in lines(self.root / run / "metrics.jsonl") if line["type"] == "epoch"}
            self.assertEqual(self.scalars(loaded, "test/loss"),
                             {step: single(line["test_loss"]) for step, line in epochs.items()})
            self.assertEqual(self.scalars(loaded, "test/accuracy"),
                             {step: single(line["test_accuracy"]) for step, line in epochs.items()})

    def test_a_resumed_run_has_every_step_once(self):
        events = self.accumulator("killed").Scalars("train/loss") if "train/loss" in self.accumulator(
            "killed").Tags()["scalars"] else self.accumulator("killed").Tensors("train/loss")
        steps = [event.step for event in events]
        self.assertEqual(steps, sorted(set(steps)))
        self.assertEqual(len(list((self.root / "killed" / "tensorboard").iterdir())), 2)

    def test_the_summary_is_there(self):
        for run in ("two", "killed"):
            summary = json.loads((self.root / run / "summary.json").read_text())
            loaded = self.accumulator(run)
            for name in ("test_accuracy", "test_loss", "train_loss", "samples_per_second"):
                self.assertEqual(list(self.scalars(loaded, "summary/" + name).values()), [single(summary[name])])

    def test_resources_of_host_and_processes(self):
        tags = self.accumulator("two").Tags()
        tags = tags["scalars"] + tags["tensors"]
        host = lines(self.root / "two" / "resources.jsonl")[0]["host"]
        for tag in (f"host {host}/cpu_share", "process 0/resident_bytes", "process 1/cpu_cores", "worker 1/forward_share"):
            self.assertIn(tag, tags)

    def test_texts(self):
        loaded = self.accumulator("two")
        text = tensor_util.make_ndarray(loaded.Tensors("run/options")[0].tensor_proto).item().decode()
        self.assertIn("| batch | 16 |", text)

    def test_pictures(self):
        loaded = self.accumulator("two")
        if "test/confusion" not in loaded.Tags()["tensors"] + loaded.Tags()["images"]:
            self.fail("there is no confusion matrix")
        parts = tensor_util.make_ndarray(loaded.Tensors("test/confusion")[-1].tensor_proto)
        picture = Image.open(io.BytesIO(parts[2]))
        self.assertEqual(picture.size, (int(parts[0]), int(parts[1])))
        counts = [line for line in lines(self.root / "two" / "metrics.jsonl") if line["type"] == "confusion"][-1]["counts"]
        side = picture.size[0] // len(counts)
        # The darkest square of a row is its greatest count.
        for row, numbers in enumerate(counts):
            if sum(numbers) == 0:
                continue
            shades = [sum(picture.convert("RGB").getpixel((column * side + side // 2, row * side + side // 2)))
                      for column in range(len(numbers))]
            self.assertEqual(numbers[shades.index(min(shades))], max(numbers))

    def test_histograms(self):
        if not has_option("--watch-layers"):
            self.skipTest("this program has no --watch-layers")
        loaded = self.accumulator("two")
        layers = [line for line in lines(self.root / "two" / "metrics.jsonl") if line["type"] == "layers"][-1]
        for parameter in layers["parameters"]:
            rows = tensor_util.make_ndarray(loaded.Tensors("weights/" + parameter["name"])[-1].tensor_proto)
            told = parameter["weight_histogram"]
            self.assertEqual([int(count) for count in rows[:, 2]], told["counts"])
            numpy.testing.assert_allclose([rows[0, 0], rows[-1, 1]], [told["low"], told["high"]], rtol=1e-5)

    def test_hparams(self):
        content = self.accumulator("two").SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content
        start = metadata.parse_session_start_info_plugin_data(content)
        self.assertEqual(start.hparams["model"].string_value, "lenet5")
        self.assertEqual(start.hparams["batch"].number_value, 16)
        self.assertEqual(start.hparams["skip-bad"].bool_value, False)
        self.assertEqual(start.hparams["skip-bad"].WhichOneof("kind"), "bool_value")
        content = self.accumulator("two").SummaryMetadata(metadata.SESSION_END_INFO_TAG).plugin_data.content
        self.assertEqual(metadata.parse_session_end_info_plugin_data(content).status, api_pb2.STATUS_SUCCESS)

        multiplexer = plugin_event_multiplexer.EventMultiplexer().AddRunsFromDirectory(str(self.root))
        multiplexer.Reload()
        provider = data_provider.MultiplexerDataProvider(multiplexer, str(self.root))
        context = backend_context.Context(base_plugin.TBContext(data_provider=provider, logdir=str(self.root)))
        experiment = get_experiment.Handler(RequestContext(), context, "", api_pb2.GetExperimentRequest()).run()
        self.assertIn("summary/test_accuracy", [info.name.tag for info in experiment.metric_infos])
        self.assertIn("optimizer", [info.name for info in experiment.hparam_infos])
        request = api_pb2.ListSessionGroupsRequest(slice_size=10, allowed_statuses=[api_pb2.STATUS_SUCCESS])
        groups = list_session_groups.Handler(RequestContext(), context, "", request).run().session_groups
        self.assertEqual(len(groups), 2)
        for group in groups:
            run = group.sessions[0].name.split("/")[0]
            summary = json.loads((self.root / run / "summary.json").read_text())
            self.assertEqual(group.hparams["workers"].number_value, summary["workers"])
            results = {metric.name.tag: metric.value for metric in group.metric_values}
            self.assertEqual(results["summary/test_accuracy"], single(summary["test_accuracy"]))

    def test_the_server_shows_it(self):
        """TensorBoard itself, with its fast reader where it has one."""
        server = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", str(self.root), "--port", "0", "--host", "127.0.0.1"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            address = ""
            for line in server.stderr:
                if "http://" in line:
                    address = "http://" + line.split("http://")[1].split()[0].rstrip("/")
                    break

            def get(path, **query):
                with urllib.request.urlopen(f"{address}/data/{path}?{urllib.parse.urlencode(query)}", timeout=60) as got:
                    return json.load(got)

            runs = []
            for _ in range(120):
                runs = get("runs")
                if len(runs) == 2 and get("plugin/scalars/tags").keys() >= set(runs):
                    break
                time.sleep(0.5)
            self.assertEqual(sorted(runs), ["killed/tensorboard", "two/tensorboard"])
            for run in runs:
                epochs = [line for line in lines(self.root / run / ".." / "metrics.jsonl") if line["type"] == "epoch"]
                shown = get("plugin/scalars/scalars", run=run, tag="test/loss")
                self.assertEqual([(step, single(value)) for _, step, value in shown],
                                 [(line["step"], single(line["test_loss"])) for line in epochs])
                for (when, _, _), line in zip(shown, epochs):
                    self.assertLess(abs(when - line["time"]), 5)
        finally:
            server.terminate()
            server.stderr.close()
            server.wait()


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
