#!/usr/bin/python3
"""Tests exports in Chrome's format. The test reads an export with Python's module json, and compares it with the trace
as h5py reads it."""

import collections
import json
import unittest

from export_case import Export, nanoseconds


class Chrome(Export):
    def check_chrome(self, name):
        trace = self.traces[name]
        text = self.export(name, "chrome")
        self.assertNotIn(b"<", text)  # No text of the export can end a script element.
        events = json.loads(text)["traceEvents"]
        names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events
                 if e["ph"] == "M" and e["name"].endswith("_name")}
        begins = [e for e in events if e["ph"] == "B"]
        ends = [e for e in events if e["ph"] == "E"]
        self.assertEqual(len(begins), trace.count)
        self.assertEqual(len(ends), trace.count)
        free = collections.defaultdict(int)
        place = collections.defaultdict(list)
        for number, (first, last, row) in enumerate(zip(begins, ends, trace.rows())):
            self.assertEqual({**first, "ph": "E", "ts": last["ts"]}, last)
            begin, end = round(first["ts"] * 1000), round(last["ts"] * 1000)
            self.assertEqual(begin, nanoseconds(row["start"]))
            self.assertEqual(end, nanoseconds(row["end"]))
            thread = (first["pid"], first["tid"])
            # A span may begin at the end of the span before it in the thread, but not earlier.
            self.assertGreaterEqual(begin, free[thread])
            free[thread] = end
            place[thread].append((begin, end, number))
            self.assertEqual(names[thread], trace.streams[row["stream"]])
            self.assertEqual(names[first["pid"], None], trace.devices[row["stream"]])
            self.assertEqual(first["name"], trace.actions[row["action"]])
            if row["stage"] >= 0:
                self.assertEqual(first["args"]["stage"], trace.stages[row["stage"]])
        self.check_depth(events)

        # Each end of a flow has a thread and a time. It belongs to the slice of this thread that covers this time.
        sources = {e["id"]: e for e in events if e["ph"] == "s"}
        targets = {e["id"]: e for e in events if e["ph"] == "f"}
        self.assertEqual(len(sources), len([e for e in events if e["ph"] == "s"]))
        self.assertEqual(sorted(sources), sorted(targets))
        def enclosing(flow):
            time = round(flow["ts"] * 1000)
            return {number for begin, end, number in place[flow["pid"], flow["tid"]]
                    if begin <= time < max(end, begin + 1)}

        for source, target in trace.flows():
            flow = target + 1
            self.assertIn(source, enclosing(sources[flow]))
            self.assertIn(target, enclosing(targets.pop(flow)))
            self.assertEqual(sources[flow]["name"], "wait")
        self.assertEqual(targets, {})

        levels = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "C":
                levels[event["name"]].append(event["args"]["bytes"])
        self.assertEqual(dict(levels), {pool + " memory": [level for _, level in events]
                                        for pool, events in trace.memory.items() if events})

    def check_depth(self, events):
        """Reads the spans of each thread as Speedscope does, from a queue of beginnings and a queue of ends. If a
        beginning and an end have equal times, the end comes first. But if they also have equal names and arguments, the
        beginning comes first. In this order, no span may be within another span, and every span must have an end."""
        queues = collections.defaultdict(lambda: {"B": [], "E": []})
        for event in events:
            if event["ph"] in "BE":
                key = event["name"] + json.dumps(event["args"])
                queues[event["pid"], event["tid"]][event["ph"]].append((event["ts"], key))
        for thread, queue in queues.items():
            begins, ends, opened = queue["B"][::-1], queue["E"][::-1], []
            while ends:
                first = begins[-1] if begins else (float("inf"), "")
                if first[0] < ends[-1][0] or first == ends[-1]:
                    opened.append(begins.pop()[1])
                    self.assertEqual(len(opened), 1, (thread, first))
                else:
                    self.assertEqual(opened.pop(), ends.pop()[1])
            self.assertEqual((opened, begins), ([], []))

    def test_chrome_streamed_with_malicious_names(self):
        self.check_chrome("harm")

    def test_chrome_phased_on_two_devices(self):
        self.check_chrome("phased")


if __name__ == "__main__":
    unittest.main()
