#!/usr/bin/python3
"""Executes the notebooks of this folder with the Python that runs this script, and writes them with their new pictures.
The script needs nbclient and ipykernel. `execute.py 1_first_run.ipynb` executes only the notebook 1_first_run.ipynb."""

import base64
import json
import os
import pathlib
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

HERE = pathlib.Path(__file__).resolve().parent
PAGES = {"6_which_pcie": HERE.parents[1] / "docs/pictures/which_pcie"}


def notebooks():
    return sorted(HERE.glob("[0-9]*.ipynb"))


def use_this_python(folder):
    """Makes a Jupyter kernel `sluice` with the Python that runs this script. The first Python in PATH may be another
    one."""
    spec = pathlib.Path(folder, "kernels", "sluice")
    spec.mkdir(parents=True)
    argv = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.joinpath("kernel.json").write_text(json.dumps(
        {"argv": argv, "display_name": "sluice", "language": "python",
         "env": {"PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path if path)}}))
    os.environ["JUPYTER_PATH"] = str(folder)


def execute(path, then=""):
    """Returns the executed notebook. The code `then` runs after the notebook's cells, and does not become part of the
    notebook. Raises nbclient's CellExecutionError."""
    with tempfile.TemporaryDirectory() as folder:
        use_this_python(folder)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.append(nbformat.v4.new_code_cell(then))
        NotebookClient(notebook, kernel_name="sluice", timeout=600, allow_errors=False,
                       record_timing=False,
                       resources={"metadata": {"path": str(HERE)}}).execute()
    notebook.cells.pop()
    return notebook


def save_pictures(notebook, stem):
    """Saves the pictures of a notebook as the files STEM_1.png, STEM_2.png, ... A page in docs/ shows these files."""
    pictures = [output["data"]["image/png"] for cell in notebook.cells for output in cell.get("outputs", [])
                if "image/png" in output.get("data", {})]
    for number, picture in enumerate(pictures, 1):
        pathlib.Path(f"{stem}_{number}.png").write_bytes(base64.b64decode(picture))


def main(names):
    for path in [HERE / name for name in names] or notebooks():
        notebook = execute(path)
        notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python",
                                            "name": "python3"},
                             "language_info": {"name": "python"}}
        nbformat.write(notebook, path)
        if path.stem in PAGES:
            save_pictures(notebook, PAGES[path.stem])
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
