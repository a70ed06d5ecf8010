"""Draws the curve of `sluice placement` into a file, from the command line:

    python3 -m sluice.placement_picture SCENARIO [KEY=VALUE...] [--fast SIZES] [--ways A,B,C] [--device NAME]
                                        [--log] -o curve.png

The arguments are those of `sluice placement`. The picture is that of `curve.plot.slowdown()`. The ending of the file
decides its format: .png, .svg or .pdf."""

from __future__ import annotations

import argparse
import sys
from typing import Optional, Sequence

from . import _sluice, errors
from ._late import late
from .scenario import Scenario


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m sluice.placement_picture",
                                     description="Draws the slowdown by the size of fast memory into a file.")
    parser.add_argument("scenario", metavar="SCENARIO", help="a file, or the name of a bundled scenario")
    parser.add_argument("changes", metavar="KEY=VALUE", nargs="*", help="changes of the scenario")
    parser.add_argument("--fast", metavar="SIZES", help="the sizes of fast memory, as for `sluice placement`")
    parser.add_argument("--ways", metavar="A,B,C", help="the ways to place tensors; default: all")
    parser.add_argument("--device", metavar="NAME", help="the device that computes")
    parser.add_argument("--log", action="store_true", help="a logarithmic axis of sizes")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the picture to write")
    return parser


def main(words: Optional[Sequence[str]] = None) -> int:
    """Draws the picture. Returns the exit code of the command: 0, or that of the error."""
    asked = _arguments().parse_intermixed_args(words)
    try:
        found = _sluice.find_document(asked.scenario, "scenarios")
        scenario = Scenario._of(_sluice.Scenario.load(found, asked.changes))
        curve = scenario.placement(asked.fast, asked.ways.split(",") if asked.ways else None,
                                   device=asked.device)
    except errors.Error as error:
        print(f"sluice: {error}", file=sys.stderr)
        return error.exit_code
    late("matplotlib").use("agg")
    axes = curve.plot.slowdown(log=asked.log)
    axes.figure.savefig(asked.output, dpi=200, bbox_inches="tight")
    return 0


if __name__ == "__main__":
    sys.exit(main())
