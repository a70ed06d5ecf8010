#!/usr/bin/python3
"""Tests exports in Perfetto's format. The test reads an export with protoc, and compares it with the trace as h5py
reads it."""

import collections
import re
import shutil
import subprocess
import unittest

from export_case import EVIL, Export, SCHEMA, nanoseconds


def unescaped(text):
    """Returns a string of protoc's text form, with each escape replaced by the character that it stands for."""
    plain = {"n": b"\n", "r": b"\r", "t": b"\t"}

    def one(match):
        code = match.group(1)
        if code[0:1].isdigit():
            return bytes([int(code, 8)])
        return plain.get(code.decode(), code)

    return re.sub(rb"\\([0-7]{3}|.)", one, text.encode()).decode()


def parse_text(lines):
    """Returns protoc's text form as {field: [value, …]}."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        if line.endswith(" {"):
            message[line[:-2]].append(parse_text(lines))
            continue
        field, value = line.split(": ", 1)
        message[field].append(unescaped(value[1:-1]) if value.startswith('"') else
                              value if value[0].isalpha() else
                              float(value) if re.search("[.e]", value) else int(value))
    return message


class Perfetto(Export):
    def decoded(self, name):
        if not shutil.which("protoc"):
            self.skipTest("there is no protoc")
        done = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", "-I", SCHEMA.parent,
                               SCHEMA.name], input=self.export(name, "perfetto"),
                              capture_output=True, check=True)
        # protoc prints a number instead of a name for a field that the schema lacks. There must be no such field.
        self.assertNotRegex(done.stdout.decode(), r"(?m)^\s*\d+[:{ ]")
        return parse_text(iter(done.stdout.decode().splitlines()))["packet"]

    def tracks(self, packets):
        """Returns {uuid: descriptor}. Checks that each track has one descriptor. The descriptor must come before the
        track's events and after the descriptor of the track's parent."""
        tracks, flags = {}, {}
        for packet in packets:
            for track in packet["track_descriptor"]:
                uuid = track["uuid"][0]
                self.assertNotIn(uuid, tracks)
                self.assertGreater(uuid, 0)
                tracks[uuid] = track
                for parent in track["parent_uuid"]:
                    self.assertTrue(tracks[parent]["process"])
            sequence = packet["trusted_packet_sequence_id"][0]
            if sequence not in flags:
                flags[sequence] = packet["sequence_flags"]
                self.assertEqual(flags[sequence], [1])
            else:
                self.assertEqual(packet["sequence_flags"], [])
            for event in packet["track_event"]:
                self.assertIn(event["track_uuid"][0], tracks)
        return tracks

    def slices(self, packets, tracks):
        """Returns (track, begin, end, event) of each slice. Checks that on each track, beginnings and ends of slices
        alternate, in the order of time."""
        is_open, last, slices = {}, collections.defaultdict(int), []
        for packet in packets:
            for event in packet["track_event"]:
                uuid, time, kind = event["track_uuid"][0], packet["timestamp"][0], event["type"][0]
                self.assertGreaterEqual(time, last[uuid])
                last[uuid] = time
                if kind == "TYPE_COUNTER":
                    self.assertTrue(tracks[uuid]["counter"])
                    continue
                self.assertFalse(tracks[uuid]["counter"])
                self.assertFalse(tracks[uuid]["process"])
                if kind == "TYPE_SLICE_BEGIN":
                    self.assertNotIn(uuid, is_open)
                    is_open[uuid] = len(slices)
                    slices.append([uuid, time, None, event])
                else:
                    self.assertEqual(kind, "TYPE_SLICE_END")
                    slices[is_open.pop(uuid)][2] = time
        self.assertEqual(is_open, {})
        return slices

    def check_perfetto(self, name):
        trace = self.traces[name]
        packets = self.decoded(name)
        tracks = self.tracks(packets)
        processes = [t["process"][0]["process_name"][0] for t in tracks.values() if t["process"]]
        self.assertEqual(set(processes), set(trace.devices) | {"memories"})
        parents = {t["name"][0]: tracks[t["parent_uuid"][0]]["name"][0]
                   for t in tracks.values() if t["parent_uuid"]}
        for stream, device in zip(trace.streams, trace.devices):
            self.assertEqual(parents[stream], device)

        slices = self.slices(packets, tracks)
        self.assertEqual(len(slices), trace.count)
        begun, flows = {}, []
        for number, ((uuid, begin, end, event), row) in enumerate(zip(slices, trace.rows())):
            self.assertEqual(begin, nanoseconds(row["start"]))
            self.assertEqual(end, nanoseconds(row["end"]))
            self.assertEqual(tracks[uuid]["name"], [trace.streams[row["stream"]]])
            self.assertEqual(event["name"], [trace.actions[row["action"]]])
            self.assertEqual(event["categories"], [trace.kinds[row["kind"]]])
            notes = {note["name"][0]: (note["int_value"] + note["double_value"] +
                                       note["string_value"])[0]
                     for note in event["debug_annotations"]}
            if row["stage"] >= 0:
                self.assertEqual(notes["stage"], trace.stages[row["stage"]])
            self.assertEqual(notes.get("micro_batch", -1), row["micro_batch"])
            self.assertAlmostEqual(notes.get("waited_s", 0), row["waited"], delta=1e-9)
            for flow in event["terminating_flow_ids"]:
                flows.append((begun.pop(flow), number))
            for flow in event["flow_ids"]:
                self.assertNotIn(flow, begun)
                begun[flow] = number
        self.assertEqual(begun, {})  # each flow has ended
        self.assertEqual(sorted(flows), trace.flows())
        self.assertGreater(len(flows), 0)
        for source, target in flows:
            self.assertLessEqual(slices[source][2], slices[target][1])
        self.check_counters(trace, packets, tracks)

    def check_counters(self, trace, packets, tracks):
        levels = collections.defaultdict(list)
        for packet in packets:
            for event in packet["track_event"]:
                if event["type"] == ["TYPE_COUNTER"]:
                    track = tracks[event["track_uuid"][0]]
                    self.assertEqual(track["counter"][0]["unit"], ["UNIT_SIZE_BYTES"])
                    levels[track["name"][0]].append((packet["timestamp"][0],
                                                     event["counter_value"][0]))
        for pool, events in trace.memory.items():
            got = levels.pop(pool + " memory", [])
            self.assertEqual([level for _, level in got], [level for _, level in events])
            for (ns, _), (seconds, _) in zip(got, events):
                self.assertLessEqual(abs(ns - seconds * 1e9), 1.5)
        self.assertEqual(levels, {})

    def test_perfetto_streamed_with_malicious_names(self):
        self.check_perfetto("harm")
        self.assertIn(EVIL, self.traces["harm"].stages)

    def test_perfetto_phased_on_two_devices(self):
        self.check_perfetto("phased")
        self.assertEqual(len(set(self.traces["phased"].devices)), 2)

    def test_perfetto_streamed_alexnet(self):
        self.check_perfetto("alexnet")


if __name__ == "__main__":
    unittest.main()
