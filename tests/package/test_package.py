#!/usr/bin/python3
"""The Python package gives the same answers as the command line."""

import ast
import copy
import importlib.util
import inspect
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import textwrap
import unittest

from sluice_package import need, sluice

need("numpy", "pandas", "xarray")
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml"))
PHASED = ROOT / "scenarios/phased_ipu_pair.yaml"
SMALL = {"workload.batches_per_step": 3, "workload.steps": 2}


def program(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          timeout=300)
    assert done.returncode == code, (done.returncode, done.stderr)
    return done


def small():
    return sluice.load(PHASED, SMALL)


class Answers(unittest.TestCase):
    def test_metrics_equal_those_of_the_command_line_bit_for_bit(self):
        for path in SCENARIOS:
            with self.subTest(scenario=path.stem):
                said = json.loads(program("run", path, "--json").stdout)
                metrics = sluice.load(path).run().metrics
                self.assertEqual(dict(metrics), said["metrics"])
                self.assertEqual(metrics.units, said["units"])

    def test_a_saved_trace_is_the_one_that_the_command_line_writes(self):
        for path in SCENARIOS:
            with self.subTest(scenario=path.stem), tempfile.TemporaryDirectory() as folder:
                said = json.loads(program("run", path, "-o", f"{folder}/a.h5", "--json").stdout)
                sluice.load(path).run().save(f"{folder}/b.h5")
                self.assertEqual(_content(f"{folder}/b.h5"), said["trace"]["content_sha256"])
                self.assertEqual(os.listdir(folder).count("b.h5.part"), 0)

    def test_an_opened_trace_is_the_result_that_was_saved(self):
        result = small().run()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "trace.h5")
            result.save(path)
            opened = sluice.open(path)
            opened.save(f"{folder}/again.h5")
            self.assertEqual(_content(path), _content(f"{folder}/again.h5"))
        self.assertEqual(dict(opened.metrics), dict(result.metrics))
        self.assertTrue(opened.spans.equals(result.spans))
        self.assertTrue(opened.memory.equals(result.memory))
        self.assertTrue(opened.series.equals(result.series))
        self.assertEqual((opened.plan, opened.scenario), (result.plan, result.scenario))
        self.assertEqual(opened.status, "complete")

    def test_the_texts_with_the_numbers_are_those_of_the_command_line(self):
        for path in SCENARIOS:
            with self.subTest(scenario=path.stem):
                said = json.loads(program("run", path, "--json").stdout)
                result = sluice.load(path).run()
                listed = json.loads(json.dumps([vars(result.asked), vars(result.certainty),
                                                [vars(note) for note in result.notes]]))
                self.assertEqual(listed, [said["asked"], said["certainty"], said["notes"]])
                self.assertEqual(str(result.asked), said["asked"]["text"])

    def test_texts_are_kept_in_traces_and_pickles(self):
        changed = sluice.load(PHASED).with_({"platform.links.host.bandwidth": "10GB/s"})
        result = changed.run()
        self.assertIn("links.host.bandwidth", result.certainty.figures)  # changed, so it has no source
        self.assertAlmostEqual(sum((result.certainty.measured, result.certainty.sourced,
                                    result.certainty.assumed)), 1)
        with tempfile.TemporaryDirectory() as folder:
            result.save(f"{folder}/t.h5")
            for other in (sluice.open(f"{folder}/t.h5"), pickle.loads(pickle.dumps(result))):
                self.assertEqual((other.asked, other.certainty, other.notes),
                                 (result.asked, result.certainty, result.notes))

    def test_a_plan_by_itself_has_no_notes(self):
        plan = small().plan()
        result = sluice.Plan.from_text(plan.text()).run()
        self.assertEqual((result.asked, result.certainty, result.notes), (None, None, ()))

    def test_exports_are_those_of_the_command_line(self):
        result = small().run()
        with tempfile.TemporaryDirectory() as folder:
            trace = f"{folder}/t.h5"
            result.save(trace)
            for form, name in (("perfetto", "a.pftrace"), ("chrome", "a.json"), ("csv", "a.csv")):
                program("export", trace, "--to", form, "-o", f"{folder}/said")
                result.export(f"{folder}/{name}")
                self.assertEqual(pathlib.Path(folder, name).read_bytes(),
                                 pathlib.Path(folder, "said").read_bytes())
            for table in ("metrics", "stages", "layers"):
                program("export", trace, "--to", "data-island", "--table", table, "-o", f"{folder}/d")
                result.export(f"{folder}/e", to="data-island", table=table)
                self.assertEqual(pathlib.Path(folder, "d").read_bytes(),
                                 pathlib.Path(folder, "e").read_bytes())

    def test_the_plan_is_that_of_the_command_line_and_has_the_same_metrics(self):
        plan = small().plan()
        overrides = [f"{key}={value}" for key, value in SMALL.items()]
        self.assertEqual(plan.text(), program("plan", PHASED, *overrides).stdout)
        self.assertEqual(plan.to_csv(), subprocess.run(
            [PROGRAM, "plan", PHASED, *overrides, "--csv"], capture_output=True).stdout.decode())
        with tempfile.TemporaryDirectory() as folder:
            plan.save(f"{folder}/p.plan")
            by_itself = dict(sluice.load_plan(f"{folder}/p.plan").run().metrics)
        asked = dict(small().run().metrics)
        for name in ("question_bound_s", "question_ratio"):  # a plan does not name its question
            self.assertTrue(by_itself.pop(name) is None and asked.pop(name) > 0)
        self.assertEqual(by_itself, asked)
        plan.check()
        self.assertEqual(plan.actions["seconds"].count(), (plan.actions["kind"] == "forward").sum())
        self.assertEqual(set(plan.tensors.columns), {"name", "class", "bytes", "home"})

    def test_the_stage_table_is_that_of_the_command_line(self):
        said = json.loads(program("model", "alexnet", "scale=2", "--platform", "k40", "--json").stdout)
        table = sluice.model("alexnet", scale=2).stage_table("k40")
        for row, (step, mine) in zip(said["layers"], table.iterrows(), strict=True):
            self.assertEqual(row["step"], step)
            self.assertEqual(row["shape"], list(mine["shape"]))
            for key in ("parameters", "total_flop", "flop_ms", "total_parameters_ms", "macs"):
                self.assertEqual(row[key], mine[key], key)


    def test_fits_gives_what_the_command_line_gives(self):
        said = json.loads(program("fits", "gpt2", "--platform", "k20,a100_pcie", "--optimizer", "adam",
                                  "--batch", "8", "--json").stdout)
        table = sluice.model("gpt2").fits(["k20", sluice.platform("a100_pcie")], optimizer="adam",
                                          batch=8)
        self.assertEqual(list(table.index), ["k20", "a100_pcie"])
        for card, (_, row) in zip(said["cards"], table.iterrows(), strict=True):
            self.assertEqual(row["largest"], card["largest"])
            self.assertEqual(row["bytes"], card["most"]["bytes"])
            self.assertEqual(row["optimizer_bytes"], card["most"]["by_class"]["optimizer"])
            self.assertEqual(row["step_s"], card["step_s"])


    def test_a_platform_says_which_memories_its_devices_reach(self):
        server = sluice.platform("optane_server")
        memories = server.memories()
        self.assertEqual(list(memories.index), [("cpu", "dram"), ("cpu", "pmem")])
        self.assertEqual(list(memories["own"]), [False, False])
        self.assertEqual(memories.loc[("cpu", "dram"), "read"], 107.3e9)
        self.assertEqual(server.capacity("pmem"), 768_000_000_000)
        self.assertEqual(server.capacity("cpu"), 192_000_000_000)
        self.assertEqual(sluice.platform("k40").memories().index[0], ("gpu", "gpu"))

    def test_platforms_are_given_by_name_path_or_object(self):
        path = ROOT / "platforms/k40.yaml"
        model = sluice.model(ROOT / "models/alexnet.yaml")
        for given in ("k40", path, str(path), sluice.platform(path)):
            self.assertTrue(model.stage_table(given).equals(model.stage_table("k40")))
            for several in (given, [given], (given,)):
                self.assertTrue(model.fits(several).equals(model.fits("k40")))


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

    def test_an_xarray_dataset_has_them_all_with_units(self):
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
        self.assertEqual(list(by_pool), ["gpu", "host"])  # asking added nothing
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


