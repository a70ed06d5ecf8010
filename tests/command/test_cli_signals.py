#!/usr/bin/python3
"""An interrupted run must leave a readable trace, and print one line."""

import pathlib
import random
import signal
import time

from cli_case import Cli, main, start


class Signals(Cli):
    """Interrupts a run that takes minutes. The run uses SimGrid, because the replay would skip the steady state."""
    LONG = ["run", "alexnet_resident", "workload.steps=50000000", "--executor", "simgrid"]

    def interrupt(self, number, trace):
        process = start(*self.LONG, "-o", trace)
        part = pathlib.Path(f"{trace}.part")
        for _ in range(600):
            if part.exists() and part.stat().st_size > 100_000:
                break
            self.assertIsNone(process.poll(), "the program ended by itself")
            time.sleep(0.1)
        sent = time.monotonic()
        process.send_signal(number)
        output, message = process.communicate(timeout=60)
        return process.returncode, output, message, time.monotonic() - sent

    def test_ctrl_c_leaves_an_aborted_trace_within_two_seconds(self):
        trace = self.folder / "t.h5"
        code, output, message, seconds = self.interrupt(signal.SIGINT, trace)
        self.assertEqual((code, output, message), (130, "", "sluice: interrupted\n"))
        self.assertLess(seconds, 2)
        self.assertFalse(pathlib.Path(f"{trace}.part").exists())
        text = self.answers("show", trace)
        self.assertIn("aborted: the run did not reach its end", text)
        self.check_with_h5py(trace)

    def test_ctrl_c_at_any_moment_says_one_line(self):
        # A scenario with four cards whose transfers share a switch. At any time, some of these transfers are running.
        scenario = self.folder / "four.yaml"
        scenario.write_text("format: sluice-scenario/1\nmodel: cnn_mnist\n"
                            "platform: {file: four_v100_switch, links: {host: {bandwidth: 1GB/s}}}\n"
                            "workload: {mode: training, batch: 128, micro_batch: 32, steps: 1000000}\n"
                            "policy: {name: data_parallel, replica: resident}\n"
                            "stages: per_layer\nfates: offload_all\n")
        moments = random.Random(11)
        for number in range(10):
            trace = self.folder / f"{number}.h5"
            process = start("run", scenario, "--executor", "simgrid", "-o", trace)
            part = pathlib.Path(f"{trace}.part")
            while not part.exists() or part.stat().st_size == 0:
                self.assertIsNone(process.poll(), "the program ended by itself")
                time.sleep(0.02)
            time.sleep(moments.uniform(0, 0.5))
            process.send_signal(signal.SIGINT)
            output, message = process.communicate(timeout=60)
            self.assertEqual((process.returncode, output, message), (130, "", "sluice: interrupted\n"))

    def check_with_h5py(self, trace):
        try:
            import h5py
        except ImportError:
            return
        with h5py.File(trace) as file:
            status = file.attrs["status"]
            self.assertEqual(status.decode() if isinstance(status, bytes) else status, "aborted")
            self.assertGreater(len(file["spans/start"]), 0)

    def test_sigterm_does_the_same(self):
        trace = self.folder / "t.h5"
        code, _, _, seconds = self.interrupt(signal.SIGTERM, trace)
        self.assertEqual(code, 143)
        self.assertLess(seconds, 2)
        self.assertIn("aborted", self.answers("show", trace))


if __name__ == "__main__":
    main()
