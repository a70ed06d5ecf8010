#!/usr/bin/python3
"""Tests scenarios in Python: changes, dicts, texts, pickles, and the lists of the catalogs."""

import copy
import json
import pathlib
import pickle
import tempfile
import unittest

from package_case import PHASED, ROOT, content_of, program, small
from sluice_package import sluice

import numpy as np


class Questions(unittest.TestCase):
    def test_changes_are_the_overrides_of_the_command_line(self):
        base = sluice.load(PHASED)
        faster = base.with_({"platform.links.host.bandwidth": "64GB/s"})
        self.assertNotEqual(faster, base)
        said = json.loads(program("run", PHASED, "platform.links.host.bandwidth=64GB/s",
                                  "--json").stdout)
        self.assertEqual(dict(faster.run().metrics), said["metrics"])
        self.assertEqual(base, sluice.load(PHASED))  # with_ did not change the base

    def test_a_mapping_replaces_the_present_mapping(self):
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
        model = {"model.file": "../models/alexnet_torchvision.yaml"}  # makes Sluice read the whole scenario again
        self.assertEqual(replaced.with_(model), base.with_(platform=sluice.platform("k40")).with_(model))
        both = {"platform.links.host.bandwidth": "1GB/s", "platform": sluice.platform("k40")}
        self.assertEqual(base.with_(both).with_(model).document["platform"]["links"]["host"]["bandwidth"],
                         "1GB/s")

    def test_a_platform_replaces_the_present_platform(self):
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
        self.assertNotEqual(one, another)  # a plan without seconds is equal only to itself

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
                self.assertEqual(content_of(f"{folder}/again.h5"), content_of(f"{folder}/t.h5"))

    def test_every_object_has_a_text_and_an_html_form(self):
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
        # The run has 10 x 900 computations (10 stages, 900 samples), 900 loads of inputs, 900 saves of answers and 197
        # loads of weights. Each load of weights brings one piece. The weights of all stages have 40,666,752,000 B, and
        # a piece has at most 1/192 of these bytes. Each stage is divided into pieces of its own, so there are more than
        # 192 pieces.
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


if __name__ == "__main__":
    unittest.main()
