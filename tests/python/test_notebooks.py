#!/usr/bin/python3
"""The notebooks run from the first cell to the last, and show as many pictures as are committed."""

import pathlib
import sys
import unittest

from sluice_package import need

need("nbclient", "ipykernel", "matplotlib", "pandas")
import nbformat  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis/notebooks"))
import execute  # noqa: E402


def pictures(notebook):
    return [len([1 for output in cell.get("outputs", []) if "image/png" in output.get("data", {})])
            for cell in notebook.cells]


def errors(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])
            if output.output_type == "error" or output.get("name") == "stderr"]


class Notebooks(unittest.TestCase):
    def test_each_runs_and_shows_its_pictures(self):
        paths = execute.notebooks()
        self.assertEqual([path.name[0] for path in paths], ["1", "2", "3", "4", "5"])
        for path in paths:
            with self.subTest(notebook=path.name):
                committed, run = nbformat.read(path, as_version=4), execute.execute(path)
                self.assertGreater(sum(pictures(committed)), 1)
                self.assertEqual(pictures(run), pictures(committed))
                self.assertEqual(errors(run) + errors(committed), [])


if __name__ == "__main__":
    unittest.main()