class Questions(unittest.TestCase):
    def test_changes_are_the_overrides_of_the_command_line(self):
        base = sluice.load(PHASED)
        faster = base.with_({"platform.links.host.bandwidth": "64GB/s"})
        self.assertNotEqual(faster, base)
        said = json.loads(program("run", PHASED, "platform.links.host.bandwidth=64GB/s",
                                  "--json").stdout)
        self.assertEqual(dict(faster.run().metrics), said["metrics"])
        self.assertEqual(base, sluice.load(PHASED))  # it has not changed

    def test_a_mapping_replaces_the_present_one(self):
        base = sluice.load("alexnet_x200")
        for given in ({"name": "resident"}, "{name: resident}"):
            self.assertEqual(base.with_({"policy": given}).document["policy"], {"name": "resident"})
            self.assertEqual(base.with_(policy=given), base.with_({"policy": given}))
        said = program("plan", "alexnet_x200", "policy={name: streamed, overlap: false}").stdout
        changed = base.with_(policy={"name": "streamed", "overlap": False})
        self.assertEqual(changed.plan().text(), said)
        training = sluice.load("alexnet_x200_training_as_written")
        for given in ({"strategy": "optimal", "budget": "671846400B"},
                      "{strategy: optimal, budget: 671846400B}"):
            self.assertEqual(training.with_(fates=given).document["fates"],
                             {"strategy": "optimal", "budget": "671846400B"})

    def test_a_text_is_read_as_yaml(self):
        for key, given, value in (("workload.batch", " 3", 3), ("policy.overlap", "false", False),
                                  ("question", "'3'", "3"), ("question", "Why?", "Why?")):
            changed = small().with_({key: given}).document
            for step in key.split("."):
                changed = changed[step]
            self.assertEqual(changed, value)

    def test_changes_within_a_replaced_mapping_are_dropped(self):
        base = sluice.load("alexnet_x200")
        changed = base.with_({"platform.links.host.bandwidth": "1GB/s"})
        replaced = changed.with_(platform=sluice.platform("k40"))
        self.assertEqual(replaced, base.with_(platform=sluice.platform("k40")))
        model = {"model.file": "../models/alexnet_torchvision.yaml"}  # reads all again
        self.assertEqual(replaced.with_(model), base.with_(platform=sluice.platform("k40")).with_(model))
        both = {"platform.links.host.bandwidth": "1GB/s", "platform": sluice.platform("k40")}
        self.assertEqual(base.with_(both).with_(model).document["platform"]["links"]["host"]["bandwidth"],
                         "1GB/s")

    def test_a_platform_replaces_the_present_one(self):
        base = sluice.load(ROOT / "scenarios/alexnet_x200.yaml", {"workload.batches_per_step": 2})
        by_object = base.with_({"platform": sluice.platform("k40")})
        by_file = base.with_({"platform.file": "../platforms/k40.yaml"})
        self.assertEqual(by_object.platform.name, "k40")
        self.assertEqual(by_object.document["platform"]["links"], by_file.document["platform"]["links"])

    def test_a_dict_gives_the_same_scenario_as_a_file(self):
        document = small().document
        self.assertEqual(sluice.Scenario.from_dict(document).run().metrics["makespan_s"],
                         small().run().metrics["makespan_s"])
        made = sluice.Scenario.from_dict(
            {"model": sluice.model("matmul_chain", layers=4), "platform": sluice.platform("k40"),
             "workload": {"batch": np.int64(4)}, "policy": {"name": "resident"}})
        self.assertEqual(len(made.stages()), 1)
        self.assertGreater(made.run().metrics.makespan_s, 0)

    def test_names_are_enough_for_model_platform_policy_and_cost(self):
        made = sluice.Scenario.from_dict({"model": "cnn_mnist", "platform": "gtx980",
                                          "policy": "resident", "cost": "peak"})
        written_out = sluice.Scenario.from_dict(
            {"model": sluice.model("cnn_mnist"), "platform": sluice.platform("gtx980"),
             "policy": {"name": "resident"}, "cost": {"model": "peak"}})
        self.assertEqual(made.run().metrics["makespan_s"], written_out.run().metrics["makespan_s"])
        changed = made.with_(model="lstm_ptb", platform="k40", policy="streamed", cost="roofline")
        self.assertEqual(changed.platform.name, "k40")
        self.assertEqual(changed.document["policy"], {"name": "streamed"})
        self.assertEqual(changed.document["cost"], {"model": "roofline"})
        again = changed.with_({"policy.prefetch": 0, "platform": "gtx980"})
        self.assertEqual(again.document["policy"], {"name": "streamed", "prefetch": 0})
        self.assertEqual(again.platform.name, "gtx980")

    def test_files_of_a_dict_are_relative_to_a_folder(self):
        document = {"model": {"file": "../models/alexnet.yaml"},
                    "platform": {"file": "../platforms/k40.yaml"}, "policy": {"name": "resident"}}
        made = sluice.Scenario.from_dict(document, relative_to=ROOT / "scenarios")
        self.assertEqual(made.platform.name, "k40")

    def test_a_scenario_does_not_change_with_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "s.yaml")
            path.write_text(small().text())
            loaded = sluice.load(path)
            path.write_text("nothing")
            self.assertEqual(dict(loaded.with_({"workload.steps": 1}).run().metrics),
                             dict(small().with_({"workload.steps": 1}).run().metrics))

    def test_a_result_leads_back_to_its_question(self):
        result = small().run()
        with tempfile.TemporaryDirectory() as folder:
            result.save(f"{folder}/t.h5")
            opened = sluice.open(f"{folder}/t.h5")
        asked = sluice.Scenario.from_text(opened.scenario)
        self.assertEqual(asked, small())
        self.assertEqual(dict(asked.run().metrics), dict(result.metrics))
        plan = sluice.Plan.from_text(opened.plan)
        self.assertEqual(plan.text(), small().plan().text())
        self.assertEqual(plan.run().metrics.makespan_s, result.metrics.makespan_s)
        for read, text in ((sluice.load, opened.scenario), (sluice.load_plan, opened.plan)):
            with self.assertRaisesRegex(sluice.InputError, "^this is the text of a (scenario|plan) .*: use sluice.*from_text$"):
                read(text)
        with self.assertRaisesRegex(sluice.InputError, r"mine.yaml:1:1: error"):
            sluice.Scenario.from_text("[]", "mine.yaml")
        with self.assertRaisesRegex(sluice.InputError, r"<text>:1"):
            sluice.Plan.from_text("no plan")

    def test_a_scenario_has_its_model_and_platform(self):
        model = sluice.model("alexnet", scale=2)
        made = sluice.Scenario.from_dict({"model": model, "platform": sluice.platform("k40"),
                                          "policy": {"name": "resident"}})
        self.assertEqual(made.model, model)
        self.assertEqual(made.model.macs, model.macs)
        self.assertEqual(made.platform, sluice.platform("k40"))
        self.assertEqual(sluice.Model.from_dict(model.document), model)
        self.assertEqual(sluice.Platform.from_dict(made.platform.document), made.platform)

    def test_equal_objects_compare_equal(self):
        for make, other in ((small, sluice.load(PHASED)),
                            (lambda: small().plan(), sluice.load(PHASED).plan()),
                            (lambda: sluice.model("alexnet", scale=2), sluice.model("alexnet")),
                            (lambda: sluice.platform("k40"), sluice.platform("k20"))):
            self.assertEqual(make(), make())
            self.assertEqual(len({make(), make(), other}), 2)
            self.assertNotEqual(make(), other)
            self.assertNotEqual(make(), None)
        builders = [sluice.PlanBuilder(sluice.platform("k40"), "b") for _ in range(2)]
        for builder in builders:
            builder.compute("gpu", 0)
        one, another = (builder.finish() for builder in builders)
        self.assertEqual(one, one)
        self.assertNotEqual(one, another)  # the seconds of their actions are not known

    def test_everything_can_be_pickled(self):
        for thing in (small(), small().plan(), sluice.model("alexnet", scale=2), sluice.platform("k40")):
            again = pickle.loads(pickle.dumps(thing))
            self.assertEqual(repr(again), repr(thing))
            self.assertEqual(again, thing)

    def test_a_result_can_be_pickled_and_copied(self):
        result = small().run()
        for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            self.assertEqual(dict(again.metrics), dict(result.metrics))
            self.assertTrue(again.spans.equals(result.spans))
            self.assertEqual(again.scenario, result.scenario)
            with tempfile.TemporaryDirectory() as folder:
                again.save(f"{folder}/again.h5")
                result.save(f"{folder}/t.h5")
                self.assertEqual(_content(f"{folder}/again.h5"), _content(f"{folder}/t.h5"))

    def test_everything_has_a_text_and_a_page(self):
        for thing in (small(), small().plan(), small().run(), small().run().metrics,
                      sluice.model("alexnet"), sluice.platform("k40")):
            self.assertGreater(len(repr(thing)), 10)
            self.assertIn("<", thing._repr_html_())

    def test_catalogs_and_documents_are_listed(self):
        self.assertIn("phased", sluice.policies().index)
        self.assertIn("alexnet", sluice.models().index)
        self.assertIn("k40", sluice.platforms().index)
        self.assertIn("phased_ipu_pair", sluice.scenarios().index)
        self.assertIn("conv2d", sluice.layers().index)
        self.assertIn("makespan_s", sluice.metrics().index)

    def test_progress_is_reported(self):
        # There are 10 stages with a computation for each of 900 samples, 900 inputs and 900 answers. The weights,
        # 40,666,752,000 B, come in 197 pieces of at most 1/192 of them.
        told = []
        sluice.load("alexnet_x200").run(progress=lambda done, all: told.append((done, all)))
        self.assertTrue(told)
        for done, everything in told:
            self.assertEqual(done % 4096, 0)
            self.assertEqual(everything, 10997)

    def test_an_exception_of_progress_reaches_the_caller(self):
        def stop(done, everything):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            sluice.load("alexnet_x200").run(progress=stop)
        small().run()


