#!/usr/bin/python3
"""Tests the imports between the modules of the package. Modules of results and of pictures must not import each other
in a cycle. matplotlib, pandas and torch must be imported only when they are needed."""

import ast
import pathlib
import subprocess
import sys
import unittest

from sluice_package import need, sluice  # noqa: F401

need("numpy")
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "analysis/sluice"
MODULES = {path.stem for path in FOLDER.glob("*.py")}


def imported(path):
    """Returns the modules of the package that the file at `path` imports, wherever it imports them: at the top, in a
    function, by late(), or only for types."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module.split(".")[0]} if node.module else {one.name for one in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "late" and node.args:
            name = getattr(node.args[0], "value", "")
            found |= {name[1:]} if isinstance(name, str) and name.startswith(".") else set()
    return found & MODULES


GRAPH = {path.stem: imported(path) for path in FOLDER.glob("*.py") if path.stem != "__init__"}


def reachable(start):
    seen, todo = set(), [start]
    while todo:
        new = GRAPH[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


class Imports(unittest.TestCase):
    def test_pictures_and_results_are_not_in_a_cycle(self):
        self.assertIn("plots", reachable("result"))
        self.assertIn("roofline", reachable("plots"))
        for name in ("plots", "timeline", "levels", "roofline", "sweep_plots", "result", "_axes", "_artists",
                     "_colours", "_paper", "_metrics", "_tables", "_recording"):
            self.assertNotIn(name, reachable(name))

    def test_importing_the_package_imports_no_matplotlib_and_no_pandas(self):
        said = subprocess.run(
            [sys.executable, "-c", "import sys, sluice; print([m for m in ('matplotlib', 'pandas', 'torch') "
             "if m in sys.modules])"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said.strip(), "[]")


if __name__ == "__main__":
    unittest.main()
