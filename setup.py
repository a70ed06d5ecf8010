"""Builds the package `sluice` with CMake and Debian's pybind11. The command `pip install --no-build-isolation
--no-index .` needs no network. The parts that take long to compile are in build/release. ./dev build uses the same
parts."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
ZOO = ("models", "platforms", "scenarios", "fits")


def require_packages():
    """Checks that all tools are installed, before anything is compiled. If a tool is missing, ends the program with a
    message of one line."""
    if importlib.util.find_spec("wheel") is None:
        raise SystemExit("sluice: this environment has no 'wheel'. An environment that sees Debian's packages has it: "
                         "apt-get install python3-wheel python3-numpy python3-pandas; "
                         "python3 -m venv --system-site-packages ENV")
    missing = subprocess.run([ROOT / "dev", "missing"], capture_output=True, text=True).stdout.split()
    if missing:
        raise SystemExit(f"sluice: not installed: apt-get install {' '.join(missing)}")


class CMakeBuild(build_ext):
    """CMake builds the Python module, the program sluice-worker and its SimGrid engine. The bundled documents are
    copied beside them."""

    def run(self):
        require_packages()
        built = ROOT / "build/release"
        if not (built / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True)
        subprocess.run(["ninja", "-C", built, "sluice_package"], check=True)
        target = (ROOT / "analysis" if self.inplace else Path(self.build_lib)) / "sluice"
        target.mkdir(parents=True, exist_ok=True)
        for file in [*(built / "python/sluice").glob("_sluice.*.so"), built / "python/sluice/sluice-worker",
                     *built.glob("sluice_simgrid.so")]:  # there is no such file if the engine is linked into the helper
            shutil.copy(file, target)
        for folder in ZOO:
            shutil.copytree(ROOT / folder, target / "_data" / folder, dirs_exist_ok=True)


if importlib.util.find_spec("wheel") is None:  # otherwise setuptools would print: invalid command 'bdist_wheel'
    require_packages()

setup(
    version=re.search(r"project\(sluice VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1],
    packages=["sluice"],
    package_dir={"": "analysis"},
    package_data={"sluice": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("sluice._sluice", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    options={"egg_info": {"egg_base": "build"}},
)
