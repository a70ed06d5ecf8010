#!/usr/bin/python3
"""Reads exports as CSV and as data islands (JSON for web pages), and compares them with the trace as h5py reads it.
Also tests how the command answers bad input, a full disk and signals."""

import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import h5py

from export_case import ENVIRONMENT, EVIL, Export, PROGRAM, ROOT, sluice


class Tables(Export):
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
        self.fails(2, "'--to' is missing; give one of perfetto, chrome, csv, data-island", trace)
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
            self.skipTest("the sanitizer keeps memory that was freed")
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
        # The second run has 900 more steps than the first run. The spans of these steps have 30 MB. `peaks` has
        # the peak of memory of each export, in kB. The two peaks must differ by less than 8 MB, which is 8 x 1024 kB.
        self.assertLess(peaks[1200] - peaks[300], 8 * 1024)

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
        self.assertEqual(done.stderr, "sluice: note: the run was aborted; the trace has the actions that "
                                      "were executed\n")

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
