#!/usr/bin/python3
"""Tests scenarios as users write them: names, changes, element types, and warnings about dropped keys."""

import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings

from sluice_package import need, sluice

need("numpy", "pandas")
import numpy  # noqa: E402


class Names(unittest.TestCase):
    def test_a_name_is_accepted_everywhere_instead_of_a_document(self):
        loaded = sluice.load("alexnet_resident")
        self.assertEqual(sluice.Scenario("alexnet_resident"), loaded)
        self.assertEqual(sluice.Scenario("alexnet_resident").run().metrics.makespan_s,
                         loaded.run().metrics.makespan_s)
        self.assertEqual(sluice.Scenario(loaded.document), loaded)
        self.assertEqual(sluice.Model("gpt2"), sluice.model("gpt2"))
        self.assertEqual(sluice.Model(sluice.model("gpt2").document), sluice.model("gpt2"))
        self.assertEqual(sluice.Platform("k40"), sluice.platform("k40"))
        self.assertEqual(sluice.Platform(sluice.platform("k40").document), sluice.platform("k40"))
        asked = sluice.Scenario({"model": "gpt2", "platform": "k40", "policy": "resident"})
        self.assertEqual((asked.model.name, asked.platform.name), ("gpt2", "k40"))
        changed = loaded.with_(platform="k40", model="resnet50")
        self.assertEqual((changed.model, changed.platform.name), (sluice.model("resnet50"), "k40"))
        self.assertEqual(changed, loaded.with_(platform=sluice.Platform("k40"), model=sluice.Model("resnet50")))

    def test_objects_made_by_name_can_be_pickled(self):
        for made in (sluice.Scenario("alexnet_resident"), sluice.Model("alexnet"), sluice.Platform("k40")):
            self.assertEqual(pickle.loads(pickle.dumps(made)), made)
        self.assertIs(pickle.loads(pickle.dumps(sluice.load)), sluice.load)  # Dask pickles functions, too

    def test_an_unknown_name_says_where_names_are(self):
        for make, words in ((sluice.Scenario, "list scenarios"), (sluice.Model, "list models"),
                            (sluice.Platform, "list platforms")):
            with self.assertRaisesRegex(sluice.InputError, words):
                make("no_such_thing")

    def test_the_first_lines_of_the_page_on_python_work_in_any_folder(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"
        lines = page.read_text().split("```python\n")[1].splitlines()[:4]
        self.assertTrue(lines[1].startswith("scenario = sluice.load("), lines)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_only_public_names_are_visible(self):
        self.assertEqual({name for name in dir(sluice) if name[0] != "_"}, set(sluice.__all__))


class Models(unittest.TestCase):
    def test_parameters_change(self):
        self.assertEqual(sluice.model("gpt2").with_(blocks=3), sluice.model("gpt2", blocks=3))
        self.assertEqual(sluice.model("alexnet").with_(scale=200).parameters,
                         200 * sluice.model("alexnet").parameters)
        chain = sluice.model("matmul_chain")  # a model with a parameter called `layers`
        self.assertEqual(chain.with_(layers=7).parameters, 7 * 250 * 250)

    def test_a_layer_is_changed_by_its_name_or_position(self):
        model = sluice.model("alexnet")
        wide = model.with_({"layers.conv1.channels": 128, "name": "wide"})
        self.assertEqual(wide.name, "wide")
        # The change gives conv1 32 more channels. Each channel adds 11 x 11 x 3 weights to conv1, and 5 x 5 x 256
        # weights to conv2, which reads it.
        self.assertEqual(wide.parameters - model.parameters, 32 * (11 * 11 * 3 + 5 * 5 * 256))
        self.assertEqual(model.with_({"layers.1.channels": 128}).parameters, wide.parameters)
        asked = sluice.load("alexnet_x200").with_({"model.definition.layers.conv1.channels": 128})
        self.assertEqual(asked.model.parameters, 200 * wide.parameters)

    def test_a_layer_within_a_repetition_is_found_by_its_name(self):
        changed = sluice.model("matmul_chain").with_({"layers.product.features": 7})
        self.assertEqual(changed.parameters, 250 * 7 + 7 * 7 + 7 * 7)

    def test_layers_are_read_by_name(self):
        model = sluice.model("alexnet")
        self.assertEqual(model.layers[:3], ["image", "conv1", "relu1"])
        self.assertEqual(model.layer("conv1").parameters, 11 * 11 * 3 * 96)
        with self.assertRaisesRegex(sluice.InputError, "did you mean 'conv1'"):
            model.layer("conb1")
        with self.assertRaisesRegex(sluice.InputError, "'convv1'.*did you mean 'conv1'.*or its name"):
            model.with_({"layers.convv1.channels": 1})
        with self.assertRaisesRegex(sluice.InputError, "no parameter 'bloks'"):
            sluice.model("gpt2").with_(bloks=1)

    def test_the_names_of_other_libraries_are_understood(self):
        layers = [{"type": "input", "shape": [3]}, {"type": "linear", "features": 3}]
        with self.assertRaisesRegex(sluice.InputError, "did you mean 'dense'"):
            sluice.Model({"format": "sluice-model/1", "name": "x", "layers": layers})

    def test_a_platform_without_a_rate_is_a_row_of_fits(self):
        table = sluice.model("alexnet").fits(["a100_pcie", "k40"], dtype=numpy.float16)
        self.assertGreater(table.loc["a100_pcie", "largest"], 0)
        self.assertIn("float16", table.loc["k40", "error"])


class Changes(unittest.TestCase):
    def test_numpys_element_types_are_accepted(self):
        scenario = sluice.load("alexnet_x200")
        half = scenario.with_({"workload.dtype": "float16"})
        for given in (numpy.float16, numpy.dtype("float16"), numpy.zeros(1, "float16").dtype):
            self.assertEqual(scenario.with_({"workload.dtype": given}), half)
            self.assertEqual(scenario.platform.flop_per_s("gpu", given), 122.8e12)
        table = scenario.model.stage_table(dtype=numpy.float64)
        self.assertTrue(table.equals(scenario.model.stage_table(dtype="float64")))
        frame = scenario.sweep({"workload.dtype": [numpy.float32, numpy.float16]}, verify=0).frame
        self.assertEqual(list(frame["workload.dtype"]), ["float32", "float16"])
        with self.assertRaisesRegex(sluice.InputError, "complex64"):
            scenario.with_({"workload.dtype": numpy.complex64})

    def test_torchs_element_types_are_accepted(self):
        need("torch")
        import torch

        scenario = sluice.load("alexnet_x200")
        self.assertEqual(scenario.with_({"workload.dtype": torch.bfloat16}).document["workload"]["dtype"],
                         "bfloat16")

    def test_a_mapping_that_drops_keys_says_so(self):
        scenario = sluice.load("alexnet_x200")
        with self.assertWarnsRegex(sluice.KeysDropped, r"'workload'.*batches_per_step: 900.*'workload.batch'"):
            changed = scenario.with_(workload={"batch": 8})
        self.assertEqual(changed.document["workload"], {"batch": 8})
        with self.assertWarnsRegex(sluice.KeysDropped, "overlap"):
            scenario.with_({"policy": {"name": "streamed"}})

    def test_replacing_a_whole_object_drops_nothing(self):
        scenario = sluice.load("alexnet_x200")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scenario.with_(policy={"name": "resident"}, platform=sluice.platform("k40").document,
                           model=sluice.model("alexnet").document)
            scenario.with_(workload={**scenario.document["workload"], "batch": 8})
            scenario.with_({"workload.batch": 8}).with_(policy="resident")

    def test_a_wrong_cut_is_refused_at_once(self):
        with self.assertRaisesRegex(sluice.InputError, "did you mean 'per_layer'"):
            sluice.load("alexnet_x200").with_({"stages.cut": "per-layer"})

    def test_a_suggestion_is_given(self):
        scenario = sluice.load("alexnet_x200")
        for keys in ({"workload_batch": 8}, {"workload__batch": 8}):
            with self.assertRaisesRegex(sluice.InputError, r"with_\(\{'workload.batch'"):
                scenario.with_(**keys)
        with self.assertRaisesRegex(sluice.InputError, r"scenario\.sweep\(\{'workload.batch'"):
            scenario.with_({"workload.batch": [1, 2, 4]})


if __name__ == "__main__":
    unittest.main()
