"""Models. A model is a network: a graph of layers. Each layer has its numbers of operations and elements per sample."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _documents, _sluice, errors
from ._checked import checked
from ._late import late
from ._platform import Platform, named
from .words import Dtype, Mode, Optimizer

if TYPE_CHECKING:
    import pandas


_OF_THE_DOCUMENT = ("format", "name", "summary", "source", "parameters", "blocks", "layers",
                    "measured_batch", "file")


@checked
class Model:
    """A network. `sluice.model(name_or_path)`, `sluice.from_torch(module, inputs)` and Model(name_or_path) make a
    Model. A Model never changes: `with_` returns another Model."""

    _native: Any

    def __init__(self, source: Union[str, Path, Mapping]) -> None:
        made = Model.from_dict(source) if isinstance(source, Mapping) else model(source)
        self._native = made._native

    @classmethod
    def _of(cls, native: Any) -> Model:
        made = cls.__new__(cls)
        made._native = native
        return made

    @classmethod
    def from_dict(cls, document: Mapping, name: str = "<dict>") -> Model:
        """Returns a model from a sluice-model/1 document (models/FORMAT.md). `document` may also be the `model:`
        mapping of a scenario. The key `definition` of this mapping then holds such a document. Raises InputError."""
        content = _documents.plain(document)
        text = _documents.to_json(content, indent=2)
        parse = _sluice.Model.from_use if "definition" in content else _sluice.Model.parse
        return cls._of(parse(text, name))

    @property
    def name(self) -> str:
        """The name of the network."""
        return self._native.name

    @property
    def summary(self) -> str:
        """A sentence about the network."""
        return self._native.summary

    @property
    def parameters(self) -> int:
        """The number of parameters: all elements of all weights."""
        return self._native.parameters

    @property
    def activations(self) -> int:
        """The number of elements of all layers' outputs for one sample, including the input."""
        return self._native.activations

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the forward pass of one sample."""
        return self._native.macs

    @property
    def flop(self) -> int:
        """FLOP of the forward pass of one sample, where a multiply-accumulate is 2 FLOP."""
        return self._native.flop

    @property
    def document(self) -> dict:
        """The `model:` mapping of a scenario that uses this model."""
        return json.loads(self._native.json())

    def _as_document(self) -> dict:
        return self.document

    def with_(self, changes: Optional[Mapping] = None, /, **parameters: Any) -> Model:
        """Returns a copy with changed values:

            sluice.model("gpt2").with_(blocks=24, tokens=512)  # parameters, and `scale`
            sluice.model("alexnet").with_({"layers.conv1.channels": 128, "name": "wide"})

        A key with dots is a path in the model's document (models/FORMAT.md). A path names a layer by its name or by its
        position, counted from 0. A name also finds a layer inside a repetition. Raises InputError."""
        given = {**_documents.mapping(changes), **parameters}
        own = self.document["definition"].get("parameters", {})
        texts = _documents.overrides({_within(key, own): value for key, value in given.items()})
        return Model._of(self._native.with_overrides(texts))

    @property
    def layers(self) -> list[str]:
        """The names of all layers in order. Each layer is a row of `stage_table`."""
        return list(self.stage_table()["layer"])

    def layer(self, name: str) -> pandas.Series:
        """Returns the row of `stage_table` for the layer of the given name. Raises InputError."""
        table = self.stage_table()
        found = table[table["layer"] == name]
        if found.empty:
            near = difflib.get_close_matches(name, table["layer"], 1)
            raise errors.InputError(f"no layer of '{self.name}' is called '{name}'"
                                    + (f" (did you mean '{near[0]}'?)" if near else "")
                                    + "; `model.layers` has their names")
        return found.iloc[0]

    def stage_table(self, platform: Union[Platform, str, Path, None] = None,
                    device: Optional[str] = None, dtype: Dtype = "float32",
                    cost: str = "") -> pandas.DataFrame:
        """Returns one row per layer with the columns of `sluice model`. The columns count elements, MACs, FLOP and
        bytes for one sample, if elements have the type `dtype`. With a platform, the table also has milliseconds of
        transfers and of computations. The transfers go over the link to the device. The cost model `cost` gives the
        milliseconds of computations. If the devices have a memory bandwidth, the default cost model is roofline.
        Otherwise it is peak. `table.attrs` explains each column. The column `state` has the number of elements of the
        output. The columns `total_…` are sums from the first layer to this layer."""
        pandas = late("pandas")
        native = named(platform)._native if platform is not None else None
        columns = self._native.stage_columns(native, device or "", _documents.dtype_name(dtype), cost)
        table = pandas.DataFrame({key: values for key, _, values in columns}).set_index("step")
        table.attrs = {key: meaning for key, meaning, _ in columns}
        return table

    def fits(self, platforms: Union[Platform, str, Path, Sequence[Union[Platform, str, Path]]] = (),
             *, mode: Mode = "training", batch: Optional[int] = None, dtype: Dtype = "float32",
             optimizer: Optimizer = "", policy: str = "resident", fates: str = "keep_all",
             changes: Optional[Mapping] = None) -> pandas.DataFrame:
        """Returns the largest micro-batch that fits on the device of each platform, one row per platform. Without
        platforms, there is one row, for a device with unlimited memory. The column `largest` has the number of samples
        in this micro-batch. If every micro-batch fits, `largest` has no number. The column `step_s` has the seconds of
        a step with this micro-batch. The column `cost` names the cost model for these seconds. The column `bytes` has
        the most bytes that this micro-batch holds at one moment. `weight_bytes` and similar columns have these bytes by
        class. The column `one_bytes` has the bytes for one sample. The next larger micro-batch does not fit:
        `next_bytes` has its bytes, and `refusal` has the reason. If a platform has no answer, `error` gives the reason,
        such as a missing rate for the dtype. `batch` is a number of samples, which are divided into micro-batches. With
        `batch`, the column `micro_batch` has the number of samples in such a micro-batch, and `batch_step_s` has the
        seconds of a step. `changes` are overrides of the scenario in which micro-batches are tried."""
        given = list(platforms) if isinstance(platforms, (list, tuple)) else [platforms]
        cards = _sluice.fits(self._native.json(), [named(one)._document for one in given],
                             [mode, _documents.dtype_name(dtype), optimizer, policy, fates],
                             None if batch is None else _documents.whole(batch, "batch", 1),
                             _documents.overrides(changes))
        return late("pandas").DataFrame([_fit_row(card) for card in cards]).set_index("platform")

    def __repr__(self) -> str:
        return (f"Model '{self.name}': {self._native.layers} layers, {self.parameters:,} parameters, "
                f"{self.macs:,} MACs per sample")

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.name)}</b> {escape(self.summary)}<br>{escape(repr(self))}</p>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.document == other.document

    def __hash__(self) -> int:
        return hash((self.name, self.parameters, self.macs))

    def __reduce__(self):
        return Model.from_dict, (self.document,)


def _within(key: Any, parameters: Mapping) -> Any:
    """Returns the key as a path in the `model:` mapping of a scenario. A parameter is a key of this mapping itself. A
    key of the model's document is under `definition`."""
    first = key.partition(".")[0] if isinstance(key, str) else ""
    if first in _OF_THE_DOCUMENT and key not in parameters:
        return f"definition.{key}"
    return key


