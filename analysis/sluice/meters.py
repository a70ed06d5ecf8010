"""Meters of energy. A meter counts the joules of a device.

A meter has three members. `name` is its name in the header of a profile. `resolution_j` is its smallest step in joules.
`joules()` returns the count, which never falls. Any object with these members is a meter. The meters of this module
read counters of the operating system and of drivers, or the output of nvidia-smi."""

from __future__ import annotations

import ctypes
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, Optional, Protocol

from . import errors


class Meter(Protocol):
    """The members of a meter that profile_torch needs."""

    name: str
    resolution_j: float

    def joules(self) -> float:
        """Returns the joules that the device has taken since a fixed moment. The number never falls."""


class Rapl:
    """The energy of the processor packages, from the counters that Linux shows under /sys/class/powercap. The counters
    are updated about every millisecond, and start again from 0 when they reach `max_energy_range_uj`."""

    name = "rapl"

    def __init__(self, folder: str = "/sys/class/powercap", watts: float = 100.0) -> None:
        """`watts` is the approximate power of a package. The resolution is the energy that all packages together take
        in a millisecond at this power.

        If no package can be read, raises IoError. Reading often requires root."""
        self._packages = sorted(one for one in Path(folder).glob("intel-rapl:*")
                                if one.name.count(":") == 1)
        if not self._packages:
            raise errors.IoError(f"there is no RAPL counter under {folder}")
        self._ranges = [self._read(one / "max_energy_range_uj") + 1 for one in self._packages]
        self._last = [self._read(one / "energy_uj") for one in self._packages]
        self._sum_uj = 0
        self.resolution_j = 1e-3 * watts * len(self._packages)

    @staticmethod
    def _read(file: Path) -> int:
        try:
            return int(file.read_text())
        except OSError as error:
            raise errors.IoError(f"{file} cannot be read ({error.strerror}); often only root may read it") from None

    def joules(self) -> float:
        """Returns the joules of all packages together. Counters restart from 0 at times. To notice each restart, call
        this method every few minutes."""
        for number, package in enumerate(self._packages):
            now = self._read(package / "energy_uj")
            self._sum_uj += (now - self._last[number]) % self._ranges[number]
            self._last[number] = now
        return self._sum_uj / 1e6


class Nvml:
    """The energy of an NVIDIA GPU, Volta or later. NVML, the library of NVIDIA's driver, updates its count about every
    100 ms."""

    name = "nvml"

    def __init__(self, index: int = 0, library: str = "libnvidia-ml.so.1", watts: float = 300.0) -> None:
        """`watts` is the approximate power of the GPU. The resolution is the energy of 100 ms at this power.

        Raises IoError if there is no such library, GPU or counter."""
        try:
            self._nvml = ctypes.CDLL(library)
        except OSError as error:
            raise errors.IoError(f"NVML cannot be loaded ({error})") from None
        self._gpu = ctypes.c_void_p()
        self._must("nvmlInit_v2", "cannot be started")
        self._must("nvmlDeviceGetHandleByIndex_v2", f"has no GPU {index}", index, ctypes.byref(self._gpu))
        self.resolution_j = 0.1 * watts
        self.joules()

    def _must(self, name: str, trouble: str, *arguments: Any) -> None:
        try:
            code = getattr(self._nvml, name)(*arguments)
        except AttributeError:
            raise errors.IoError(f"NVML is too old: it has no {name}") from None
        if code != 0:
            raise errors.IoError(f"NVML {trouble} (NVML's error {code})")

    def joules(self) -> float:
        """Returns the joules since the driver was loaded."""
        millijoules = ctypes.c_ulonglong()
        self._must("nvmlDeviceGetTotalEnergyConsumption", "has no counter of energy for this GPU", self._gpu,
                   ctypes.byref(millijoules))
        return millijoules.value / 1e3


class NvidiaSmi:
    """The energy of an NVIDIA GPU, from the power that nvidia-smi prints repeatedly. This meter is for GPUs before
    Volta, and for machines without NVML. From one sample to the next, the meter assumes the earlier power."""

    name = "nvidia-smi"
    AVERAGED_S = 1.0  # on Ampere and later GPUs, nvidia-smi prints the mean power of the last second

    def __init__(self, index: int = 0, program: str = "nvidia-smi", every_s: float = 0.1, watts: float = 300.0,
                 clock: Callable[[], float] = time.monotonic, patience_s: float = 10.0) -> None:
        """`watts` is the approximate power of the GPU. The resolution is the energy that the GPU takes at this power in
        one second, or in `every_s` seconds if this is longer.

        Raises IoError if the program is missing. Raises IoError if the program prints no power within `patience_s`."""
        self.resolution_j = max(self.AVERAGED_S, every_s) * watts
        self._clock, self._joules, self._watts, self._since = clock, 0.0, 0.0, 0.0
        self.samples = 0
        self._trouble = ""
        self._news = threading.Condition()
        try:
            self._process = subprocess.Popen(
                [program, f"--id={index}", "--query-gpu=power.draw", "--format=csv,noheader,nounits",
                 f"--loop-ms={max(1, round(1e3 * every_s))}"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
        except OSError as error:
            raise errors.IoError(f"{program} cannot be started ({error.strerror})") from None
        threading.Thread(target=self._read, daemon=True).start()
        with self._news:
            self._news.wait_for(lambda: self.samples or self._trouble, patience_s)
            trouble = self._trouble or ("" if self.samples else "it prints no power")
        if trouble:
            self.close()
            raise errors.IoError(f"{program}: {trouble}")

    def _read(self) -> None:
        trouble = "it has ended"
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                try:
                    self._sample(float(line))
                except ValueError:  # the line is [N/A] or a sentence
                    trouble = f"no power of this GPU, but '{line.strip()}'"
                    break
        with self._news:
            self._trouble = trouble
            self._news.notify_all()

    def _sample(self, watts: float) -> None:
        with self._news:
            now = self._clock()
            self._joules += self._watts * (now - self._since) if self.samples else 0.0
            self._watts, self._since = watts, now
            self.samples += 1
            self._news.notify_all()

    def joules(self) -> float:
        """Returns the joules since the first sample. Raises IoError if the program has ended in the meantime."""
        with self._news:
            if self._trouble:
                raise errors.IoError(f"nvidia-smi: {self._trouble}")
            return self._joules + self._watts * (self._clock() - self._since)

    def close(self) -> None:
        """Ends the program."""
        self._process.kill()
        self._process.wait()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()


def find_meter(cuda: Optional[int] = None) -> Optional[Meter]:
    """Returns the meter of the given GPU, or of the processor if no GPU is given. Returns None if there is no meter.
    GPUs are numbered as in NVML, by their positions on the bus. With CUDA_DEVICE_ORDER=PCI_BUS_ID, CUDA numbers GPUs in
    the same way."""
    kinds: list[Callable[[], Meter]] = [Rapl] if cuda is None else [lambda: Nvml(cuda), lambda: NvidiaSmi(cuda)]
    for kind in kinds:
        try:
            return kind()
        except errors.IoError:
            pass
    return None


def idle_watts(meter: Meter, seconds: float = 5.0, clock: Callable[[], float] = time.perf_counter,
               sleep: Callable[[float], None] = time.sleep) -> float:
    """Returns the power of the device at rest: the joules of a pause divided by its length."""
    joules, start = meter.joules(), clock()
    sleep(seconds)
    return (meter.joules() - joules) / (clock() - start)
