#!/usr/bin/python3
"""Tests the tables of results and plans. A change of a table must affect no other table. The table of facts must have
the names and the values of the plan's facts."""

import copy
import pathlib
import pickle
import subprocess
import sys
import tempfile
import typing
import unittest

from sluice_package import need, sluice

need("numpy", "pandas")
import numpy as np  # noqa: E402

SMALL = {"workload.batches_per_step": 3, "workload.steps": 2}
STRATEGIES = ("optimal", "sqrt", "offload_all", "selective", "recompute_all", "keep_all")


def training(strategy, batch=20):
    return sluice.Scenario.from_dict({
        "model": "vgg16", "platform": "gtx980", "policy": "resident", "fates": {"strategy": strategy},
        "workload": {"mode": "training", "batch": batch, "optimizer": "adam"}})


class NobodySpoils(unittest.TestCase):
    def setUp(self):
        self.result = sluice.load("phased_ipu_pair", SMALL).run()

    def changes(self, table):
        """Yields functions that change the table, each in its own way. Pandas may refuse a change. A change that pandas
        accepts must not affect the result."""
        first = table.columns[0]
        yield lambda: table.insert(0, "length", 1.0)
        yield lambda: table.__setitem__(first, table[first] * 0)
        yield lambda: table[first].__isub__(table[first])
        yield lambda: table.loc.__setitem__((table.index[0], first), 5.0)
        yield lambda: table.sort_values(first, ascending=False, inplace=True)
        yield lambda: table.drop(table.index[:3], inplace=True)
        yield lambda: table.rename(columns={first: "x"}, inplace=True)
        yield lambda: table.index.set_names("mine", inplace=True)
        yield lambda: table.to_numpy().fill(0)
        for name in table.columns:
            yield lambda name=name: table[name].to_numpy().fill(0)
            yield lambda name=name: table[name].array._ndarray.fill(0)
        for name in table.select_dtypes("category"):
            yield lambda name=name: table[name].cat.codes.to_numpy().fill(0)
            yield lambda name=name: table[name].array.codes.fill(0)
            yield lambda name=name: table.loc.__setitem__((table.index[0], name), table[name].cat.categories[-1])

    def test_a_change_of_a_table_affects_no_other_table(self):
        import warnings
        for name in ("spans", "memory", "series"):
            before = getattr(self.result, name).copy(deep=True)
            tries = sum(1 for _ in self.changes(getattr(self.result, name)))
            for number in range(tries):
                table = getattr(self.result, name)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # pandas warns about a change that has no effect
                    try:
                        list(self.changes(table))[number]()
                    except (ValueError, TypeError, KeyError):
                        pass
                self.assertTrue(getattr(self.result, name).equals(before), (name, number))

    def test_a_new_column_of_a_table_does_not_change_the_result(self):
        spans = self.result.spans
        spans["length"] = spans["end"] - spans["start"]
        spans.groupby("kind", observed=True)["length"].sum()
        try:
            spans.loc[0, "start"] = 5.0
        except ValueError:
            pass  # pandas may refuse the change, or may change only this table
        self.assertEqual(self.result.spans["start"][0], 0)
        self.assertNotIn("length", self.result.spans)
        shifted = self.result.spans
        shifted["start"] = shifted["start"] - 1
        self.assertEqual(shifted["start"][0], -1)

    def test_numbers_are_not_copied(self):
        for name in ("start", "end", "iteration"):
            self.assertTrue(np.shares_memory(self.result.spans[name].to_numpy(), self.result.spans[name].to_numpy()))
        self.assertEqual(self.result.spans.attrs["units"]["start"], "s")
        self.assertEqual(self.result.memory.attrs["units"]["delta"], "byte")


