#!/usr/bin/python3
"""Tests that the Python package gives the same answers as the command line. All exported names must be documented and
typed."""

import ast
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

from package_case import PHASED, PROGRAM, ROOT, SCENARIOS, SMALL, content_of, program, small
from sluice_package import sluice


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
                self.assertEqual(content_of(f"{folder}/b.h5"), said["trace"]["content_sha256"])
                self.assertEqual(os.listdir(folder).count("b.h5.part"), 0)

    def test_an_opened_trace_is_the_result_that_was_saved(self):
        result = small().run()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "trace.h5")
            result.save(path)
            opened = sluice.open(path)
            opened.save(f"{folder}/again.h5")
            self.assertEqual(content_of(path), content_of(f"{folder}/again.h5"))
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
        self.assertIn("links.host.bandwidth", result.certainty.figures)  # a changed figure has no source
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
        for name in ("question_bound_s", "question_ratio"):  # a plan does not name the scenario from which it was made
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
        for name in ("model", "platform", "policy", "metrics"):  # these names are functions, not modules
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
    """Returns the indented lines in the docstring of `thing`."""
    lines = inspect.getdoc(thing).splitlines()
    return textwrap.dedent("\n".join(line for line in lines if line[:4] == "    " or not line))


if __name__ == "__main__":
    unittest.main()
