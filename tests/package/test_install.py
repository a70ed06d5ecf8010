#!/usr/bin/python3
"""Tests that pip installs the package without a network. The package must work outside of the source tree."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from sluice_package import need

need("venv", "pip", "setuptools", "wheel", "pandas", "matplotlib")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SLUICE_PROGRAM", ROOT / "build/release/sluice"))

SCRIPT = """
import json, sys
import matplotlib
matplotlib.use("Agg")
import sluice
result = sluice.load("phased_ipu_pair").run()
result.plot.timeline().figure.savefig("timeline.png")
print(json.dumps([sluice.__file__, sluice.data_root(), dict(result.metrics), len(sluice.models())]))
"""


class Install(unittest.TestCase):
    def test_the_installed_package_gives_the_same_answers_as_the_program(self):
        if PROGRAM.parent != ROOT / "build/release":
            self.skipTest("pip uses build/release, but the tested program is from another build folder")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        with tempfile.TemporaryDirectory() as folder:
            venv = pathlib.Path(folder, "venv")
            run = lambda *words: subprocess.run(  # noqa: E731
                list(map(str, words)), check=True, capture_output=True, text=True, cwd=folder,
                env=environment).stdout
            run(sys.executable, "-m", "venv", "--system-site-packages", venv)
            run(venv / "bin/pip", "install", "--no-build-isolation", "--no-index", ROOT)
            file, data, metrics, models = json.loads(run(venv / "bin/python", "-c", SCRIPT))
            self.assertTrue(file.startswith(str(venv)) and data.startswith(str(venv)), (file, data))
            self.assertEqual(models, len([*(ROOT / "models").glob("*.yaml"),
                                          *(ROOT / "models").glob("*.json")]))
            self.assertGreater(pathlib.Path(folder, "timeline.png").stat().st_size, 10_000)
        said = json.loads(run_program("run", "phased_ipu_pair", "--json"))
        self.assertEqual(metrics, said["metrics"])


def run_program(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    unittest.main()
