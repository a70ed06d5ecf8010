#!/usr/bin/python3
"""Attacks the program from outside: signals at any moment, a full disk, too little memory, too few descriptors, closed
standard output, and names with strange characters."""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ENVIRONMENT = {**os.environ, "SLUICE_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "COLUMNS": ""}
RUN = ["run", "alexnet_resident", "workload.steps=2"]
CHAIN = """\
format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: chain, layers: [{type: input, name: x, shape: [4]},
  {repeat: 8000, layers: [{type: dense, name: d, features: 4}]}]}}
platform: a100_pcie
workload: {mode: training, batch: 64, micro_batch: 1}
policy: {name: streamed}
stages: {cut: per_layer}
fates: {strategy: keep_all}
"""


def limited(**limits):
    """Returns a function for preexec_fn. It sets limits with the module `resource`. For example, limited(AS=1000) sets
    RLIMIT_AS to 1000."""
    def apply():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    return apply


def cpu_seconds(process):
    """Returns the CPU time of a running process. On a busy computer, the time on the clock would say little."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Attacked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, *words, **options):
        return subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, env=ENVIRONMENT,
                              capture_output=True, timeout=300, **options)

    def no_half_file(self):
        self.assertEqual(list(self.folder.glob("**/*.part")), [])

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


class Signals(Attacked):
    """A signal ends the process at once, while it reads a document or makes a plan. If the signal comes before main(),
    the system ends the process."""

    def ends(self, number, moment, *words):
        process = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, env=ENVIRONMENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(moment)
        before = cpu_seconds(process.pid)
        process.send_signal(number)
        ended_before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output, message = process.communicate(timeout=60)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = sum(getattr(ended, kind) - getattr(ended_before, kind) for kind in ("ru_utime", "ru_stime"))
        self.assertLess(spent - before, 0.5, "the signal ends the process within 0.5 s of CPU time")
        self.assertIn(process.returncode, (128 + number, -number), message)
        self.assertEqual(output, b"")
        self.assertEqual(message, b"sluice: interrupted\n" if process.returncode > 0 else b"")
        self.no_half_file()
        return process.returncode

    def test_they_end_the_reading_of_a_large_document(self):
        layers = "".join(f"  - {{type: dense, name: layer_{i}, features: 4}}\n" for i in range(200_000))
        path = self.write("large.yaml", "format: sluice-model/1\nname: large\nlayers:\n"
                                        "  - {type: input, name: x, shape: [4]}\n" + layers)
        for number in (signal.SIGTERM, signal.SIGINT):  # reading takes seconds
            self.assertEqual(self.ends(number, 0.8, "model", path), 128 + number)

    def test_they_end_the_making_of_a_plan(self):
        path = self.write("chain.yaml", CHAIN)
        for number in (signal.SIGTERM, signal.SIGINT):  # planning takes seconds
            self.ends(number, 0.8, "plan", path, "-o", "chain.plan")
            self.ends(number, 0.8, "run", path, "-o", "chain.h5")
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["chain.yaml"])

    def test_they_end_a_sweep_that_plans(self):
        path = self.write("chain.yaml", CHAIN)
        for number in (signal.SIGTERM, signal.SIGINT):
            self.ends(number, 0.8, "sweep", path, "workload.batch=64..67", "--store", "s.db")
        self.assertEqual([entry.name for entry in self.folder.glob("s.db?*")], [])

    def test_they_end_the_process_in_its_first_moments(self):
        path = self.write("chain.yaml", CHAIN)
        moments = random.Random(5)
        for _ in range(12):
            for number in (signal.SIGTERM, signal.SIGINT):
                self.ends(number, moments.uniform(0, 0.08), "run", path, "-o", "chain.h5")

    def test_an_answer_that_nobody_reads_does_not_keep_the_process_alive(self):
        reading, writing = os.pipe()
        process = subprocess.Popen([PROGRAM, "plan", "alexnet_x200_training"], env=ENVIRONMENT,
                                   stdout=writing, stderr=subprocess.PIPE)  # the output exceeds a pipe's buffer
        os.close(writing)
        os.read(reading, 1)  # the program has begun to write
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, message = process.communicate(timeout=60)
        os.close(reading)
        self.assertEqual((process.returncode, message), (143, b"sluice: interrupted\n"))


class Limits(Attacked):
    def test_a_file_that_may_not_grow_is_reported_as_a_full_disk(self):
        trace = self.folder / "whole.h5"
        self.assertEqual(self.run_it(*RUN, "-o", trace).returncode, 0)
        kept = trace.read_bytes()
        for words in ([*RUN, "-o", trace], ["plan", "alexnet_resident", "-o", "p.plan"],
                      ["export", trace, "--to", "csv", "-o", "t.csv"],
                      ["sweep", *RUN[1:], "workload.batch=1..40", "--store", "s.db"],
                      ["check", "alexnet_resident", "--baseline", "golden", "--update"]):
            size = 1024 if words[0] in ("run", "export", "sweep") else 1
            done = self.run_it(*words, preexec_fn=limited(FSIZE=size))
            self.assertEqual(done.returncode, 5, (words, done.stderr))
            self.assertRegex(done.stderr.decode(), "File too large|too large|disk I/O error|full", words)
            self.no_half_file()
            self.assertEqual(trace.read_bytes(), kept)
            for name in ("p.plan", "t.csv"):
                self.assertFalse((self.folder / name).exists())
        with open(self.folder / "out.txt", "wb") as out:
            done = subprocess.run([PROGRAM, "plan", "alexnet_resident"], env=ENVIRONMENT, stdout=out,
                                  stderr=subprocess.PIPE, preexec_fn=limited(FSIZE=1))
        self.assertEqual(done.returncode, 5)
        self.assertIn(b"standard output: File too large", done.stderr)

    def test_with_few_descriptors_it_says_so(self):
        codes = set()
        for most in range(4, 12):
            for words in ([*RUN, "--executor", "simgrid"], [*RUN, "-o", "t.h5"],
                          [*RUN, "-o", "u.h5", "--executor", "simgrid"],
                          ["plan", "alexnet_resident", "-o", "p.plan"],
                          ["sweep", *RUN[1:], "workload.batch=1,2", "--store", "s.db"]):
                done = self.run_it(*words, preexec_fn=limited(NOFILE=most))
                codes.add(done.returncode)
                if done.returncode == 5:
                    self.assertRegex(done.stderr, b"^sluice: cannot .*\n$")
                self.no_half_file()
        self.assertLessEqual({0, 5}, codes)
        self.assertLessEqual(codes, {0, 5, 127}, "exit code 127: the libraries of the program cannot be opened")

    @unittest.skipIf("asan" in PROGRAM, "the sanitizer takes terabytes of addresses for itself")
    def test_without_memory_for_simgrid_it_says_so(self):
        codes = set()
        # Address spaces of about 100,000 KiB have room for SimGrid's libraries. The smaller of these address spaces
        # have no room for SimGrid's stacks.
        for kib in (*range(96_000, 112_000, 800), 97_656):
            done = self.run_it("run", "alexnet_resident", preexec_fn=limited(AS=kib << 10))
            codes.add(done.returncode)
            self.assertIn(done.returncode, (0, 70), (kib, done.stderr))
            if done.returncode == 70:
                self.assertRegex(done.stderr, rb"^sluice: out of memory \(of this computer", kib)
        self.assertEqual(codes, {0, 70})

    @unittest.skipIf("asan" in PROGRAM, "the sanitizer takes terabytes of addresses for itself")
    def test_without_memory_it_says_so(self):
        codes = set()
        # With limits from 96 to 112 MB, the memory runs out while SimGrid's libraries are loaded or their constructors
        # run. So the test tries more limits in this range.
        for megabytes in (60, 80, *range(96, 112, 2), 120, 130, 140, 160, 200, 240, 400, 800):
            for words in ([*RUN, "--executor", "simgrid", "-o", "t.h5"], [*RUN, "--executor", "replay", "-o", "t.h5"],
                          ["sweep", *RUN[1:], "workload.batch=1,2", "--store", f"s{megabytes}.db"]):
                done = self.run_it(*words, preexec_fn=limited(AS=megabytes * 1_000_000))
                codes.add(done.returncode)
                where = (megabytes, words, done.returncode, done.stderr)
                # Exit code 1 means that some points of the sweep failed. Exit code 127 means that the libraries of the
                # program cannot be loaded.
                self.assertIn(done.returncode, (0, 1, 5, 70, 127), where)
                if done.returncode == 70:
                    self.assertIn(b"out of memory (of this computer, not of the simulated one)", done.stderr, where)
                if done.returncode == 5:
                    self.assertRegex(done.stderr, b"^sluice: cannot (load SimGrid's engine|start a (thread|process)): .*",
                                     where)
                # The dynamic loader also ends the process if it finds no memory while it loads SimGrid's libraries.
                if done.returncode == 127 and done.stderr != b"out of memory\n":
                    self.assertIn(b"error while loading shared libraries", done.stderr, where)
                    self.assertLess(megabytes, 80, where)
                self.no_half_file()
        self.assertLessEqual({0, 70}, codes)

    @unittest.skipIf("asan" in PROGRAM, "the sanitizer takes terabytes of addresses for itself")
    def test_without_memory_every_command_says_so(self):
        """The address space has room for the program's libraries, and little more. The program must answer completely,
        or report that it ran out of memory. The code of a library may use up the memory before main(). The program must
        report this, too."""
        self.assertEqual(self.run_it(*RUN, "-o", "made.h5").returncode, 0)
        self.assertEqual(self.run_it("check", "alexnet_resident", "--baseline", "golden", "--update").returncode, 0)
        loaded = self.least_kib_that_loads()
        # With an address space only a little larger than `loaded`, the code of the libraries runs out of memory. So the
        # first limits, which are near `loaded`, are close together.
        limits = [loaded + more for more in (*range(0, 3_000, 500), *range(4_000, 16_000, 3_000),
                                             *range(32_000, 56_000, 6_000), 72_000)]
        for words in (RUN, [*RUN, "-o", "t.h5"], ["check", "alexnet_resident", "--baseline", "golden"],
                      ["sweep", *RUN[1:], "workload.batch=1,2", "--store", "s.db"],
                      ["fits", "alexnet", "--platform", "k40"], ["show", "made.h5"],
                      ["placement", "alexnet_resident", "platform=optane_server", "cost=roofline", "--fast", "50%"],
                      ["export", "made.h5", "--to", "chrome"], ["export", "made.h5", "--to", "perfetto", "-o", "e.trace"]):
            self.remove_stores()
            whole = self.run_it(*words)
            self.assertEqual(whole.returncode, 0, (words, whole.stderr))
            for kib in limits:
                self.remove_stores()
                done = self.run_it(*words, preexec_fn=limited(AS=kib << 10))
                where = (kib, words, done.returncode, done.stderr)
                # Exit code 1 means that a point of the sweep failed, because there was no memory for its process. Then
                # the row of this point in the table has an error.
                self.assertIn(done.returncode, (0, 1, 70) if words[0] == "sweep" else (0, 70), where)
                if done.returncode == 70:
                    self.assertRegex(done.stderr, rb"^sluice: .*out of memory \(of this computer, not of the simulated one",
                                     where)
                    self.assertEqual(done.stderr.count(b"sluice: "), 1, where)
                else:
                    self.assertTrue(done.returncode != 0 or done.stdout == whole.stdout, (where, done.stdout))
                self.no_half_file()

    def remove_stores(self):
        for path in self.folder.glob("s.db*"):
            path.unlink()

    def least_kib_that_loads(self):
        """Returns the least address space in KiB with room for the program's libraries, to within 200 KiB. The system
        draws addresses at random. So the result differs a little from run to run."""
        enough = 16_000
        while not self.loads(enough):
            enough *= 2
            self.assertLessEqual(enough, 256_000)
        few = enough // 2
        self.assertFalse(self.loads(few))
        while enough - few > 100:
            middle = (few + enough) // 2
            few, enough = (few, middle) if self.loads(middle) else (middle, enough)
        return enough + 100

    def loads(self, kib):
        """Returns whether the program's libraries can be loaded and started in this address space. If they cannot be
        loaded, the loader ends the process with exit code 127. If they cannot be started, GnuTLS ends the process
        before main(), with a message of its own or by a crash."""
        done = self.run_it("--version", preexec_fn=limited(AS=kib << 10))
        if done.returncode in (0, 70):
            return True
        self.assertTrue(done.stderr or done.returncode == -signal.SIGSEGV, (kib, done.returncode))
        self.assertNotIn(b"sluice: ", done.stderr.replace(PROGRAM.encode() + b": error while loading", b""), kib)
        return False

    def test_without_a_standard_output_an_answer_is_not_given(self):
        for words in (RUN, [*RUN, "--json"], [*RUN, "--executor", "simgrid"], [*RUN, "-o", "t.h5"],
                      ["plan", "alexnet_resident"], ["model", "alexnet"], ["list"], ["help"],
                      ["sweep", *RUN[1:], "workload.batch=1,2"]):
            done = subprocess.run([PROGRAM, *words], cwd=self.folder, env=ENVIRONMENT, stderr=subprocess.PIPE,
                                  preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, 5, words)
            self.assertEqual(done.stderr, b"sluice: cannot write to standard output: Bad file descriptor\n")
        done = subprocess.run([PROGRAM, *RUN], env=ENVIRONMENT, stdout=subprocess.PIPE,
                              preexec_fn=lambda: (os.close(0), os.close(2)))
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"It fits", done.stdout)

    def test_yaml_that_would_take_all_memory_is_refused(self):
        path = self.folder / "huge.yaml"
        with open(path, "wb") as file:
            file.write(b"format: sluice-model/1\n")
            for _ in range(300):
                file.write(b"# a comment that is read, too\n" * 33_334)
        done = self.run_it("model", path, preexec_fn=limited(AS=1_500_000_000, CPU=20))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"huge.yaml: error: 300 MB of YAML are too many: at most 64 MB are read", done.stderr)
        self.assertIn(b"Write the document as JSON", done.stderr)


class Names(Attacked):
    MODEL = {"format": "sluice-model/1", "name": "small \U0001F600", "layers": [
        {"type": "input", "name": "x", "shape": [4]}, {"type": "dense", "name": "d \U0001F680", "features": 4}]}

    def test_characters_that_json_writes_as_surrogates_are_read_in_both_forms(self):
        text = json.dumps(self.MODEL)  # only ASCII
        self.assertIn("\\ud83d\\ude80", text)
        for name in ("small.yaml", "small.json", "small"):
            path = self.write(name, text)
            done = self.run_it("model", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("d \U0001F680", done.stdout.decode())
        scenario = {"format": "sluice-scenario/1", "model": "small.yaml", "platform": "a100_pcie",
                    "policy": "resident", "workload": {"batch": 1}}
        path = self.write("s.yaml", json.dumps(scenario))
        done = self.run_it("plan", path, "-o", "small.plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\U0001F680", (self.folder / "small.plan").read_text())
        self.assertEqual(self.run_it("run", "small.plan", "-o", "t.h5").returncode, 0)
        self.assertEqual(self.run_it("run", path, "--json").returncode, 0)

    def test_a_name_of_a_trace_that_json_cannot_hold_is_refused(self):
        name = os.fsdecode(b"t\xff.h5")
        done = self.run_it(*RUN, "-o", name, "--json")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"is not UTF-8", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(self.run_it(*RUN, "-o", name).returncode, 0)
        self.assertEqual(os.listdir(os.fsencode(self.folder)), [b"t\xff.h5"])

    def test_a_scenario_whose_name_json_cannot_hold_still_answers_in_json(self):
        source = (ROOT / "scenarios/alexnet_resident.yaml").read_text().replace("../", f"{ROOT}/")
        with open(os.fsencode(self.folder) + b"/s\xff.yaml", "w") as file:
            file.write(source)
        for words in (["run", "--json"], ["sweep", "workload.batch=1,2", "--json"],
                      ["check", "--baseline", "b", "--update"], ["check", "--baseline", "b", "--format", "json"]):
            done = self.run_it(words[0], os.fsdecode(b"s\xff.yaml"), *words[1:])
            self.assertEqual(done.returncode, 0, done.stderr)
            if "--update" not in words:
                json.loads(done.stdout.decode("utf-8"))


    def test_what_is_written_for_a_scenario_whose_name_is_not_utf8_reads_back(self):
        """The names of scenarios, plans, traces and folders, and the values of options, may have bytes that are not
        UTF-8."""
        source = (ROOT / "scenarios/alexnet_resident.yaml").read_text().replace("../", f"{ROOT}/")
        folder, scenario, trace, plan = (os.fsdecode(name) for name in (b"d\xff", b"d\xff/s\xff.yaml", b"t\xff.h5",
                                                                        b"p\xff.plan"))
        os.mkdir(self.folder / folder)
        (self.folder / scenario).write_text(source)
        for words in (["plan", scenario, "-o", plan], ["run", plan], ["run", scenario, "-o", trace], ["show", trace],
                      ["export", trace, "--to", "chrome", "-o", trace + ".json"],
                      ["check", scenario, "--baseline", folder, "--update"], ["check", scenario, "--baseline", folder]):
            done = self.run_it(*words)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        resolved = self.run_it("run", scenario, "--resolve").stdout
        (self.folder / "resolved.yaml").write_bytes(resolved)
        self.assertEqual(self.run_it("run", "resolved.yaml").stdout, self.run_it("run", scenario).stdout)
        for path in (self.folder / plan, self.folder / "resolved.yaml", self.folder / (trace + ".json"),
                     *(self.folder / folder).glob("*.plan")):
            path.read_bytes().decode("utf-8")
        done = self.run_it("run", os.fsdecode(b"n\xff.yaml"))
        self.assertEqual(done.returncode, 5)
        self.assertIn(b"cannot read 'n\xff.yaml': No such file", done.stderr)


if __name__ == "__main__":
    if not pathlib.Path(PROGRAM).exists():
        print(f"skipped: there is no {PROGRAM}; SLUICE_PROGRAM names the program")
        sys.exit(77)
    unittest.main(verbosity=2)
