#!/usr/bin/python3
"""Tests the tables of a result: spans, memory, metrics and the xarray dataset, and views that cannot be written to."""

import importlib.util
import pickle
import tempfile
import unittest

from package_case import small
from sluice_package import sluice

import numpy as np


class Tables(unittest.TestCase):
    def setUp(self):
        self.result = small().run()

    def test_numbers_are_views_that_cannot_be_written(self):
        first = self.result.spans["start"].to_numpy()
        again = self.result._recording.numbers("spans/start")
        self.assertTrue(np.shares_memory(first, again))
        self.assertFalse(first.flags.writeable)
        for name in ("end", "available", "waited", "iteration"):
            self.assertTrue(np.shares_memory(self.result.spans[name].to_numpy(),
                                             self.result._recording.numbers(f"spans/{name}")))
        for name in ("time", "level", "delta"):
            self.assertTrue(np.shares_memory(self.result.memory[name].to_numpy(),
                                             self.result._recording.numbers(f"memory/{name}")))

    def test_a_column_outlives_its_result(self):
        start = small().run().spans["start"]
        small().run()
        self.assertTrue(np.array_equal(start, self.result.spans["start"]))

    def test_spans_add_up_to_the_metrics(self):
        spans, metrics = self.result.spans, self.result.metrics
        seconds = spans["end"] - spans["start"]
        self.assertAlmostEqual(seconds[spans["kind"] == "forward"].sum(), metrics.compute_s, 12)
        self.assertEqual(spans["flop"].sum(), metrics.flop)
        self.assertEqual(spans["available"].max(), metrics.makespan_s)
        self.assertEqual(spans["bytes"].sum(), metrics.transferred_bytes)

    def test_memory_levels_are_the_sums_of_what_enters_and_leaves(self):
        memory = self.result.memory
        for pool, rows in memory.groupby("pool", observed=True):
            self.assertTrue((rows["delta"].cumsum() == rows["level"]).all(), pool)
            self.assertTrue(rows["time"].is_monotonic_increasing)
            self.assertEqual(rows["level"].max(), self.result.metrics.peak_bytes[pool])

    def test_the_blocker_of_a_span_is_named(self):
        spans = self.result.spans
        waited = spans[spans["reason"] == "data"]
        self.assertGreater(len(waited), 0)
        self.assertTrue(waited["blocker"].isin(spans["action"]).all())

    def test_an_xarray_dataset_has_all_tables_with_units(self):
        data = self.result.to_xarray()
        self.assertEqual(data["start"].attrs["units"], "s")
        self.assertTrue(np.array_equal(data["start"], self.result.spans["start"]))
        self.assertTrue(np.array_equal(data["memory_level"], self.result.memory["level"]))
        self.assertTrue(np.array_equal(data["utilisation.ipu0.compute"],
                                       self.result.series["utilisation/ipu0.compute"]))
        self.assertEqual(data["stream"].values.tolist(), self.result.spans["stream"].tolist())
        self.assertEqual(data["blocker"].values[0], "")
        self.assertEqual(data.attrs["makespan_s"], self.result.metrics.makespan_s)
        self.assertEqual(data.attrs["peak_bytes.ipu0"], self.result.metrics.peak_bytes["ipu0"])
        self.assertEqual(data.attrs["name"], "phased_ipu_pair: phased")
        self.assertEqual(sluice.Scenario.from_text(data.attrs["scenario"]), small())

    def test_an_xarray_dataset_is_saved_and_read_again(self):
        engines = [engine for engine in ("h5netcdf", "scipy", "netcdf4")
                   if importlib.util.find_spec({"netcdf4": "netCDF4"}.get(engine, engine))]
        if not engines:
            self.skipTest("neither h5netcdf nor scipy nor netCDF4 is installed")
        import xarray

        large = sluice.load("alexnet_x200", {"workload.batches_per_step": 2}).run()
        for engine in engines:
            for result in (self.result, large):
                with self.subTest(engine=engine), tempfile.TemporaryDirectory() as folder:
                    data = result.to_xarray()
                    data.to_netcdf(f"{folder}/x.nc", engine=engine)
                    with xarray.open_dataset(f"{folder}/x.nc", engine=engine) as again:
                        again.load()
                    self.assertEqual(set(again.variables), set(data.variables))
                    for name, array in data.variables.items():
                        self.assertTrue(np.array_equal(again[name], array), name)
                        self.assertEqual(again[name].attrs, array.attrs)
                    self.assertEqual(dict(again.attrs), data.attrs)

    def test_an_unknown_metric_or_key_gets_a_suggestion(self):
        metrics = sluice.load("alexnet_x200").run().metrics
        for ask, text in ((lambda: metrics.peak_bytes["gpu0"],
                           "'peak_bytes' has no 'gpu0' .did you mean 'gpu'.*gpu, host"),
                          (lambda: metrics.peak_bytes_by_class["gpu"]["weigth"], "'peak_bytes_by_class/gpu'.*'weight'"),
                          (lambda: metrics["peak"], "no metric 'peak' .did you mean 'peak_bytes'")):
            for kind in (KeyError, sluice.InputError):
                with self.assertRaisesRegex(kind, text):
                    ask()
        with self.assertRaisesRegex(AttributeError, "did you mean 'peak_bytes'"):
            metrics.peak
        with self.assertRaisesRegex(AttributeError, "did you mean 'makespan_s'"):
            metrics.makspan_s
        by_pool = metrics.peak_bytes
        self.assertIsNone(by_pool.get("gpu0"))
        self.assertNotIn("gpu0", by_pool)
        self.assertEqual(list(by_pool), ["gpu", "host"])  # asking for an unknown key added no key
        self.assertEqual(pickle.loads(pickle.dumps(by_pool)), by_pool)
        by_pool["gpu"] = 0
        self.assertNotEqual(metrics.peak_bytes, by_pool)

    def test_metrics_are_a_mapping_with_attributes_and_tables(self):
        metrics = self.result.metrics
        self.assertEqual(metrics["makespan_s"], metrics.makespan_s)
        self.assertEqual(metrics.to_series()["peak_bytes/ipu0"], metrics.peak_bytes["ipu0"])
        self.assertEqual(metrics.to_frame().loc["makespan_s", "unit"], "s")
        with self.assertRaises(AttributeError):
            metrics.makespan
        self.assertIn("makespan_s", repr(metrics))
        self.assertIn("<table>", self.result._repr_html_())
        self.assertIn("bound_by", repr(self.result))


if __name__ == "__main__":
    unittest.main()
