#!/usr/bin/python3
"""Tests code for GPUs with stand-ins for the libraries and programs of a GPU. The stand-in of NVML reports known
joules, and the stand-in of nvidia-smi reports known watts. The stand-ins of CUDA and of torch copy at known rates. A
second stand-in of torch has streams that overlap. The real libraries are not called here."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from sluice_package import need, sluice

need("numpy", "pandas")
from sluice import meters  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
COMPILER = shutil.which("c++") or shutil.which("g++")

NVML = r"""
#include <stddef.h>
static unsigned long long millijoules = 5000;
extern "C" int nvmlInit_v2() { return 0; }
extern "C" int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
  if (index != 1) return 6;  // not found
  *gpu = &millijoules;
  return 0;
}
extern "C" int nvmlDeviceGetTotalEnergyConsumption(void* gpu, unsigned long long* energy) {
  if (gpu != &millijoules) return 2;
  *energy = millijoules += 250;
  return 0;
}
"""

# Each copy occupies the GPU for 5 us + bytes / rate. The first copy after a pause takes 3 us more.
CUDA = r"""
#pragma once
#include <cstdlib>
#include <cstring>
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
struct cudaDeviceProp { char name[256]; };
using cudaEvent_t = double*;
inline double now = 0;
inline bool idle = true;
inline const void* pinned_memory = nullptr;
inline const char* cudaGetErrorString(cudaError_t) { return "none"; }
inline cudaError_t cudaEventCreate(cudaEvent_t* event) { *event = new double(0); return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { idle = true; return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event) { *event = now; return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { idle = true; return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  *ms = static_cast<float>(1e3 * (*b - *a));
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool down = kind == cudaMemcpyHostToDevice;
  const bool pinned = (down ? from : to) == pinned_memory;
  now += (idle ? 3e-6 : 0) + 5e-6 + static_cast<double>(bytes) / (pinned ? (down ? 24e9 : 20e9) : 6e9);
  idle = false;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* given, int) {
  std::strcpy(given->name, "Stand-in: one");
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** memory, std::size_t) { *memory = std::malloc(1); return cudaSuccess; }
inline cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  pinned_memory = *memory = std::malloc(bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* memory) { std::free(memory); return cudaSuccess; }
inline cudaError_t cudaFree(void* memory) { std::free(memory); return cudaSuccess; }
"""

TORCH = '''
"""The part of torch that copies.py uses, with the rates of the CUDA stand-in."""

__version__, uint8 = "stand-in", "uint8"
_now, _idle = 0.0, True


class Tensor:
    def __init__(self, size, where):
        self.size, self.where = size, where

    def copy_(self, source, non_blocking=False):
        global _now, _idle
        assert non_blocking and source.size == self.size
        host = source.where if self.where == "device" else self.where
        rate = 6e9 if host == "pageable" else 24e9 if self.where == "device" else 20e9
        _now += (3e-6 if _idle else 0) + 5e-6 + self.size / rate
        _idle = False


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = _now

    def synchronize(self):
        global _idle
        _idle = True

    def elapsed_time(self, end):
        return 1e3 * (end.at - self.at)


class cuda:
    Event = Event

    @staticmethod
    def synchronize():
        global _idle
        _idle = True

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def get_device_name():
        return "Stand-in: one"


class version:
    cuda = "12.0"


def device(name):
    return name


def empty(size, dtype, device):
    return Tensor(size, "device")


def ones(size, dtype, pin_memory):
    return Tensor(size, "pinned" if pin_memory else "pageable")
'''

# A stand-in of torch whose streams run at the same time. A copy to the GPU has 20 GB/s, and a copy to the host has 10
# GB/s. A product has 1 TFLOP/s.
STREAMS = '''
"""The part of torch that streamed_overlap.py calls: streams whose clocks wait for events."""

from contextlib import contextmanager

float32 = "float32"
_streams = []


class dtype:
    """Empty, since the package sluice only checks whether a value is a torch.dtype."""



class Stream:
    def __init__(self):
        self.now = 0.0
        _streams.append(self)

    def wait_event(self, event):
        self.now = max(self.now, event.at)


_current = _default = Stream()


class Event:
    def __init__(self, enable_timing=False):
        self.timing = enable_timing

    def record(self, stream=None):
        self.at = (stream or _current).now

    def synchronize(self):
        assert self.timing

    def elapsed_time(self, end):
        assert self.timing and end.timing
        return 1e3 * (end.at - self.at)


class Tensor:
    def __init__(self, rows, columns, pinned):
        self.rows, self.columns, self.pinned = rows, columns, pinned

    def copy_(self, source, non_blocking=False):
        assert non_blocking and (self.rows, self.columns) == (source.rows, source.columns)
        assert self.pinned != source.pinned
        _current.now += 4 * self.rows * self.columns / (20e9 if source.pinned else 10e9)


def mm(a, b, out):
    assert a.columns == b.rows and (out.rows, out.columns) == (a.rows, b.columns) and out is not a
    _current.now += 2 * a.rows * a.columns * b.columns / 1e12


def empty(rows, columns, dtype, device):
    assert (dtype, device) == (float32, "cuda")
    return Tensor(rows, columns, False)


def ones(rows, columns, dtype, pin_memory):
    assert dtype == float32 and pin_memory
    return Tensor(rows, columns, True)


class cuda:
    Event, Stream = Event, Stream

    @staticmethod
    @contextmanager
    def stream(stream):
        global _current
        before, _current = _current, stream
        yield
        _current = before

    @staticmethod
    def synchronize():
        latest = max(stream.now for stream in _streams)
        for stream in _streams:
            stream.now = latest

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def get_device_name():
        return "Stand-in: streams"
'''

SMI = """#!/bin/sh
case "$*" in *"--id=2"*) echo '[N/A]'; exit;; *"--query-gpu=power.draw"*"nounits"*) ;; *) echo what; exit 1;; esac
while read -r line; do echo "$line"; done < "$(dirname "$0")/power"
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compiled(self, text, *words):
        if not COMPILER:
            self.skipTest("no compiler is here")
        (self.folder / "source.cpp").write_text(text)
        out = self.folder / "made"
        subprocess.run([COMPILER, "-std=c++20", "-I", self.folder, "-o", out, *words], check=True, cwd=self.folder)
        return out


