#!/usr/bin/python3
"""Runs the Python blocks of pages in a folder outside the repository. The blocks of a page run in order and in one
namespace."""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

from sluice_package import need

need("numpy", "pandas", "matplotlib", "xarray", "h5py")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("sim/**/FORMAT.md")),
         *sorted(ROOT.glob("*/FORMAT.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md"]

# What must exist before the first block of a page runs. BEGIN and BEFORE define names, and FILES has the commands that
# write files.
BEGIN = "import matplotlib; matplotlib.use('Agg'); import sluice\n"
BEFORE = {
    "docs/python.md": "import torch, torchvision; module = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU());"
                      " inputs = example_inputs = torch.zeros(4, 8)\n",
    "docs/profiles.md": "import torch, torchvision\n",
    "docs/sweeps.md": "scenario = sluice.load('alexnet_resident'); points = {'workload.batch': [1, 8]}\n",
    "sim/trace/FORMAT.md": "import numpy as np\n",
}
FILES = {
    # This page needs the trace of a run whose repeated iterations are stored only once.
    "sim/trace/FORMAT.md": ("run", "alexnet_resident", "workload.steps=200000", "--executor", "replay",
                            "-o", "trace.h5"),
    "sim/study/sweep/FORMAT.md": ("sweep", "alexnet_resident", "workload.batch=1,2", "--store", "study.db"),
}

# Each key is a part of a page that takes minutes, or that names a machine which the test does not have. The value runs
# instead of the key.
INSTEAD = {
    "analysis/validation/vgg416_optane.yaml": f"{ROOT}/analysis/validation/alexnet_hbm_ddr.yaml",
    "torch.randn(8, 3, 224, 224)": "torch.randn(1, 3, 32, 32)",
    # Some machines do not tell the size of their cache.
    "budget_s=0.5, progress=True": "budget_s=0.001, cache_bytes=2**20",
    'Client("scheduler:8786")': "Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)",
    '{"workload.batch": range(1, 4001)}': '{"workload.batch": range(1, 41)}',
}
NEEDS = {"docs/python.md": ("torch", "torchvision"), "docs/profiles.md": ("torch", "torchvision"),
         "docs/sweeps.md": ("distributed",)}

BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<fenced>(?:.*\n)*?)^```"
                   r"|(?<=\n\n)(?P<indented>(?: {4}.*\n|\n(?= {4}))+)", re.M)


def is_python(text):
    """Returns whether an indented block is Python. Such a block can be parsed, and it imports or calls something."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return False
    return any(isinstance(node, (ast.Import, ast.ImportFrom, ast.Call)) for node in nodes)


def blocks(page):
    for found in BLOCK.finditer(page.read_text()):
        if found["language"] == "python":
            yield found["fenced"]
        elif found["indented"] and is_python(textwrap.dedent(found["indented"])):
            yield textwrap.dedent(found["indented"])


class Pages(unittest.TestCase):
    def test_every_block_of_python_in_a_page_runs(self):
        pages = {str(page.relative_to(ROOT)): text for page in PAGES if (text := "\n".join(blocks(page)))}
        self.assertGreaterEqual(set(pages), {"docs/python.md", "docs/results.md", "docs/sweeps.md", "docs/placement.md",
                                             "docs/profiles.md", "sim/trace/FORMAT.md", "sim/study/sweep/FORMAT.md"})
        for part in INSTEAD:
            self.assertTrue(any(part in text for text in pages.values()), part)
        for name, text in pages.items():
            with self.subTest(page=name):
                self.runs(name, text)

    def runs(self, name, text):
        for module in NEEDS.get(name, ()):
            if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode:
                self.skipTest(f"{module} is not installed")
        for part, instead in INSTEAD.items():
            text = text.replace(part, instead)
        with tempfile.TemporaryDirectory() as folder:
            if name in FILES:
                subprocess.run([PROGRAM, *FILES[name]], cwd=folder, check=True, capture_output=True)
            done = subprocess.run([sys.executable, "-c", BEGIN + BEFORE.get(name, "") + text], cwd=folder,
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])


if __name__ == "__main__":
    unittest.main()
