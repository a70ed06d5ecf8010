"""Sluice simulates how a neural network runs on a machine. The network may be larger than the machine's memory.

    import sluice
    scenario = sluice.load("phased_ipu_pair")
    result = scenario.with_({"platform.links.host.bandwidth": "64GB/s"}).run()
    result.metrics.makespan_s, result.spans, result.plot.timeline()

Times are in seconds, sizes in bytes, and operations in FLOP. A multiply-accumulate is 2 FLOP. The first run starts a
separate process for simulations.
"""

from __future__ import annotations

import json as _json
from pathlib import Path as _Path
from typing import TYPE_CHECKING as _TYPE_CHECKING

try:
    from . import _sluice
except ImportError as _error:
    raise ImportError(f"the package is not built here: ./dev python builds it ({_error})") from _error
from . import meters, words
from ._late import late as _late
from ._metrics import Metrics
from ._model import Model, model
from ._paper import paper
from ._platform import Platform, platform
from ._policy import Action, PlanBuilder, Stage, Workload, parameter, policy
from .answer import Asked, Certainty, Note
from .compare import Comparison, compare
from .errors import (Error, HelperDied, HelperRestarted, Infeasible, InputError, InternalError,
                     Interrupted, IoError, KeysDropped, UsageError, Waiter)
from .placement import PlacementCurve
from .plan import Plan, load_plan
from .plots import Plots
from .result import Result, open
from .scenario import Scenario, load
from .search import Found, maximise, minimise
from .torch_import import from_torch
from .torch_profile import TorchProfile, profile_torch

if _TYPE_CHECKING:
    import pandas as _pandas

__version__: str = _sluice.version()

_data = _Path(__file__).with_name("_data")
if _data.is_dir():  # only an installed package has a copy of the bundled documents
    _sluice.set_data_root(str(_data))
# A file of another program, such as an ONNX model, is read in a child process. A Python process may have several
# threads, and cannot be copied safely then. So the child runs the helper program.
_sluice.set_child_program(str(_Path(__file__).with_name("sluice-worker")))


def _listing(kind: str) -> _pandas.DataFrame:
    pandas = _late("pandas")
    table = pandas.DataFrame(_json.loads(_sluice.listing(kind)))
    return table.set_index("name")


def policies() -> _pandas.DataFrame:
    """Returns a DataFrame of all policies, indexed by name. It includes policies that are written in Python. The
    columns are summary, source, details, example and parameters."""
    return _listing("policies")


def models() -> _pandas.DataFrame:
    """Returns a DataFrame of the bundled models, indexed by name. The columns are summary, source, file and figures.
    The figures of a model are a list of dicts with the keys name, value and note. A model without figures has NaN in
    the column figures."""
    return _listing("models")


def platforms() -> _pandas.DataFrame:
    """Returns a DataFrame of the bundled platforms, indexed by name. The columns are summary, source, file and figures.
    The figures of a platform are a list of dicts with the keys name, value and note."""
    return _listing("platforms")


def scenarios() -> _pandas.DataFrame:
    """Returns a DataFrame of the bundled scenarios, indexed by name. The columns are summary (the question), source
    (always None) and file."""
    return _listing("scenarios")


def layers() -> _pandas.DataFrame:
    """Returns a DataFrame of the layer types, indexed by name. The columns are summary, source, details, example and
    parameters. In the column `parameters` are the keys that a layer of the type may have."""
    return _listing("layers")


def metrics() -> _pandas.DataFrame:
    """Returns a DataFrame of all metrics, indexed by name. The columns are summary, source, details, example and
    unit."""
    return _listing("metrics")


def data_root() -> str:
    """Returns the folder of the models, platforms and scenarios: $SLUICE_ROOT, or the folder of the package."""
    return _sluice.data_root()


__all__ = [
    "Action", "Asked", "Certainty", "Comparison", "Error", "Found", "HelperDied", "HelperRestarted", "Infeasible",
    "InputError", "InternalError", "Interrupted", "IoError", "KeysDropped", "Metrics", "Model", "Note",
    "PlacementCurve", "Plan", "PlanBuilder", "Platform", "Plots", "Result", "Scenario", "Stage", "TorchProfile",
    "UsageError", "Waiter", "Workload", "compare", "data_root", "from_torch", "layers", "load", "load_plan",
    "maximise", "meters", "metrics", "minimise", "model", "models", "open", "paper", "parameter", "platform",
    "platforms", "policies", "policy", "profile_torch", "scenarios", "words", ]


def __dir__() -> list[str]:
    """Returns the public names, for dir(sluice)."""
    return sorted([*__all__, "__doc__", "__file__", "__version__"])
