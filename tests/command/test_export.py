#!/usr/bin/python3
"""Exports of real runs, read back by other programs. protoc reads Perfetto's format, Python's json reads Chrome's
format and the data islands, and its csv reads CSV. All are compared with the trace as h5py reads it."""

import collections
import csv
import io
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
except ImportError:
    print("h5py is not here")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8"}
SCHEMA = ROOT / "tests/support/perfetto_subset.proto"
EVIL = '</script>"\n'

# Two layers on a device whose memory holds one: loads wait for memory, computations wait for loads.
SCENARIO = r"""
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: harm
    layers:
      - {type: input, name: x, shape: [50, 50]}
      - {type: matmul, name: "</script>\"\n", features: 50}
      - {type: matmul, name: "plain", features: 50}
      - {type: matmul, name: "<!-- & 'ä'", features: 50}
platform:
  format: sluice-platform/1
  name: small
  summary: one device behind one link
  source: made up
  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 200kB}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s, latency: 3us, setup: 1us}}
workload: {batch: 4, batches_per_step: 3, steps: 4}
stages: {cut: per_layer}
policy: {name: streamed}
"""


def sluice(*words, text=True):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=text, cwd=ROOT,
                          env=ENVIRONMENT, timeout=300)


def unescaped(text):
    """Returns a string of protoc's text form."""
    plain = {"n": b"\n", "r": b"\r", "t": b"\t"}

    def one(match):
        code = match.group(1)
        if code[0:1].isdigit():
            return bytes([int(code, 8)])
        return plain.get(code.decode(), code)

    return re.sub(rb"\\([0-7]{3}|.)", one, text.encode()).decode()


def parse_text(lines):
    """protoc's text form as {field: [value, …]}."""
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


class Columns:
    """A trace as h5py reads it."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.spans = {name: column[:] for name, column in file["spans"].items()
                          if column.dtype.kind in "fiu" and name != "span"}
            texts = lambda name: list(file["labels/" + name].asstr()[:])
            self.actions, self.streams = texts("actions/name"), texts("streams/name")
            self.devices, self.kinds = texts("streams/device"), texts("kinds/name")
            self.stages, self.pools = texts("stages/name"), texts("pools/name")
            self.memory = {}
            for name in self.pools:
                pool = file["memory/" + name]
                self.memory[name] = list(zip(pool["time"][:], pool["level"][:].tolist()))
            self.summary = {}
            for name, item in file["summary"].items():
                if isinstance(item, h5py.Dataset) and item.dtype.kind == "f":
                    self.summary[name] = float(item[()])
        self.count = len(self.spans["start"])

    def rows(self):
        for i in range(self.count):
            yield {name: column[i].item() for name, column in self.spans.items()}

    def flows(self):
        """Pairs (source, target) of span numbers. The end of the source ended the target's last wait."""
        return sorted((row["cause"], number) for number, row in enumerate(self.rows())
                      if row["cause"] >= 0)


