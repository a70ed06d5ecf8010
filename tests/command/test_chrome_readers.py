#!/usr/bin/python3
"""Exports several kinds of runs with `export --to chrome`. Reads the exports by the rules of Speedscope, Catapult and
Perfetto.

A slice of a thread has two events, its beginning ("B") and its end ("E"). Speedscope reads the beginnings and the ends
from two queues that are sorted by time. At equal times, Speedscope takes the end first. But if the two events also have
equal names and arguments, it takes the beginning first. Catapult and Perfetto read the events of a thread in the order
of their times. At equal times, they use the order of the file. A flow is an arrow between two slices. Each end of the
arrow belongs to the slice that encloses this end.
"""

import collections
import decimal
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from export_case import ENVIRONMENT, PROGRAM, ROOT, h5py, nanoseconds

RUNS = {
    "streamed": ["alexnet_x200"],
    "training": ["alexnet_x200_training", "workload.steps=1"],
    "data_parallel": ["data_parallel_ipu_pair", "workload.steps=1"],
    "training of replicas": ["alexnet_resident", "platform=rx7900xtx_pair", "stages=per_layer",
                             "workload={mode: training, batch: 4, micro_batch: 2}",
                             "policy={name: data_parallel, replica: resident}"],
    "sharded": ["sharded_ipu_pair", "workload.steps=1"],
    "two memories": ["alexnet_resident", "platform=optane_server", "stages=per_layer", "cost=roofline",
                     "platform.devices.cpu.memory=[dram, pmem]", "platform.memories.dram.capacity=700MB"],
}


def exact(text):
    """Reads JSON. Numbers with a point become decimals with the digits that are written."""
    return json.loads(text, parse_float=decimal.Decimal)


class Trace:
    """A trace as h5py reads it."""

    def __init__(self, path):
        with h5py.File(path) as file:
            start, end, action, stream, cause = (file["spans/" + name][:].tolist()
                                                 for name in ("start", "end", "action", "stream", "cause"))
            actions, streams, devices = (file["labels/" + name].asstr()[:].tolist()
                                         for name in ("actions/name", "streams/name", "streams/device"))
            self.levels = {pool: file[f"memory/{pool}/level"][:].tolist()
                           for pool in file["labels/pools/name"].asstr()[:]}
        self.spans = [(devices[where], streams[where], actions[what], nanoseconds(begin), nanoseconds(stop))
                      for begin, stop, what, where in zip(start, end, action, stream)]
        self.flows = sorted((source, span) for span, source in enumerate(cause) if source >= 0)


class Chrome(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runs = {}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "t.h5")
            for name, words in RUNS.items():
                cls.sluice("run", *words, "-o", path, "--force")
                text = cls.sluice("export", path, "--to", "chrome")
                cls.runs[name] = text, exact(text)["traceEvents"], Trace(path)

    @staticmethod
    def sluice(*words):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def for_each_run(self, check):
        for name, run in self.runs.items():
            with self.subTest(run=name):
                check(*run)

    def test_speedscope_leaves_no_span_open_and_nests_none(self):
        self.for_each_run(self.check_speedscope)

    def check_speedscope(self, text, events, trace):
        threads = collections.defaultdict(lambda: {"B": [], "E": []})
        for event in json.loads(text)["traceEvents"]:  # times as floating-point numbers, as JavaScript reads them
            if event["ph"] in "BE":
                key = event["name"] + json.dumps(event["args"], sort_keys=True)
                threads[event["pid"], event["tid"]][event["ph"]].append((event["ts"], key))
        shown = 0
        for thread in threads.values():
            begins, ends = (collections.deque(sorted(thread[kind], key=lambda event: event[0])) for kind in "BE")
            is_open = []
            while begins or ends:
                if not ends or begins and (begins[0][0] < ends[0][0] or begins[0] == ends[0]):
                    is_open.append(begins.popleft()[1])
                    self.assertEqual(len(is_open), 1, "spans of one stream follow each other")
                else:
                    self.assertEqual(is_open.pop(), ends.popleft()[1])
                    shown += 1
            self.assertEqual(is_open, [])
        self.assertEqual(shown, len(trace.spans))

    def test_spans_that_touch_have_equal_decimal_times(self):
        self.for_each_run(self.check_touching)

    def check_touching(self, text, events, trace):
        written = re.findall(r'"ts": ([^,}]*)', text)
        self.assertTrue(all(re.fullmatch(r"\d+\.\d{3}", time) for time in written))
        ends, touching = {}, 0
        for event in events:
            thread = event["pid"], event.get("tid")
            if event["ph"] == "B" and thread in ends:
                self.assertGreaterEqual(event["ts"], ends[thread])
                touching += event["ts"] == ends[thread]
            elif event["ph"] == "E":
                ends[thread] = event["ts"]
        last, expected = {}, 0
        for device, stream, _, begin, end in trace.spans:
            expected += last.get((device, stream)) == begin
            last[device, stream] = end
        self.assertEqual(touching, expected)
        self.assertGreater(touching, 0)

    def test_catapult_and_perfetto_read_all_names_times_levels_and_flows(self):
        self.for_each_run(self.check_slices)

    def check_slices(self, text, events, trace):
        self.assertLessEqual({event["ph"] for event in events}, set("BEsfCM"))
        processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
                   if event["name"] == "thread_name"}
        timed = [event for event in events if event["ph"] in "BEsf"]
        # A stable sort keeps the order in the file for events with equal times.
        timed.sort(key=lambda event: event["ts"])
        is_open, slices = collections.defaultdict(list), collections.Counter()
        for event in timed:
            thread = event["pid"], event["tid"]
            if event["ph"] == "B":
                is_open[thread].append(event)
            elif event["ph"] == "E":
                begun = is_open[thread].pop()
                self.assertEqual((begun["name"], begun["args"]), (event["name"], event["args"]))
                slices[processes[thread[0]], threads[thread], event["name"], int(begun["ts"] * 1000),
                       int(event["ts"] * 1000)] += 1
            else:
                self.assertEqual(len(is_open[thread]), 1, "a flow is within a slice")
        self.assertFalse(any(is_open.values()))
        self.assertEqual(slices, collections.Counter(trace.spans))
        self.check_flows(events, processes, threads, trace)
        levels = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "C":
                levels[event["name"]].append(event["args"]["bytes"])
        self.assertEqual(levels, {pool + " memory": of_pool for pool, of_pool in trace.levels.items() if of_pool})

    def check_flows(self, events, processes, threads, trace):
        """Checks that each flow has one beginning and one end. In the file, each of these two events must stand after
        the beginning of its span, and before the next span of the thread."""
        within, places = {}, collections.defaultdict(dict)
        number = -1
        for event in events:
            thread = event["pid"], event.get("tid")
            if event["ph"] == "B":
                number += 1
                within[thread] = number
            elif event["ph"] in "sf":
                self.assertNotIn(event["id"], places[event["ph"]])
                places[event["ph"]][event["id"]] = within[thread]
                _, _, name, begin, end = trace.spans[within[thread]]
                self.assertLessEqual(begin, event["ts"] * 1000)
                self.assertLessEqual(event["ts"] * 1000, end)
                if event["ph"] == "f":
                    self.assertEqual(event["bp"], "e")
        self.assertEqual(set(places["s"]), set(places["f"]))
        self.assertEqual(sorted((places["s"][flow], places["f"][flow]) for flow in places["s"]), trace.flows)
        self.assertGreater(len(trace.flows), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