class Meters(Folder):
    def test_nvml_counts_millijoules_of_the_requested_gpu(self):
        library = str(self.compiled(NVML, "-shared", "-fPIC", "source.cpp"))
        meter = meters.Nvml(1, library, watts=200)
        before = meter.joules()
        self.assertAlmostEqual(meter.joules() - before, 0.25)
        self.assertEqual(meter.resolution_j, 20)
        with self.assertRaisesRegex(sluice.IoError, "no GPU 0"):
            meters.Nvml(0, library)
        without = NVML.replace("nvmlDeviceGetTotalEnergyConsumption", "nvmlOther")
        library = shutil.copy(self.compiled(without, "-shared", "-fPIC", "source.cpp"), self.folder / "other")
        with self.assertRaisesRegex(sluice.IoError, "nvmlDeviceGetTotalEnergyConsumption"):
            meters.Nvml(1, str(library))

    def smi(self, index=0):
        program = self.folder / "nvidia-smi"
        program.write_text(SMI)
        program.chmod(0o755)
        power = self.folder / "power"
        if not power.exists():
            os.mkfifo(power)
        self.now = 0.0
        return lambda: meters.NvidiaSmi(index, str(program), clock=lambda: self.now)

    def test_nvidia_smi_is_integrated_sample_by_sample(self):
        start = self.smi()
        writer = subprocess.Popen(["sh", "-c", "exec cat > power"], cwd=self.folder, stdin=subprocess.PIPE)
        self.addCleanup(writer.communicate)

        def says(text, samples, meter=None):
            writer.stdin.write(text.encode())
            writer.stdin.flush()
            end = time.monotonic() + 20
            while meter and meter.samples < samples and time.monotonic() < end:
                time.sleep(0.005)

        says("100.00\n", 1)
        meter = start()
        self.addCleanup(meter.close)
        self.assertEqual((meter.samples, meter.joules(), meter.resolution_j), (1, 0, 300))
        self.now = 2.0
        self.assertEqual(meter.joules(), 200)
        says("300.50\n", 2, meter)
        self.now = 3.0
        self.assertEqual(meter.joules(), 200 + 300.5)
        writer.stdin.close()
        writer.wait()
        with self.assertRaisesRegex(sluice.IoError, "has ended"):
            for _ in range(2000):
                meter.joules()
                time.sleep(0.005)

    def test_nvidia_smi_without_power_is_not_a_meter(self):
        with self.assertRaisesRegex(sluice.IoError, r"no power of this GPU, but '\[N/A\]'"):
            self.smi(2)()
        with self.assertRaisesRegex(sluice.IoError, "cannot be started"):
            meters.NvidiaSmi(0, str(self.folder / "none"))


