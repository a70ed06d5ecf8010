#!/usr/bin/python3
"""Tests that the .deb and the wheel work in any folder, without a network and without the source tree. If Debian
packages that a build needs are missing, one line must name them before any file is compiled."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from sluice_package import need

need("venv", "pip", "setuptools", "wheel", "pandas")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SLUICE_PROGRAM", ROOT / "build/release/sluice"))
ASK = ("import json, sluice; result = sluice.Scenario('phased_ipu_pair').run();"
       "print(json.dumps([sluice.__file__, sluice.data_root(), dict(result.metrics)]))")


def clean(**more):
    """Returns an environment without any path to the source tree."""
    kept = {key: value for key, value in os.environ.items()
            if key not in ("PYTHONPATH", "SLUICE_ROOT", "SLUICE_PROGRAM")}
    return {**kept, **more}


def run(*words, **keys):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **keys)


class Packages(unittest.TestCase):
    def setUp(self):
        if PROGRAM.parent != ROOT / "build/release":
            self.skipTest("packages are made from build/release, but the tested program is from another build folder")
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name).resolve()
        self.said = json.loads(run(PROGRAM, "run", "phased_ipu_pair", "--json").stdout)["metrics"]

    def tearDown(self):
        self.folder.cleanup()

    def test_the_contents_of_the_deb_work_from_any_folder(self):
        for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
            self.assertTrue(shutil.which(tool), f"{tool} is missing: ./dev setup installs it")
        made = run("cpack", "-G", "DEB", "-B", self.at, cwd=ROOT / "build/release")
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        [package] = self.at.glob("sluice_*.deb")
        depends = run("dpkg-deb", "-f", package, "Depends").stdout
        for one in ("libsimgrid", "libhdf5", "libyaml-cpp", "python3-numpy", "python3-pandas", "python3 (>= 3."):
            self.assertIn(one, depends)
        tree = self.at / "tree"
        run("dpkg-deb", "-x", package, tree)
        program, python = tree / "usr/bin/sluice", tree / "usr/lib/python3/dist-packages"
        for executor in "simgrid", "replay":
            done = run(program, "run", "alexnet_resident", "--executor", executor, cwd="/", env=clean())
            self.assertEqual(done.returncode, 0, done.stderr)
        done = run(program, "run", "phased_ipu_pair", "--json", cwd="/", env=clean())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["metrics"], self.said)
        self.assertIn(str(tree), run(program, "list", "models", "--json", cwd="/", env=clean()).stdout)
        done = run(sys.executable, "-B", "-c", ASK, cwd="/", env=clean(PYTHONPATH=str(python)))
        self.assertEqual(done.returncode, 0, done.stderr)
        file, data, metrics = json.loads(done.stdout)
        self.assertTrue(file.startswith(str(tree)) and data.startswith(str(tree)), (file, data))
        self.assertEqual(metrics, self.said)
        share = tree / "usr/share"
        self.assertIn("complete", (share / "bash-completion/completions/sluice").read_text())
        self.assertTrue((share / "man/man1/sluice-run.1").exists() or not shutil.which("help2man"))
        self.assertTrue((share / "doc/sluice/copyright").read_text().startswith("MIT License"))

    def test_the_wheel_works_in_an_environment_that_sees_debians_packages(self):
        done = run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
                   "-w", self.at, ROOT, env=clean())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        [wheel] = self.at.glob("sluice-*.whl")
        run(sys.executable, "-m", "venv", "--system-site-packages", self.at / "venv")
        done = run(self.at / "venv/bin/pip", "install", "--no-index", wheel, env=clean())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run(self.at / "venv/bin/python", "-c", ASK, cwd="/", env=clean())
        file, data, metrics = json.loads(done.stdout)
        self.assertTrue(file.startswith(str(self.at)) and data.startswith(str(self.at)), (file, data))
        self.assertEqual(metrics, self.said)

    def test_without_debians_packages_the_error_is_one_line(self):
        run(sys.executable, "-m", "venv", self.at / "venv")
        done = run(self.at / "venv/bin/pip", "install", "--no-build-isolation", "--no-index", ROOT, env=clean())
        self.assertNotEqual(done.returncode, 0)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "--system-site-packages" in line]
        self.assertEqual(len(lines), 1, done.stdout + done.stderr)
        self.assertIn("no 'wheel'", lines[0])
        self.assertNotIn("bdist_wheel", done.stdout + done.stderr)

    def test_packages_that_are_missing_are_named_before_anything_is_compiled(self):
        fake = self.at / "bin"
        fake.mkdir()
        (fake / "dpkg-query").write_text("#!/bin/sh\necho 'cmake installed'\n")
        (fake / "dpkg-query").chmod(0o755)
        for tool in ("cmake", "ninja"):
            (fake / tool).write_text("#!/bin/sh\necho TOOL RAN >&2\nexit 1\n")
            (fake / tool).chmod(0o755)
        environment = clean(PATH=f"{fake}:{os.environ['PATH']}")
        done = run(sys.executable, "setup.py", "-q", "build", "--build-base", self.at, cwd=ROOT, env=environment)
        self.assertNotEqual(done.returncode, 0)
        last = done.stderr.strip().splitlines()[-1]
        self.assertRegex(last, "^sluice: not installed: apt-get install .*libsimgrid-dev .*pybind11-dev")
        self.assertNotIn(" cmake", last)
        self.assertNotIn("TOOL RAN", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
