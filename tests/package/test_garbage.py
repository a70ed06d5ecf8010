#!/usr/bin/python3
"""Tests that every public function accepts any argument, or refuses the argument with an error of Sluice and a
message."""

import inspect
import os
import pathlib
import tempfile
import unittest
import warnings

from sluice_package import need, sluice

need("numpy", "pandas", "matplotlib")
import matplotlib  # noqa: E402
import numpy  # noqa: E402

matplotlib.use("Agg")
SMALL = {"workload.batches_per_step": 1, "workload.steps": 1}


class Hostile:
    """An object whose `repr` raises an error."""

    def __repr__(self):
        raise RuntimeError("no repr")


def values():
    """Returns values of many types. None of them was chosen for a certain parameter, so a value is a valid argument
    only by accident."""
    itself = {}
    itself["itself"] = itself
    deep = []
    for _ in range(5000):
        deep = [deep]
    return [None, True, 0, -1, 5, 2**70, 1.5, float("nan"), float("inf"), "", "x", "gpt2", "a\0b", "\udc80",
            "a: [", "é" * 3000, b"x", bytearray(b"x"), [], [1], ["x"], (), (1, "x"), {}, {"x": 1}, {1: 2},
            set(), range(3), itself, deep, [itself], object(), Hostile(), Hostile, len, lambda *a, **k: 3,
            ValueError("x"), 1j, numpy.float32, numpy.float32(1.5), numpy.arange(3), numpy.array(None),
            pathlib.Path("x"), iter([1]), Ellipsis, type]


def builder():
    made = sluice.PlanBuilder(sluice.platform("k40"), "plan")
    tensor = made.tensor("w", "weight", 10, home="host")
    return made, tensor


def subjects():
    """Yields pairs of a function and valid arguments for it. The test replaces each argument by each value of
    values()."""
    scenario = sluice.load("phased_ipu_pair", SMALL)
    plan, model, platform = scenario.plan(), sluice.model("alexnet"), sluice.platform("k40")
    yield from [(sluice.load, ["alexnet_x200"]), (sluice.model, ["alexnet"]), (sluice.platform, ["k40"]),
                (sluice.load_plan, ["x"]), (sluice.open, ["x"]), (sluice.Scenario, ["phased_ipu_pair"]),
                (sluice.Model, ["alexnet"]), (sluice.Platform, ["k40"]),
                (sluice.Scenario.from_dict, [scenario.document]), (sluice.Scenario.from_text, [scenario.text()]),
                (sluice.Model.from_dict, [model.document]), (sluice.Platform.from_dict, [platform.document]),
                (sluice.Plan.from_text, [plan.text()]), (sluice.Plan, [plan._native]),
                (scenario.with_, [{}]), (scenario.run, []), (scenario.sweep, [{"workload.batch": [1]}]),
                (plan.run, []), (plan.save, [os.devnull]), (model.with_, [{}]), (model.layer, ["conv1"]),
                (model.stage_table, [platform]), (model.fits, ["k40"]),
                (scenario.with_({"cost.model": "roofline"}).placement, ["50%", "all_slow"]), (platform.capacity, ["gpu"]),
                (platform.flop_per_s, ["gpu"]), (platform.bandwidth, ["host", "gpu"]),
                (sluice.minimise, [scenario, "makespan_s", {"workload.batch": (1, 2)}]),
                (sluice.maximise, [scenario, "makespan_s", {"workload.batch": (1, 2)}]),
                (sluice.parameter, ["x", "integer", "words"]), (sluice.policy, []),
                (sluice.PlanBuilder, [platform, "x"]), (sluice.from_torch, [None, None]),
                (sluice.profile_torch, [None, None, "x"])]
    result, sweep = scenario.run(), scenario.sweep({"workload.batch": [1]}, verify=0)
    yield from [(result.save, ["x.h5"]), (result.export, ["x.json"]), (sweep.best, ["makespan_s"]),
                (sweep.pareto, ["makespan_s", "flop"])]
    made, tensor = builder()
    yield from [(made.tensor, ["x", "weight", 1]), (made.memory, ["x", "gpu"]),
                (made.way, ["host", "gpu", 1.0]), (made.collective, ["x", "all_reduce", ["gpu"]]),
                (made.enter, ["body"]), (made.compute, ["gpu", 0]),
                (made.transfer, ["load", tensor, "host", "gpu"]), (made.fact, ["x", 1])]
    action = made.compute("gpu", 0)
    yield from [(action.wait, [None]), (action.allocate, [tensor, "gpu"]), (action.use, [tensor, "gpu"]),
                (action.flow, [tensor, "host", "gpu"]), (action.not_before, [1.0]), (action.part_of, [0]),
                (action.done, [1]), (action.ahead, [0])]


CHANGED = ("workload", "workload.batch", "workload.dtype", "policy", "policy.name", "model", "platform",
           "platform.links.host.bandwidth", "question", "stages", "x", "")


class Garbage(unittest.TestCase):
    def call(self, function, args, kwargs, what):
        """Calls the function. It must either return or raise one of Sluice's errors. Returns whether it raised such an
        error."""
        try:
            function(*args, **kwargs)
        except sluice.Error as error:
            self.assertGreater(len(str(error)), 9, what)
            return True
        except BaseException as error:
            self.failures.append(f"{what}: {type(error).__name__}: {str(error)[:90]}")
        return False

    def setUp(self):
        self.failures = []
        self.before = os.getcwd()
        self.folder = tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)
        warnings.simplefilter("ignore")

    def tearDown(self):
        os.chdir(self.before)
        self.folder.cleanup()

    def test_arguments_of_any_kind_are_answered_or_refused(self):
        calls = refused = 0
        for function, args in subjects():
            parameters = list(inspect.signature(function).parameters.values())
            for place, parameter in enumerate(parameters):
                if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                    continue
                for value in values():
                    if parameter.name == "progress" and callable(value):
                        continue  # an exception in the caller's own function is passed on to the caller
                    given, more = list(args), {}
                    if place < len(args):
                        given[place] = value
                    else:
                        more = {parameter.name: value}
                    if function is sluice.policy:
                        more = {"name": "x", "summary": "x", **more}
                    calls += 1
                    refused += self.call(function, given, more,
                                         f"{function.__qualname__}({parameter.name}={_shown(value)})")
        self.maxDiff = None
        self.assertEqual(self.failures, [], f"{len(self.failures)} of {calls} calls")
        self.assertGreater(calls, 1550)
        self.assertGreater(refused, calls / 2)

    def test_changes_of_any_kind_are_answered_or_refused(self):
        scenario, model = sluice.load("phased_ipu_pair", SMALL), sluice.model("alexnet")
        for key in CHANGED:
            for value in values():
                self.call(scenario.with_, [{key: value}], {}, f"with_({key}={_shown(value)})")
                self.call(model.with_, [{f"layers.conv1.{key}": value}], {}, f"{key}={_shown(value)}")
                self.call(scenario.sweep, [{key: [value]}], {}, f"sweep({key}={_shown(value)})")
                document = {**scenario.document, key: value}
                self.call(sluice.Scenario.from_dict, [document], {}, f"from_dict({key}={_shown(value)})")
        self.assertEqual(self.failures, [])


def _shown(value):
    try:
        return f"{value!r:.40}" if isinstance(value, (str, int, float)) else f"<{type(value).__name__}>"
    except Exception:
        return "?"


if __name__ == "__main__":
    unittest.main()
