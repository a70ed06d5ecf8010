#!/usr/bin/python3
"""Tests that the exceptions of the Python package have the messages and exit codes of the command line."""

import json
import pathlib
import pickle
import tempfile
import unittest

from package_case import PHASED, ROOT, program, small
from sluice_package import sluice


class Complaints(unittest.TestCase):
    """Tests that errors have the texts of the command line, with one class per exit code."""

    def complains(self, kind, action, words):
        with self.assertRaises(kind) as caught:
            action()
        said = program(*words, code=kind.exit_code).stderr
        said = said.removeprefix("sluice: ").rstrip("\n")
        self.assertEqual(str(caught.exception), said)
        self.assertIsInstance(caught.exception, sluice.Error)

    def test_the_error_for_an_override_of_a_missing_key(self):
        self.complains(sluice.InputError,
                       lambda: sluice.load(PHASED).with_({"platform.links.hots.bandwidth": "1GB/s"}),
                       ["run", PHASED, "platform.links.hots.bandwidth=1GB/s"])

    def test_the_error_for_a_value_of_the_wrong_dimension(self):
        self.complains(sluice.InputError,
                       lambda: sluice.load(PHASED, {"platform.links.host.bandwidth": "64GB"}),
                       ["run", PHASED, "platform.links.host.bandwidth=64GB"])

    def test_the_error_for_a_value_that_is_not_a_number(self):
        self.complains(sluice.InputError, lambda: sluice.load(PHASED, {"workload.batch": "many"}),
                       ["run", PHASED, "workload.batch=many"])

    def test_the_error_for_a_scenario_that_does_not_fit(self):
        # The exception has the whole message, as does the output of the command line with --json. Without --json, the
        # command line prints only five lines of the message.
        path, change = ROOT / "scenarios/alexnet_x200.yaml", "platform.devices.gpu.memory.capacity"
        with self.assertRaises(sluice.Infeasible) as caught:
            sluice.load(path, {change: "1GB"}).run()
        told = json.loads(program("run", path, f"{change}=1GB", "--json", code=4).stdout)["infeasible"]
        self.assertEqual(str(caught.exception), told["message"])
        self.assertTrue(told["message"].startswith(told["headline"]))

    def test_a_shortage_is_given_in_numbers(self):
        # The only layer has 100 B of weights, and the memory of the device has 64 B. So the load of the weights waits
        # for ever.
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
        with self.assertRaises(sluice.Infeasible) as of_run:  # the helper process reports the shortage
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

    def test_the_error_for_a_name_that_is_not_in_the_zoo(self):
        self.complains(sluice.InputError, lambda: sluice.load("alexnet_x20"), ["run", "alexnet_x20"])

    def test_the_error_for_a_missing_trace(self):
        self.complains(sluice.IoError, lambda: sluice.open("no/such.h5"), ["show", "no/such.h5"])

    def test_the_error_for_a_missing_folder(self):
        result = small().run()
        with self.assertRaisesRegex(sluice.IoError, "no/such"):
            result.save("no/such/trace.h5")
        with self.assertRaises(OSError):
            result.export("no/such/trace.csv")

    def test_the_error_for_a_plan_that_blocks(self):
        text = small().plan().text().replace("name ", "name ", 1)
        lines = [line.replace("capacity=", "capacity=1B was=") if line.startswith("pool ipu0")
                 else line for line in text.splitlines()]
        lines = [line.split(" was=")[0] for line in lines]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "p.plan")
            path.write_text("\n".join(lines) + "\n")
            self.complains(sluice.Infeasible, lambda: sluice.load_plan(path).run(), ["run", path])

    def test_the_error_for_values_that_no_document_holds(self):
        with self.assertRaisesRegex(sluice.InputError, "object.*platform"):
            small().with_({"platform": {"links": object()}})
        with self.assertRaisesRegex(sluice.InputError, "finite"):
            small().with_({"workload.batch": float("nan")})
        with self.assertRaises(sluice.UsageError):
            small().with_("workload.batch=3")
        with self.assertRaisesRegex(sluice.InputError, "'workload.batch=3' has a '='"):
            small().with_({"workload.batch=3": 1})

    def test_the_error_for_a_file_that_a_document_may_not_name(self):
        document = {"model": "/usr/m.yaml", "platform": "k40", "policy": "resident"}
        with self.assertRaisesRegex(sluice.InputError, r"'/usr/m.yaml' leads out of(.|\n)*files of Sluice, such as"):
            sluice.Scenario.from_dict(document)
        with self.assertRaisesRegex(sluice.InputError, "cannot read '/usr/m.yaml'"):
            small().with_({"model.file": pathlib.Path("/usr/m.yaml")})
        with self.assertRaisesRegex(sluice.InputError, "'gtp2'.*did you mean 'gpt2'"):
            small().with_(model="gtp2")

    def test_the_error_for_a_scenario_that_can_never_fit(self):
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

    def test_the_error_for_a_dict_with_the_path_to_the_value(self):
        document = small().document
        document["policy"]["nmae"] = "phased"
        with self.assertRaisesRegex(sluice.InputError, r"<dict>:\d+:\d+: error: .*'nmae'"):
            sluice.Scenario.from_dict(document)

    def test_the_error_for_an_export_to_an_unknown_format(self):
        with self.assertRaises(sluice.UsageError):
            small().run().export("trace.xyz")
        with self.assertRaisesRegex(sluice.InputError, "perfetto"):
            small().run().export("trace.xyz", to="gantt")
        with self.assertRaisesRegex(sluice.UsageError, "'layer'.*did you mean 'layers'.*metrics, stages"):
            small().run().export("trace.xyz", to="data-island", table="layer")
        with self.assertRaisesRegex(sluice.UsageError, "'layers' for 'table': .* has no tables; leave out 'table'"):
            small().run().export("trace.csv", table="layers")
        with self.assertRaisesRegex(sluice.InputError, "of a plan file, which does not name layers"):
            sluice.Plan.from_text(small().plan().text()).run().export("t", to="data-island",
                                                                      table="layers")


if __name__ == "__main__":
    unittest.main()
