"""Meters of energy: objects that say how many joules a device has taken since some time.

A meter has `name` (as the header of a profile says it), `resolution_j` (the least step that it sees)
and `joules()`, which never falls. What the operating system or the driver offers stands here; any
object with these three will do.
"""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import Callable, Optional, Protocol

from . import errors


class Meter(Protocol):
    """What profile_torch asks of a meter."""

    name: str
    resolution_j: float

    def joules(self) -> float:
        """Taken since some time; never less than before."""


class Rapl:
    """The processor packages, by the counters that Linux shows under /sys/class/powercap. They are
    renewed about every millisecond, and begin again at their `max_energy_range_uj`."""

    name = "rapl"

    def __init__(self, folder: str = "/sys/class/powercap", watts: float = 100.0) -> None:
        """`watts`: about what a package takes, for the resolution: a step is a millisecond of it.

        Raises IoError where no package can be read (it often takes root)."""
        self._packages = sorted(one for one in Path(folder).glob("intel-rapl:*")
                                if one.name.count(":") == 1)
        if not self._packages:
            raise errors.IoError(f"no RAPL counter is under {folder}")
        self._ranges = [self._read(one / "max_energy_range_uj") + 1 for one in self._packages]
        self._last = [self._read(one / "energy_uj") for one in self._packages]
        self._sum_uj = 0
        self.resolution_j = 1e-3 * watts * len(self._packages)

    @staticmethod
    def _read(file: Path) -> int:
        try:
            return int(file.read_text())
        except OSError as error:
            raise errors.IoError(f"{file} cannot be read ({error.strerror}); it often takes root") from None

    def joules(self) -> float:
        """Of all packages together. To be asked at least once in each round of the counters (minutes)."""
        for number, package in enumerate(self._packages):
            now = self._read(package / "energy_uj")
            self._sum_uj += (now - self._last[number]) % self._ranges[number]
            self._last[number] = now
        return self._sum_uj / 1e6


class Nvml:
    """A GPU of NVIDIA's, by the counter of NVML, the library of its driver (Volta and later). It is
    renewed about every 100 ms."""

    name = "nvml"

    def __init__(self, index: int = 0, library: str = "libnvidia-ml.so.1", watts: float = 300.0) -> None:
        """`watts`: about what the GPU takes, for the resolution: a step is 100 ms of it.

        Raises IoError where there is no such library, GPU or counter."""
        try:
            self._nvml = ctypes.CDLL(library)
        except OSError as error:
            raise errors.IoError(f"NVML is not here ({error})") from None
        self._gpu = ctypes.c_void_p()
        self._must(self._nvml.nvmlInit_v2(), "cannot be started")
        self._must(self._nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(self._gpu)),
                   f"has no GPU {index}")
        self.resolution_j = 0.1 * watts
        self.joules()

    @staticmethod
    def _must(code: int, what: str) -> None:
        if code != 0:
            raise errors.IoError(f"NVML {what} (its error {code})")

    def joules(self) -> float:
        """Since the driver was loaded."""
        millijoules = ctypes.c_ulonglong()
        self._must(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._gpu, ctypes.byref(millijoules)),
                   "has no counter of energy for this GPU")
        return millijoules.value / 1e3


def find_meter(cuda: Optional[int] = None) -> Optional[Meter]:
    """The meter of that GPU, or of the processor where none is given; None where there is none."""
    try:
        return Rapl() if cuda is None else Nvml(cuda)
    except errors.IoError:
        return None


def idle_watts(meter: Meter, seconds: float = 5.0, clock: Callable[[], float] = time.perf_counter,
               sleep: Callable[[float], None] = time.sleep) -> float:
    """What the device takes at rest: joules of a pause over its length."""
    joules, start = meter.joules(), clock()
    sleep(seconds)
    return (meter.joules() - joules) / (clock() - start)