class Complaints(unittest.TestCase):
    """Errors have the text of the command line, and a class for each exit code."""

    def complains(self, kind, action, words):
        with self.assertRaises(kind) as caught:
            action()
        said = program(*words, code=kind.exit_code).stderr
        said = said.removeprefix("sluice: ").rstrip("\n")
        self.assertEqual(str(caught.exception), said)
        self.assertIsInstance(caught.exception, sluice.Error)

    def test_of_an_override_of_a_missing_key(self):
        self.complains(sluice.InputError,
                       lambda: sluice.load(PHASED).with_({"platform.links.hots.bandwidth": "1GB/s"}),
                       ["run", PHASED, "platform.links.hots.bandwidth=1GB/s"])

    def test_of_a_value_of_the_wrong_dimension(self):
        self.complains(sluice.InputError,
                       lambda: sluice.load(PHASED, {"platform.links.host.bandwidth": "64GB"}),
                       ["run", PHASED, "platform.links.host.bandwidth=64GB"])

    def test_of_a_value_that_is_not_a_number(self):
        self.complains(sluice.InputError, lambda: sluice.load(PHASED, {"workload.batch": "many"}),
                       ["run", PHASED, "workload.batch=many"])

    def test_of_a_scenario_that_does_not_fit(self):
        # The whole message, as --json has it; for a reader of the command line it is cut to five lines.
        path, change = ROOT / "scenarios/alexnet_x200.yaml", "platform.devices.gpu.memory.capacity"
        with self.assertRaises(sluice.Infeasible) as caught:
            sluice.load(path, {change: "1GB"}).run()
        told = json.loads(program("run", path, f"{change}=1GB", "--json", code=4).stdout)["infeasible"]
        self.assertEqual(str(caught.exception), told["message"])
        self.assertTrue(told["message"].startswith(told["headline"]))

    def test_a_shortage_is_given_in_numbers(self):
        # 100 B of weights of one product, on a device of 64 B: the load waits for ever.
        scenario = sluice.Scenario.from_dict({
            "model": sluice.model("matmul_chain", layers=1, size=5),
            "platform": {"format": "sluice-platform/1", "name": "small", "devices": {"gpu": {
                "rate": {"float32": "1TFLOP/s"}, "memory": {"capacity": "64B"}}},
                "memories": {"host": {"capacity": "1GB"}},
                "links": {"host": {"joins": ["host", "gpu"], "bandwidth": "1GB/s"}}},
            "workload": {"batch": 1}, "stages": {"cut": "whole"},
            "policy": {"name": "resident", "outputs": "discard"}})
        with self.assertRaises(sluice.Infeasible) as raised:
            scenario.plan().check()
        error = raised.exception
        self.assertEqual(error.pool, "gpu")
        self.assertEqual(error.available_bytes, 64)
        self.assertGreater(error.needed_bytes, 64)
        self.assertEqual(sum(error.by_class.values()), error.needed_bytes)
        self.assertEqual(pickle.loads(pickle.dumps(error)).by_class, error.by_class)
        with self.assertRaises(sluice.Infeasible) as of_run:  # the helper reports it
            scenario.run()
        self.assertEqual(of_run.exception.needed_bytes, error.needed_bytes)
        self.assertEqual(str(of_run.exception), str(error))

    def test_a_plan_that_blocks_says_who_waits(self):
        text = """format: sluice-plan/1
name x
pool host capacity=unlimited shared
pool gpu capacity=100B
link l bandwidth=1GB/s
route host>gpu links=l
stream c kind=compute device=gpu
stream d kind=copy device=gpu
tensor w class=weight bytes=80 home=host
tensor x class=input bytes=30 home=host
prologue:
0LOAD on=d kind=load moves=w route=host>gpu bytes=80 allocates=w@gpu
1LOAD on=d kind=load moves=x route=host>gpu bytes=30 allocates=x@gpu
0F on=c kind=forward seconds=1 waits=1LOAD uses=w@gpu,x@gpu
"""
        for ask in (sluice.Plan.check, sluice.Plan.run):
            with self.assertRaises(sluice.Infeasible) as raised:
                ask(sluice.Plan.from_text(text))
            error = raised.exception
            self.assertEqual((error.pool, error.needed_bytes, error.available_bytes), ("gpu", 110, 100))
            self.assertEqual(error.by_class, {"weight": 80, "input": 30})
            self.assertAlmostEqual(error.time_s, 80e-9, 15)
            compute, load = error.waiters
            self.assertEqual((compute.action, compute.awaits, compute.pool), ("0F", "1LOAD", None))
            self.assertEqual((load.action, load.pool, load.bytes, load.tensors),
                             ("1LOAD", "gpu", 30, ("x",)))

    def test_of_a_name_that_is_not_in_the_zoo(self):
        self.complains(sluice.InputError, lambda: sluice.load("alexnet_x20"), ["run", "alexnet_x20"])

    def test_of_a_missing_trace(self):
        self.complains(sluice.IoError, lambda: sluice.open("no/such.h5"), ["show", "no/such.h5"])

    def test_of_a_missing_folder(self):
        result = small().run()
        with self.assertRaisesRegex(sluice.IoError, "no/such"):
            result.save("no/such/trace.h5")
        with self.assertRaises(OSError):
            result.export("no/such/trace.csv")

    def test_of_a_plan_that_blocks(self):
        text = small().plan().text().replace("name ", "name ", 1)
        lines = [line.replace("capacity=", "capacity=1B was=") if line.startswith("pool ipu0")
                 else line for line in text.splitlines()]
        lines = [line.split(" was=")[0] for line in lines]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "p.plan")
            path.write_text("\n".join(lines) + "\n")
            self.complains(sluice.Infeasible, lambda: sluice.load_plan(path).run(), ["run", path])

    def test_of_values_that_no_document_holds(self):
        with self.assertRaisesRegex(sluice.InputError, "object.*platform"):
            small().with_({"platform": {"links": object()}})
        with self.assertRaisesRegex(sluice.InputError, "finite"):
            small().with_({"workload.batch": float("nan")})
        with self.assertRaises(sluice.UsageError):
            small().with_("workload.batch=3")
        with self.assertRaisesRegex(sluice.InputError, "'workload.batch=3' has a '='"):
            small().with_({"workload.batch=3": 1})

    def test_of_a_file_that_a_document_may_not_name(self):
        document = {"model": "/usr/m.yaml", "platform": "k40", "policy": "resident"}
        with self.assertRaisesRegex(sluice.InputError, r"'/usr/m.yaml' leads out of(.|\n)*by their names, like"):
            sluice.Scenario.from_dict(document)
        with self.assertRaisesRegex(sluice.InputError, "cannot read '/usr/m.yaml'"):
            small().with_({"model.file": pathlib.Path("/usr/m.yaml")})
        with self.assertRaisesRegex(sluice.InputError, "'gtp2'.*did you mean 'gpt2'"):
            small().with_(model="gtp2")

    def test_of_a_scenario_that_can_never_fit(self):
        model = sluice.model("alexnet")
        for batch, said in ((-4, "-4"), (4.5, "4.5"), ("4", "'4'"), (10**13, "'10000000000000'")):
            with self.assertRaisesRegex(sluice.InputError, f"^{said} for 'batch': expected an integer"):
                model.fits("k40", batch=batch)
        with self.assertRaisesRegex(sluice.InputError, r"has no rate for float16(.|\n)*of platform 'k40'"):
            model.fits("k40", dtype="float16")
        cards = model.fits(["a100_pcie", "k40"], dtype="float16")
        self.assertIn("has no rate for float16", cards.loc["k40", "error"])
        self.assertGreater(cards.loc["a100_pcie", "largest"], 0)
        for call in (model.fits, model.stage_table):
            with self.assertRaisesRegex(sluice.InputError, "a int is not a platform: expected"):
                call(40)

    def test_of_a_dict_with_the_path_to_the_value(self):
        document = small().document
        document["policy"]["nmae"] = "phased"
        with self.assertRaisesRegex(sluice.InputError, r"<dict>:\d+:\d+: error: .*'nmae'"):
            sluice.Scenario.from_dict(document)

    def test_of_an_export_to_an_unknown_format(self):
        with self.assertRaises(sluice.UsageError):
            small().run().export("trace.xyz")
        with self.assertRaisesRegex(sluice.InputError, "perfetto"):
            small().run().export("trace.xyz", to="gantt")
        with self.assertRaisesRegex(sluice.UsageError, "'layer'.*did you mean 'layers'.*metrics, stages"):
            small().run().export("trace.xyz", to="data-island", table="layer")
        with self.assertRaisesRegex(sluice.UsageError, "'layers' for 'table': .* has no tables, leave it out"):
            small().run().export("trace.csv", table="layers")
        with self.assertRaisesRegex(sluice.InputError, "of a plan file, which does not name layers"):
            sluice.Plan.from_text(small().plan().text()).run().export("t", to="data-island",
                                                                      table="layers")


