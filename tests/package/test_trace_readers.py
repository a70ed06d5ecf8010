#!/usr/bin/python3
"""Tests that h5py, xarray, ncdump and h5dump open a trace without options and read the same numbers. PyTables must read
the same numbers if it is given their paths in the file."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import warnings

from sluice_package import need, sluice

need("h5py", "xarray", "h5netcdf", "numpy")
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import xarray  # noqa: E402


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = str(pathlib.Path(cls.folder.name, "trace.h5"))
        cls.result = sluice.load("phased_ipu_pair", {"workload.steps": 1}).run()
        cls.result.save(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_h5py_reads_the_numbers_of_a_trace(self):
        with h5py.File(self.path) as file:
            self.assertTrue(np.array_equal(file["spans/start"], self.result.spans["start"]))
            self.assertEqual(file["summary/makespan_s"][()], self.result.metrics.makespan_s)

    def test_xarray_with_h5netcdf_reads_the_numbers_of_a_trace(self):
        with xarray.open_dataset(self.path, group="spans", engine="h5netcdf") as spans:
            self.assertTrue(np.array_equal(spans["end"], self.result.spans["end"]))
            self.assertEqual(spans["end"].attrs["units"], "s")
        with xarray.open_dataset(self.path, group="series", engine="h5netcdf") as series:
            self.assertTrue(np.array_equal(series["time"], self.result.series.index))
        for pool in ("ipu0", "streaming"):
            with xarray.open_dataset(self.path, group=f"memory/{pool}", engine="h5netcdf") as memory:
                mine = self.result.memory[self.result.memory["pool"] == pool]
                self.assertTrue(np.array_equal(memory["level"], mine["level"]))

    def test_pytables_reads_numbers_by_path_but_neither_texts_nor_axes(self):
        try:
            import tables
        except ImportError:
            self.skipTest("PyTables is not installed")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTables warns of each text that it cannot read
            with tables.open_file(self.path) as file:
                self.assertTrue(np.array_equal(file.get_node("/spans/start")[:], self.result.spans["start"]))
                self.assertIsInstance(file.get_node("/scenario"), tables.UnImplemented)
                for axis in ("/series/time", "/spans/span"):
                    with self.assertRaises(KeyError):
                        file.get_node(axis)

    def test_ncdump_reads_the_numbers_of_a_trace(self):
        self.dumps("ncdump", r"start = 0, ")

    def test_h5dump_reads_the_numbers_of_a_trace(self):
        self.dumps("h5dump", r'DATASET "makespan_s"')

    def dumps(self, program, words):
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")
        done = subprocess.run([program, self.path], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(re.search(words, done.stdout))


if __name__ == "__main__":
    unittest.main()
