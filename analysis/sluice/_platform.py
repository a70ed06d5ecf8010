"""Platforms. A platform has devices, memories, and the links between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _documents, _sluice, errors
from ._checked import checked
from ._late import late
from .words import Dtype

if TYPE_CHECKING:
    import pandas


@checked
class Platform:
    """A machine. `sluice.platform(name_or_path)` and Platform(name_or_path) read a Platform."""

    _native: Any
    _document: str

    def __init__(self, source: Union[str, Path, Mapping]) -> None:
        made = (Platform.from_dict(source) if isinstance(source, Mapping) else platform(source))
        self._native, self._document = made._native, made._document

    @classmethod
    def _of(cls, native: Any, document: str = "{}") -> Platform:
        made = cls.__new__(cls)
        made._native, made._document = native, document
        return made

    @classmethod
    def from_dict(cls, document: Mapping, name: str = "<dict>") -> Platform:
        """Returns a platform from a sluice-platform/1 document (platforms/FORMAT.md). Raises InputError."""
        text = _documents.to_json(_documents.plain(document), indent=2)
        return cls._of(*_sluice.parse_platform(text, name))

    @property
    def name(self) -> str:
        """The name of the machine."""
        return self._native.name

    @property
    def document(self) -> dict:
        """The `platform:` mapping of a scenario that uses this platform."""
        return json.loads(self._document)

    def _as_document(self) -> dict:
        return self.document

    @property
    def device_names(self) -> list[str]:
        """The names of the devices in the order of the document. A device `gpu` with a count of 2 becomes two devices,
        gpu0 and gpu1."""
        return [device.name for device in self._native.devices]

    @property
    def host(self) -> str:
        """The name of the host: the memory from which weights come, and to which answers go."""
        return self._native.host().name

    def capacity(self, node: str) -> Optional[int]:
        """Returns the capacity of a memory in bytes. None means unlimited. `node` is a name. A device's name means its
        first memory. "gpu_ddr" means another memory of the device gpu. Any other name means a memory of the
        platform."""
        for one in [*self._native.devices, *self._native.memories]:
            if one.name == node:
                return one.capacity
        for device in self._native.devices:
            for memory in device.memories:
                if memory.pool == node:
                    return memory.capacity
        return self._native.device(node).capacity  # raises an error that lists the names of the devices

    def flop_per_s(self, device: str, dtype: Dtype = "float32") -> float:
        """Returns the FLOP/s that the device reaches: rate x efficiency."""
        return self._native.device(device).flop_per_s(_documents.dtype_name(dtype))

    def bandwidth(self, source: str, target: str) -> float:
        """Returns the bandwidth in byte/s of the narrowest link on the route from one memory to another memory."""
        return self._native.path(source, target)[2]

    def devices(self) -> pandas.DataFrame:
        """Returns one row per device. The columns include capacity (bytes), memory_bandwidth (byte/s), launch_overhead
        (s), idle_w, busy_w (watts), and the peak FLOP/s of each element type."""
        pandas = late("pandas")
        rows = []
        for device in self._native.devices:
            rows.append({"device": device.name, "capacity": device.capacity,
                         "memory_bandwidth": device.memory_bandwidth,
                         "efficiency": device.efficiency,
                         "roofline_compute": device.roofline_compute,
                         "roofline_memory": device.roofline_memory,
                         "launch_overhead": device.launch_overhead, "idle_w": device.idle_w,
                         "busy_w": device.busy_w,
                         **{f"{dtype}_flop_per_s": rate for dtype, rate in device.rate.items()}})
        return pandas.DataFrame(rows).set_index("device")

    def memories(self) -> pandas.DataFrame:
        """Returns one row for each memory that a device reaches without a link. The first row of a device is for its
        default memory. The column `pool` is the name of the memory in plans. `own` says whether only this device has
        the memory. `capacity` is in bytes, and the rates `read` and `write` are in byte/s."""
        pandas = late("pandas")
        rows = [{"device": device.name, "pool": memory.pool, "own": memory.own,
                 "capacity": memory.capacity, "read": memory.read, "write": memory.write}
                for device in self._native.devices for memory in device.memories]
        return pandas.DataFrame(rows).set_index(["device", "pool"])

    def links(self) -> pandas.DataFrame:
        """Returns one row per direction of a link, with bandwidth in byte/s, and setup and latency in s."""
        pandas = late("pandas")
        columns = ["link", "direction", "source", "target", "bandwidth", "setup", "latency"]
        return pandas.DataFrame(self._native.edges(), columns=columns)

    def __repr__(self) -> str:
        return f"Platform '{self.name}': {', '.join(self.device_names)}"

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.name)}</b></p>" + self.devices().to_html() + self.links().to_html()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Platform) or not (self.document and other.document):
            return self is other  # the platform that a policy receives has no document
        return self.document == other.document

    def __hash__(self) -> int:
        return hash((self.name, *self.device_names))

    def __reduce__(self):
        return Platform.from_dict, (self.document,)


def named(given: Union[Platform, str, Path]) -> Platform:
    """Returns a Platform as it is, or reads the platform of the given name or path. Raises InputError or IoError."""
    if isinstance(given, Platform):
        return given
    if not isinstance(given, (str, Path)):
        raise errors.InputError(f"a {type(given).__name__} is not a platform: expected a Platform, or the "
                                "name or the path of a platform")
    return platform(given)


@checked
def platform(path: Union[str, Path], changes: Optional[Mapping] = None) -> Platform:
    """Reads a platform. `path` is a file, or the name of a bundled platform (see `sluice.platforms()`).

        sluice.platform("k40", {"links.host.bandwidth": "8GB/s"})

    `changes` are overrides as on the command line. Raises InputError or IoError."""
    found = _sluice.find_document(str(path), "platforms")
    return Platform._of(*_sluice.load_platform(found, _documents.overrides(changes)))