class Copies(Folder):
    def check_link(self, profile):
        done = subprocess.run([PROGRAM, "profile", "link", profile, "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {(one["direction"], one["memory"]): one for one in json.loads(done.stdout)["directions"]}
        rates = {("down", "pinned"): 24e9, ("up", "pinned"): 20e9, ("down", "pageable"): 6e9, ("up", "pageable"): 6e9}
        self.assertEqual(set(found), set(rates))
        for way, rate in rates.items():
            self.assertAlmostEqual(found[way]["bandwidth_bytes_per_s"] / rate, 1, 3)
            # The script queues 4 to 64 copies without a pause. Only the first copy of a queue takes 3 us more.
            self.assertLess(abs(found[way]["setup_s"] - 5e-6), 0.1e-6)
            self.assertLess(abs(found[way]["latency_s"] - 3e-6), 0.1e-6)

    def test_the_script_of_torch_measures_its_link(self):
        (self.folder / "torch.py").write_text(TORCH)
        profile = self.folder / "copies.csv"
        done = subprocess.run([sys.executable, ROOT / "analysis/measure/copies.py", profile, "--repetitions", "3"],
                              env={**os.environ, "PYTHONPATH": str(self.folder)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_link(profile)

    def test_the_program_of_cuda_measures_its_link(self):
        (self.folder / "cuda_runtime.h").write_text(CUDA)
        script = ROOT / "analysis/measure/copies.cu"
        text = script.read_text().replace("std::size_t{1} << 30", "std::size_t{1} << 24")  # the test needs less memory
        program = self.compiled(text, "-Wall", "-Wextra", "-Werror", "source.cpp")
        profile = self.folder / "copies.csv"
        profile.write_text(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
        self.check_link(profile)


class Overlap(Folder):
    def test_the_script_measures_and_simulates_how_computing_hides_copies(self):
        (self.folder / "torch.py").write_text(STREAMS)
        package = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, ROOT / "analysis/measure/streamed_overlap.py", "--layers", "6", "--width", "1000",
             "--batches", "50", "250", "--repetitions", "2"],
            env={**os.environ, "PYTHONPATH": package}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Stand-in: streams, 6 layers of 1000 x 1000", done.stdout)
        # The weights of a layer have 4 MB and take 0.2 ms to copy. If nothing is computed, the weights of 6 layers take
        # 1.2 ms. With a batch of 50 rows, a layer computes for 0.1 ms. The input has 0.2 MB and takes 0.01 ms to the
        # GPU. The answer has 0.2 MB, too, and takes 0.02 ms to the host. Copies limit the speed, so the run takes 0.01
        # + 6 x 0.2 + 0.1 + 0.02 = 1.33 ms. The simulated link has the same speed in both directions, so the answer
        # takes 0.01 ms, and the simulated run takes 1.32 ms. If nothing is copied, the 6 layers take 0.6 ms. So 1.2 +
        # 0.6 - 1.33 = 0.47 ms of the computation run during copies. In the simulated run, 0.48 ms run during copies.
        # With a batch of 250 rows, a layer computes for 0.5 ms, the input takes 0.05 ms and the answer takes 0.1 ms.
        # Computation limits the speed, so the run takes 0.05 + 0.2 + 6 x 0.5 + 0.1 = 3.35 ms. If nothing is copied, the
        # 6 layers take 3 ms. So 1.2 + 3 - 3.35 = 0.85 ms of the copies run during computations. In the simulated run,
        # the answer takes 0.05 ms, so the run takes 3.3 ms, and 0.9 ms of the copies run during computations.
        self.assertEqual([line.strip("| ").split(" | ") for line in done.stdout.splitlines()[-2:]],
                         [["50", "1.200", "0.600", "1.330", "1.320", "-0.8 %", "78.3 %", "80.0 %"],
                          ["250", "1.200", "3.000", "3.350", "3.300", "-1.5 %", "70.8 %", "75.0 %"]])


if __name__ == "__main__":
    unittest.main()