class Documented(unittest.TestCase):
    def test_the_examples_of_docstrings_run(self):
        for thing in (sluice, sluice.Scenario.with_, sluice.policy):
            with self.subTest(of=thing):
                exec(_example(thing), {"sluice": sluice, "scenario": sluice.load("alexnet_x200")})


    def test_everything_that_a_policy_needs_is_documented(self):
        text = sluice.policy.__doc__
        for one in (sluice.Stage, sluice.Workload, sluice.PlanBuilder, sluice.Action, sluice.Platform):
            self.assertIn(one.__name__, text)
            self.assertIn(one.__name__, sluice.__all__)
        for one in (sluice.Stage, sluice.Workload):
            for field in one._fields:
                self.assertIn(field, one.__doc__, one.__name__)
                self.assertIn(field, text)
        for name in ("model", "platform", "policy", "metrics"):  # only functions, and no modules
            self.assertIsNone(importlib.util.find_spec(f"sluice.{name}"))


class Typed(unittest.TestCase):
    def test_the_stubs_name_exactly_what_the_module_has(self):
        stub = ast.parse(pathlib.Path(sluice.__file__).with_name("_sluice.pyi").read_text())
        module = sluice._sluice
        named = {node.name: node for node in stub.body
                 if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(set(named), {name for name in dir(module) if name[0] != "_"})
        for name, node in named.items():
            if isinstance(node, ast.FunctionDef):
                continue
            members = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
            members |= {inner.target.id for inner in node.body if isinstance(inner, ast.AnnAssign)}
            has = {inner for inner in dir(getattr(module, name)) if inner[0] != "_"}
            self.assertEqual({inner for inner in members if inner[0] != "_"}, has, name)

    def test_public_names_have_a_docstring_and_types(self):
        self.assertTrue(pathlib.Path(sluice.__file__).with_name("py.typed").exists())
        for name in sluice.__all__:
            thing = getattr(sluice, name)
            self.assertTrue(thing.__doc__, name)
            members = vars(thing).items() if isinstance(thing, type) else []
            for inner, member in members:
                member = getattr(member, "__func__", getattr(member, "fget", member))
                if inner[0] == "_" or not callable(member):
                    continue
                self.assertTrue(member.__doc__ or isinstance(member, type), f"{name}.{inner}")
                self.assertIn("return", member.__annotations__, f"{name}.{inner}")


def _example(thing):
    """Returns the indented lines of the docstring."""
    lines = inspect.getdoc(thing).splitlines()
    return textwrap.dedent("\n".join(line for line in lines if line[:4] == "    " or not line))


def _content(path):
    import h5py

    with h5py.File(path) as file:
        return file.attrs["content_sha256"]


if __name__ == "__main__":
    unittest.main()
