#!/usr/bin/python3
"""Tests that pictures and comparisons accept any argument, or refuse the argument with an error of Sluice and a
message."""

import contextlib
import inspect
import unittest
import warnings

from sluice_package import need, sluice

need("numpy", "pandas", "matplotlib", "xarray")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from test_garbage import values  # noqa: E402

KEY = "platform.links.host.bandwidth"
RESULT = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 1, "workload.steps": 1}).run()
SWEEP = sluice.load("phased_ipu_pair", {"workload.batches_per_step": 1, "workload.steps": 1}).sweep(
    {KEY: ["16GB/s", "64GB/s"], "workload.steps": [1, 2]}, verify=0)
CURVE = sluice.load("alexnet_resident", {"cost.model": "roofline"}).placement("50%", ["static", "all_fast"])
BOTH = sluice.compare({"a": RESULT, "b": RESULT})




class Arguments(unittest.TestCase):
    def test_arguments_of_any_kind_are_answered_or_refused(self):
        subjects = [(getattr(RESULT.plot, name), []) for name in ("timeline", "memory", "utilisation", "roofline")]
        subjects += [(getattr(BOTH.plot, name), []) for name in ("timeline", "memory", "utilisation")]
        subjects += [(SWEEP.plot.curve, [KEY, "step_s"]), (SWEEP.plot.heatmap, [KEY, "workload.steps", "step_s"]),
                     (CURVE.plot.slowdown, []), (CURVE.plot.tensors, []), (CURVE.tensors, []), (CURVE.plan, ["static"]),
                     (sluice.compare, []), (BOTH.to_xarray, []), (RESULT.resampled, []), (sluice.paper, [])]
        failures, calls, refused = [], 0, 0
        for function, args in subjects:
            for place, name in enumerate(inspect.signature(function).parameters):
                for value in values():
                    calls += 1
                    given = list(args)
                    more = {} if place < len(args) else {name: value}
                    if place < len(args):
                        given[place] = value
                    try:
                        with warnings.catch_warnings(), contextlib.ExitStack() as stack:
                            warnings.simplefilter("ignore")
                            done = function(*given, **more)
                            if function is sluice.paper:
                                stack.enter_context(done)
                    except sluice.Error as error:
                        refused += 1
                        self.assertGreater(len(str(error)), 9)
                    except BaseException as error:
                        failures.append(f"{function.__qualname__}({name}={type(value).__name__}): "
                                        f"{type(error).__name__}: {str(error)[:80]}")
                    plt.close("all")
        self.maxDiff = None
        self.assertEqual(failures, [], f"{len(failures)} of {calls} calls")
        self.assertGreater(refused, calls / 3)


if __name__ == "__main__":
    unittest.main()