def _fit_row(card: dict) -> dict:
    """Returns a row of `Model.fits`: the platform's numbers, and the bytes of its largest micro-batch by class. If not
    even one sample fits, these are the bytes of one sample."""
    row = {"platform": card["platform"], "device": card["device"], "cost": card["cost"],
           "capacity_bytes": card["capacity"], "largest": card["largest"], "step_s": card["step_s"]}
    most = card["most"] or card["one"] or {"bytes": None, "by_class": {}}
    row["bytes"] = most["bytes"]
    row.update({f"{name}_bytes": size for name, size in most["by_class"].items()})
    row["one_bytes"] = card["one"]["bytes"] if card["one"] else None
    row["next_bytes"] = card["next"]["bytes"] if card["next"] else None
    row["refusal"] = card["refusal"]
    row["error"] = card["error"]
    if card["micro_batch"] is not None:
        row.update({key: card[key] for key in ("micro_batch", "batch_step_s")})
    return row


@checked
def model(path: Union[str, Path], changes: Optional[Mapping] = None, **parameters: Any) -> Model:
    """Reads a model. `path` is a file, or the name of a bundled model (see `sluice.models()`).

    Keywords are the model's parameters and `scale`, as in sluice.model("alexnet", scale=200). `changes` are overrides
    as on the command line. Raises InputError or IoError."""
    found = _sluice.find_document(str(path), "models")
    texts = _documents.overrides(changes, parameters)
    return Model._of(_sluice.Model.load(found, texts))