def nanoseconds(seconds):
    return math.floor(seconds * 1e9 + 0.5)  # halves up, which Python's round() does not do


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        (folder / "harm.yaml").write_text(SCENARIO)
        cls.traces = {}
        for name, words in {"harm": [folder / "harm.yaml"],
                            "phased": ["phased_ipu_pair", "workload.steps=1",
                                       "workload.batches_per_step=20"],
                            "alexnet": ["alexnet_x200"]}.items():
            done = sluice("run", *words, "-o", folder / (name + ".h5"))
            assert done.returncode == 0, done.stderr
            cls.traces[name] = Columns(folder / (name + ".h5"))

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def export(self, name, form, *words):
        done = sluice("export", self.path(name + ".h5"), "--to", form, *words, text=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout

    def decoded(self, name):
        if not shutil.which("protoc"):
            self.skipTest("protoc is not here")
        done = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", "-I", SCHEMA.parent,
                               SCHEMA.name], input=self.export(name, "perfetto"),
                              capture_output=True, check=True)
        # There are no fields that the schema does not have.
        self.assertNotRegex(done.stdout.decode(), r"(?m)^\s*\d+[:{ ]")
        return parse_text(iter(done.stdout.decode().splitlines()))["packet"]

    # --- Perfetto ----------------------------------------------------------------------------

    def tracks(self, packets):
        """Returns {uuid: descriptor}. Each track has one descriptor, before its events and after its parent's."""
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
        """Begin and end alternate on each track, in the order of time: (track, begin, end, event)."""
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

    # --- Chrome ------------------------------------------------------------------------------

    def check_chrome(self, name):
        trace = self.traces[name]
        text = self.export(name, "chrome")
        self.assertNotIn(b"<", text)  # nothing in it can end a script element
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
            self.assertGreaterEqual(begin, free[thread])  # they are next to each other in the file, so they nest
            free[thread] = end
            place[thread].append((begin, end, number))
            self.assertEqual(names[thread], trace.streams[row["stream"]])
            self.assertEqual(names[first["pid"], None], trace.devices[row["stream"]])
            self.assertEqual(first["name"], trace.actions[row["action"]])
            if row["stage"] >= 0:
                self.assertEqual(first["args"]["stage"], trace.stages[row["stage"]])
        self.check_depth(events)

        # Flows bind to the slice of their thread that encloses their time.
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
        """Reads the spans of each thread as Speedscope does, with beginnings and ends in two queues. Of an end and a
        beginning at one moment, the end comes first, unless both have the same name and arguments. Read in this way, no
        span may be within another one, and none may stay open."""
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

    # --- rows and tables ---------------------------------------------------------------------

    def test_csv_has_one_row_per_span_with_every_digit(self):
        trace = self.traces["harm"]
        text = self.export("harm", "csv").decode()
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        self.assertEqual(len(rows), trace.count)
        for row, span in zip(rows, trace.rows()):
            for column, name in {"start_s": "start", "end_s": "end", "available_s": "available",
                                 "waited_s": "waited", "iteration": "iteration"}.items():
                self.assertEqual(float(row[column]), span[name])
            self.assertEqual(row["stream"], trace.streams[span["stream"]])
            self.assertEqual(row["action"], trace.actions[span["action"]])
            if span["stage"] >= 0:
                self.assertEqual(row["stage_name"], trace.stages[span["stage"]])
        self.assertIn(EVIL, [row["stage_name"] for row in rows])

    def test_data_island_of_the_metrics(self):
        island = json.loads(self.export("alexnet", "data-island"))
        self.assertEqual(island["func"], "quick_plot")
        heading, *rows = island["data"]
        self.assertEqual(heading, ["metric", "key", "value", "unit"])
        found = {metric: value for metric, key, value, unit in rows if key == "" and
                 not isinstance(value, str)}
        for name, value in self.traces["alexnet"].summary.items():
            self.assertEqual(found[name], None if value != value else value, name)
        self.assertIn("peak_bytes", [row[0] for row in rows])

    def test_data_island_of_the_stages_adds_up_to_the_metrics(self):
        trace = self.traces["harm"]
        island = json.loads(self.export("harm", "data-island", "--table", "stages"))
        heading, *rows = island["data"]
        self.assertEqual([row[1] for row in rows if row[1] != "(no stage)"], trace.stages)
        last = dict(zip(heading, rows[-1]))
        self.assertAlmostEqual(last["total compute s"], trace.summary["compute_s"], delta=1e-12)
        self.assertAlmostEqual(last["total transfer s"], trace.summary["transfer_s"], delta=1e-12)
        self.assertEqual(last["total bytes"], trace.summary["transferred_bytes"])
        self.assertEqual(last["total FLOP"], trace.summary["flop"])

    def test_the_store_of_a_sweep_is_not_replaced(self):
        store = self.path("study.db")
        done = sluice("sweep", "alexnet_resident", "workload.batch=1,2", "--store", store)
        self.assertEqual(done.returncode, 0, done.stderr)
        before = store.read_bytes()
        self.fails(2, "is a trace, a store or a document of Sluice: give another name, or --force",
                   str(self.path("harm.h5")), "--to", "csv", "-o", str(store))
        self.assertEqual(store.read_bytes(), before)

    def test_data_island_of_the_layers_is_a_model_that_is_read_again(self):
        self.path("layers.json").write_bytes(
            self.export("alexnet", "data-island", "--table", "layers"))
        done = sluice("model", self.path("layers.json"), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        again = json.loads(done.stdout)
        once = json.loads(sluice("model", "alexnet", "scale=200", "--json").stdout)
        for key in ("state", "parameters", "flop"):
            self.assertEqual(again["totals"][key], once["totals"][key])
        self.assertEqual([layer["type"] for layer in again["layers"]],
                         [layer["type"] for layer in once["layers"]])

    # --- the command -------------------------------------------------------------------------

    def test_a_file_is_written_as_a_whole(self):
        target = self.path("out.json")
        done = sluice("export", self.path("harm.h5"), "--to", "chrome", "-o", target)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(target.read_bytes(), self.export("harm", "chrome"))
        self.assertFalse(pathlib.Path(str(target) + ".part").exists())

    def fails(self, code, message, *words):
        before = sorted(os.listdir(self.folder.name))
        done = sluice("export", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn(message, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_bad_command_lines(self):
        trace = self.path("harm.h5")
        self.fails(2, "'--to' is missing: one of perfetto, chrome, csv, data-island", trace)
        self.fails(2, "did you mean 'perfetto'?", trace, "--to", "perfeto")
        self.fails(2, "'--table' is only for '--to data-island'", trace, "--to", "csv", "--table",
                   "stages")
        self.fails(2, "is the trace itself", trace, "--to", "csv", "-o", trace)
        self.fails(2, "missing TRACE", "--to", "csv")

    def test_bad_files(self):
        self.fails(5, "No such file", self.path("none.h5"), "--to", "csv")
        self.fails(3, "not an HDF5 file", ROOT / "CMakeLists.txt", "--to", "csv", "-o",
                   self.path("x"))
        self.fails(5, "No such file or directory", self.path("harm.h5"), "--to", "csv", "-o",
                   self.path("none/x"))
        whole = self.path("harm.h5").read_bytes()
        for part in (0.3, 0.7, 0.99):
            self.path("cut").write_bytes(whole[: int(part * len(whole))])
            self.fails(3, "cut short", self.path("cut"), "--to", "chrome", "-o", self.path("x"))
        self.path("cut").unlink()

    def test_a_full_disk_leaves_no_file_behind(self):
        limited = ["bash", "-c", 'ulimit -f 4; exec "$@"', "-", PROGRAM, "export",
                   str(self.path("harm.h5")), "--to", "chrome", "-o", str(self.path("big.json"))]
        done = subprocess.run(limited, capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("cannot write '" + str(self.path("big.json")) + "': File too large",
                      done.stderr)
        self.assertFalse(self.path("big.json").exists())
        self.assertFalse(self.path("big.json.part").exists())

    def test_a_reader_that_closes_the_pipe_is_not_an_error(self):
        done = subprocess.run(["bash", "-c", '"$@" | head -c 10', "-", PROGRAM, "export",
                               str(self.path("alexnet.h5")), "--to", "chrome"],
                              capture_output=True, env=ENVIRONMENT)
        self.assertEqual((done.stdout, done.stderr), (b'{"displayT', b""))

    def test_memory_does_not_grow_with_the_number_of_spans(self):
        if b"__asan_init" in pathlib.Path(PROGRAM).read_bytes():
            self.skipTest("the sanitizer keeps what is freed")
        peaks = {}
        for steps in (300, 1200):
            trace = self.path("long.h5")
            done = sluice("run", "matmul_chain_streamed_ipu", f"workload.steps={steps}", "-o", trace)
            self.assertEqual(done.returncode, 0, done.stderr)
            with h5py.File(trace) as file:
                self.assertGreater(len(file["spans/start"]), 500 * steps)
            process = subprocess.Popen([PROGRAM, "export", trace, "--to", "perfetto", "-o",
                                        self.path("long.pftrace")], env=ENVIRONMENT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            peaks[steps] = usage.ru_maxrss
        self.assertLess(peaks[1200] - peaks[300], 8 * 1024)  # kB; the spans alone are 30 MB more

    def test_a_run_that_was_stopped_is_exported_with_a_note_and_an_export_can_be_stopped(self):
        trace = self.path("stopped.h5")
        run = subprocess.Popen([PROGRAM, "run", "matmul_chain_streamed_ipu",
                                "workload.steps=1000000", "--executor", "simgrid", "-o", trace],
                               env=ENVIRONMENT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.5)
        run.send_signal(signal.SIGINT)
        run.communicate()
        self.assertEqual(run.returncode, 130)
        words = ["export", trace, "--to", "chrome", "-o", self.path("stopped.json")]
        export = subprocess.Popen([PROGRAM, *words], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        while not pathlib.Path(str(self.path("stopped.json.part"))).exists():
            time.sleep(0.001)
        export.send_signal(signal.SIGTERM)
        self.assertEqual(export.wait(), 143)
        self.assertFalse(self.path("stopped.json").exists())
        self.assertFalse(self.path("stopped.json.part").exists())
        done = sluice("export", trace, "--to", "data-island")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "sluice: note: the run was aborted; the trace holds what was "
                                      "executed\n")

    def test_a_trace_of_a_plan_names_no_layers(self):
        plan = self.path("harm.plan")
        for words in (["plan", self.path("harm.yaml"), "-o", plan],
                      ["run", plan, "-o", self.path("plan.h5")]):
            done = sluice(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.fails(3, "the trace is of a plan file, which does not name layers", self.path("plan.h5"), "--to",
                   "data-island", "--table", "layers")
        self.assertEqual(self.export("plan", "csv").count(b"\r\n"), self.traces["harm"].count + 1)


if __name__ == "__main__":
    unittest.main()