class Names(unittest.TestCase):
    def test_spans_have_their_device_and_the_name_of_their_stage(self):
        scenario = sluice.load("phased_ipu_pair", SMALL)
        result, names = scenario.run(), scenario.plan().stages
        spans = result.spans
        self.assertTrue((spans["device"].astype(str) == spans["stream"].astype(str).str.split(".").str[0]).all())
        of_one = spans[spans["stage"] >= 0]
        self.assertEqual(of_one["stage_name"].tolist(), [names[stage] for stage in of_one["stage"]])
        self.assertTrue(spans["stage_name"][spans["stage"] < 0].isna().all())
        need("xarray")
        self.assertEqual(result.to_xarray()["device"].values.tolist(), spans["device"].tolist())

    def test_stages_add_up_to_the_metrics(self):
        for name in ("alexnet_x200", "phased_ipu_pair", "alexnet_x200_training"):
            result = sluice.load(name).run()
            stages, metrics = result.stages, result.metrics
            self.assertEqual(stages["flop"].sum(), metrics.flop)
            for stage, seconds in metrics.compute_s_by_stage.items():
                self.assertAlmostEqual(stages.set_index("name").loc[stage, "compute_s"] / seconds, 1, 9)
            spans = result.spans
            self.assertEqual(stages["spans"].sum(), (spans["stage"] >= 0).sum())
            self.assertEqual(stages["loaded_bytes"].sum(),
                             spans["bytes"][(spans["kind"] == "load") & (spans["stage"] >= 0)].sum())
            self.assertEqual(stages["end"].max(), spans["end"][spans["stage"] >= 0].max())
            self.assertEqual(set(", ".join(stages["devices"]).split(", ")), set(spans["device"]))

    def test_facts_are_a_table_and_those_of_the_plan(self):
        scenario = sluice.load("alexnet_x200")
        result, facts = scenario.run(), scenario.plan().facts
        table = result.facts
        self.assertEqual(table.loc["chosen_s", "value"], facts["chosen_s"])
        self.assertEqual(table.loc["chosen_s", "unit"], "s")
        self.assertEqual(dict(zip(table.loc["weight_passes", "of"], table.loc["weight_passes", "value"])),
                         facts["weight_passes"])
        self.assertEqual(set(table.index), set(facts))
        replicas = sluice.Scenario.from_dict({
            "model": "matmul_chain", "platform": "ipu_m2000", "workload": {"batches_per_step": 8, "dtype": "float16"},
            "policy": {"name": "data_parallel", "replica": "resident"}})
        facts = replicas.plan().facts["replicas"]
        table = replicas.run().facts
        self.assertEqual(set(facts), {"ipu0", "ipu1", "ipu2", "ipu3"})
        for device, inner in facts.items():
            mine = table[table["replica"] == device]
            self.assertEqual(set(mine.index), set(inner))

    def test_facts_are_kept_in_a_trace(self):
        result = sluice.load("phased_ipu_pair", SMALL).run()
        with tempfile.TemporaryDirectory() as folder:
            result.save(f"{folder}/t.h5")
            again = sluice.open(f"{folder}/t.h5")
            for name in ("facts", "stages", "spans"):
                self.assertTrue(getattr(again, name).equals(getattr(result, name)), name)

    def test_fates_equal_those_of_the_strategys_facts(self):
        """The table of fates is made from the actions of the plan. The facts that the strategy states must agree with
        this table."""
        for strategy in STRATEGIES:
            plan = training(strategy, 8 if strategy == "keep_all" else 20).plan()
            said = {}
            for stages, fate in plan.facts["fate_of_stage"].items():
                first, *last = stages.split()[0].split("..")
                for stage in range(int(first), int((last or [first])[0]) + 1):
                    said[stage - 1] = fate
            fates = plan.fates
            self.assertEqual(fates["fate"].to_dict(), said)
            self.assertEqual(fates["name"].tolist(), plan.stages)
            seconds = plan.actions.query("kind == 'recompute'")["seconds"].sum()
            self.assertAlmostEqual(fates["recomputed_s"].sum(), seconds, 12)
            self.assertEqual((fates["saved_bytes"] > 0).tolist(), (fates["fate"] == "offload").tolist())
            self.assertEqual(set(fates["fate"][fates["recomputed_s"] > 0]) - {"recompute"}, set())
        self.assertEqual(len(sluice.load("phased_ipu_pair", SMALL).plan().fates), 0)

    def test_saved_bytes_of_fates_are_those_of_the_run(self):
        scenario = training("offload_all")
        self.assertEqual(scenario.plan().fates["saved_bytes"].sum(), scenario.run().metrics.offloaded_bytes)


class Metrics(unittest.TestCase):
    def setUp(self):
        self.metrics = sluice.load("phased_ipu_pair", SMALL).run().metrics

    def test_a_misspelt_metric_gets_a_suggestion(self):
        with self.assertRaisesRegex(AttributeError, "no metric 'makespan' .did you mean 'makespan_s'"):
            self.metrics.makespan
        with self.assertRaisesRegex(KeyError, "no metric 'peak_byte' .did you mean 'peak_bytes'"):
            self.metrics["peak_byte"]
        self.assertNotIn("makespan", self.metrics)
        self.assertIsNone(self.metrics.get("makespan"))
        self.assertFalse(hasattr(self.metrics, "xyz"))

    def test_metrics_cannot_be_changed(self):
        peak = self.metrics.peak_bytes["ipu0"]
        for change in (lambda: setattr(self.metrics, "makespan_s", 0), lambda: delattr(self.metrics, "makespan_s"),
                       lambda: setattr(self.metrics, "units", {}), lambda: setattr(self.metrics, "other", 1),
                       lambda: self.metrics.__setitem__("makespan_s", 0)):
            self.assertRaises((AttributeError, TypeError), change)
        self.metrics.peak_bytes["ipu0"] = 0
        self.metrics["peak_bytes_by_class"]["ipu0"].clear()
        self.metrics.units.clear()
        self.metrics.summaries.clear()
        self.assertEqual(self.metrics.peak_bytes["ipu0"], peak)
        self.assertTrue(self.metrics.peak_bytes_by_class["ipu0"])
        self.assertEqual(self.metrics.units["makespan_s"], "s")
        for other in (copy.copy(self.metrics), copy.deepcopy(self.metrics), pickle.loads(pickle.dumps(self.metrics))):
            self.assertEqual(dict(other), dict(self.metrics))

    def test_each_metric_has_a_type_which_holds_in_every_scenario(self):
        types = typing.get_type_hints(sluice._metrics.MetricTypes)
        self.assertEqual(set(types), set(sluice.metrics().index))
        for name in sluice.scenarios().index:
            for metric, value in sluice.load(name).run().metrics.items():
                kind = types[metric]
                allowed = tuple(typing.get_origin(one) or one for one in typing.get_args(kind)) \
                    if typing.get_origin(kind) is typing.Union else (typing.get_origin(kind) or kind,)
                self.assertIsInstance(value, allowed, (name, metric))
                if isinstance(value, dict):
                    inner = typing.get_args(kind)[1]
                    for one in value.values():
                        self.assertIsInstance(one, typing.get_origin(inner) or inner, (name, metric))

    def test_the_goldens_give_the_types_of_metrics(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        written = subprocess.run(
            [sys.executable, "-B", "-c", "import metric_types; print(metric_types.text(), end='')"],
            cwd=root / "cmake", capture_output=True, text=True, check=True).stdout
        self.assertEqual(written, (root / "analysis/sluice/_metric_types.py").read_text(),
                         "./dev accept writes the types again")


if __name__ == "__main__":
    unittest.main()
