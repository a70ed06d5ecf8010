#!/usr/bin/python3
"""Tests that a policy in Python works like any other policy."""

import tempfile
import unittest

from sluice_package import need, sluice

need("numpy", "pandas")

# A platform with one device of 1 TFLOP/s and 1 GB. The link has 1 GB/s each way and no latency.
PLATFORM = sluice.Platform.from_dict({
    "format": "sluice-platform/1", "name": "plain",
    "devices": {"gpu": {"rate": {"float32": "1TFLOP/s"}, "memory": {"capacity": "1GB"}}},
    "memories": {"host": {"capacity": "unlimited"}},
    "links": {"host": {"joins": ["host", "gpu"], "bandwidth": "1GB/s"}}})


@sluice.policy(name="one_by_one", summary="Loads a stage, computes all micro-batches with it, and drops its weights.",
               source="this test",
               parameters=[sluice.parameter("times", "integer", "repeats each load", default=1,
                                            minimum=1, maximum=9),
                           sluice.parameter("room", "quantity", "left free", unit="byte",
                                            default="1MB"),
                           sluice.parameter("order", "choice", "of the stages", default="up",
                                            choices=["up", "down"])])
def one_by_one(stages, platform, workload, parameters):
    seen.append((stages, platform, workload, parameters))
    if parameters["order"] == "down":
        raise LookupError("not downwards")
    builder = sluice.PlanBuilder(platform, "one_by_one")
    device, host = platform.device_names[0], platform.host
    count = workload.micro_batches_per_step
    builder.enter("body")
    made = []
    for m in range(count):
        made.append(builder.tensor(f"x.{m}", "input", stages[0].input_bytes, host))
    for stage in stages:
        first, last = stage is stages[0], stage is stages[-1]
        weights = builder.tensor(f"w.{stage.number}", "weight", stage.weight_bytes, host)
        load = builder.transfer("load", weights, host, device, release=False, stage=stage)
        for m, tensor in enumerate(made):
            brought = builder.transfer("load", tensor, host, device, release=False, stage=stage,
                                       micro_batch=m) if first else None
            made[m] = builder.tensor(f"y.{stage.number}.{m}", "output" if last else "activation",
                                     stage.output_bytes, host if last else None)
            compute = builder.compute(device, stage, m, workload.micro_batch)
            compute.wait(load).wait(brought).allocate(made[m], device).use(tensor, device)
            if m == count - 1:
                compute.use(weights, device)
            if last:
                builder.transfer("save", made[m], device, host, allocate=False, stage=stage,
                                 micro_batch=m).wait(compute).done(workload.micro_batch)
    builder.fact("times", parameters["times"])
    return builder.finish(workload.steps)


seen = []


def scenario(**policy):
    return sluice.Scenario.from_dict({
        "model": sluice.model("matmul_chain", layers=2, size=1000),
        "platform": PLATFORM, "workload": {"batch": 1, "batches_per_step": 1, "steps": 1},
        "stages": {"cut": "per_layer"}, "policy": {"name": "one_by_one", **policy}})


@sluice.policy(name="far_memory", summary="Weights are in a second memory, from which kernels read them.")
def far_memory(stages, platform, workload, parameters):
    builder = sluice.PlanBuilder(platform, "far_memory")
    builder.memory("gpu_ddr", "gpu", 10_000_000)
    builder.way("host", "gpu_ddr", 1e9)
    builder.way("gpu_ddr", "gpu", 2e9)
    stage, = stages
    weights = builder.tensor("w", "weight", stage.weight_bytes, "host")
    x = builder.tensor("x", "input", stage.input_bytes, "host")
    y = builder.tensor("y", "output", stage.output_bytes, "host")
    load = builder.transfer("load", weights, "host", "gpu_ddr", release=False, stage=stage)
    load.not_before(0.001)
    builder.enter("body")
    brought = builder.transfer("load", x, "host", "gpu", release=False, micro_batch=0)
    compute = builder.compute("gpu", stage, 0, workload.micro_batch).wait(load).wait(brought)
    compute.allocate(y, "gpu").use(x, "gpu").use(weights, "gpu_ddr")
    compute.flow(weights, "gpu_ddr", "gpu", 2 * stage.weight_bytes)
    builder.transfer("save", y, "gpu", "host", allocate=False, micro_batch=0).wait(compute).done(1)
    return builder.finish(workload.steps)


class Sweeps(unittest.TestCase):
    def test_a_policy_of_this_process_is_swept_here_and_nowhere_else(self):
        sweep = scenario().sweep({"workload.batch": [1, 2]}, verify=0)
        self.assertEqual(list(sweep.frame["status"]), ["complete"] * 2)
        with tempfile.TemporaryDirectory() as folder:
            for elsewhere in ({"workers": 1}, {"store": f"{folder}/study.db"}):
                argument, = elsewhere
                with self.assertRaisesRegex(sluice.UsageError, f"'one_by_one' is a Python function.*without {argument}="):
                    scenario().sweep({"workload.batch": [1, 2]}, verify=0, **elsewhere)
                with self.assertRaisesRegex(sluice.UsageError, "'far_memory' is a Python function"):
                    scenario(name="resident").sweep({"policy": ["resident", "far_memory"]}, verify=0, **elsewhere)
            mine = scenario(name="resident").sweep({"policy": ["resident", {"name": "streamed"}]}, verify=0,
                                                   store=f"{folder}/study.db")
            self.assertEqual(list(mine.frame["status"]), ["complete"] * 2)


class SecondMemory(unittest.TestCase):
    def test_a_computation_reads_its_weights_from_another_memory(self):
        # The input is loaded from 0 ms to 4 ms, and the weights (4e6 B) are loaded from 1 ms to 5 ms. The FLOP of the
        # computation take 2 ms. It reads the weights twice from the other memory. These 8e6 B take 4 ms at 2 GB/s, so
        # the computation lasts from 5 ms to 9 ms. The answer arrives at 13 ms.
        made = sluice.Scenario.from_dict({
            "model": sluice.model("matmul_chain", layers=1, size=1000), "platform": PLATFORM,
            "workload": {"batch": 1, "batches_per_step": 1, "steps": 1},
            "stages": {"cut": "per_layer"}, "policy": {"name": "far_memory"}})
        result = made.run(executor="both")
        self.assertAlmostEqual(result.metrics.makespan_s, 13e-3, 12)
        self.assertAlmostEqual(result.metrics.compute_s, 4e-3, 12)
        self.assertEqual(result.metrics.transferred_bytes, 20e6)
        text = made.plan().text()
        for line in ("pool gpu_ddr capacity=10000000B owner=gpu", "not_before=0.001s",
                     "flows=w@gpu_ddr>gpu:8000000", "uses=x@gpu,w@gpu_ddr"):
            self.assertIn(line, text)

    def test_limits_of_a_plan_are_checked_at_once(self):
        builder = sluice.PlanBuilder(PLATFORM, "wrong")
        tensor = builder.tensor("x", "input", 10)
        action = builder.compute("gpu", 0)
        for wrong, words in ((lambda: builder.memory("host", "gpu"), "already called 'host'"),
                             (lambda: builder.memory("ddr", "gpo"), "gpo"),
                             (lambda: builder.way("host", "gpu", 0), "more than 0 byte/s"),
                             (lambda: action.flow(tensor, "host", "ddr"), "'ddr'"),
                             (lambda: action.not_before(-1), "at least 0"),
                             (lambda: action.use(tensor, "gpu", read=False), "must read or write"),
                             (lambda: action.part_of(0), "no collective 0"),
                             (lambda: builder.collective("c", "load", ["gpu"]), "all_reduce")):
            with self.subTest(words=words), self.assertRaisesRegex(sluice.InputError, words):
                wrong()


class Alike(unittest.TestCase):
    def test_the_makespan_equals_the_arithmetic(self):
        # A product of two matrices 1000 x 1000 has 2e9 FLOP, which take 2 ms at 1 TFLOP/s. Each matrix has 4e6 bytes,
        # which take 4 ms over the link. The weights of stage 0 are loaded from 0 ms to 4 ms, the input is loaded from 4
        # ms to 8 ms, and the weights of stage 1 are loaded from 8 ms to 12 ms. Stage 0 computes from 8 ms to 10 ms, and
        # stage 1 computes from 12 ms to 14 ms. The answer is saved from 14 ms to 18 ms.
        result = scenario().run()
        self.assertAlmostEqual(result.metrics.makespan_s, 18e-3, 12)
        self.assertAlmostEqual(result.metrics.compute_s, 4e-3, 15)
        self.assertEqual(result.metrics.samples, 1)
        self.assertEqual(result.metrics.flop, 4e9)

    def test_the_plan_has_what_the_policy_decided(self):
        plan = scenario(times=3).plan()
        self.assertEqual(plan.facts, {"times": 3, "cost": "peak"})
        self.assertIn("one_by_one", plan.text())
        plan.check()

    def test_facts_are_typed_and_come_back_from_the_plans_text(self):
        @sluice.policy(name="stating", summary="Makes a plan with facts of every type.")
        def stating(stages, platform, workload, parameters):
            builder = sluice.PlanBuilder(platform, "stating")
            builder.compute(platform.device_names[0], 0, 0, 1).done(1)
            builder.fact("count", 3)
            builder.fact("ratio", 0.25)
            builder.fact("wait_s", 1.0, unit="s")
            builder.fact("word", "12")
            builder.fact("yes", True)
            builder.fact("devices", ["a", "b,c"])
            for group in range(2):
                builder.fact("passes", group + 1, of=group)
            return builder.finish()

        plan = scenario().with_(policy={"name": "stating"}).plan()
        facts = {"count": 3, "ratio": 0.25, "wait_s": 1.0, "word": "12", "yes": "True",
                 "devices": ["a", "b,c"], "passes": {"0": 1, "1": 2}}
        self.assertEqual(plan.facts, {**facts, "cost": "peak"})
        self.assertIsInstance(plan.facts["count"], int)
        self.assertIsInstance(plan.facts["wait_s"], float)
        self.assertEqual(sluice.Plan.from_text(plan.text()).facts, plan.facts)

        with self.assertRaisesRegex(sluice.InputError, "unit 's' but its value is not a number"):
            sluice.PlanBuilder(sluice.platform("k40"), "x").fact("word", "12", unit="s")

    def test_decisions_of_replicas_are_listed_by_device(self):
        facts = sluice.load("data_parallel_ipu_pair").plan().facts
        self.assertIsInstance(facts["chosen_s"], float)
        self.assertEqual(list(facts["replicas"]), ["ipu0", "ipu1"])
        for replica in facts["replicas"].values():
            self.assertEqual(replica["in_flight"], 2)
            self.assertIsInstance(replica["phases_per_step"], int)

    def test_parameters_come_typed_with_their_defaults(self):
        seen.clear()
        made = scenario(times=2, room="3kB")
        made.plan()
        stages, platform, workload, parameters = seen[-1]
        self.assertEqual(parameters, {"times": 2, "room": 3000, "order": "up"})
        self.assertEqual([stage.weight_bytes for stage in stages], [4_000_000] * 2)
        self.assertEqual(platform.device_names, ["gpu"])
        self.assertEqual((workload.mode, workload.steps, workload.micro_batch), ("inference", 1, 1))

    def test_parameters_are_checked_as_those_of_any_policy(self):
        for keys, words in (({"times": 10}, "times"), ({"tmies": 1}, "did you mean 'times'"),
                            ({"room": "3s"}, "room"), ({"order": "sideways"}, "up, down")):
            with self.subTest(keys=keys), self.assertRaisesRegex(sluice.InputError, words):
                scenario(**keys)

    def test_a_python_policy_is_in_the_list_of_policies(self):
        row = sluice.policies().loc["one_by_one"]
        self.assertEqual(row["summary"], "Loads a stage, computes all micro-batches with it, and drops its weights.")
        self.assertEqual([one["name"] for one in row["parameters"]], ["times", "room", "order"])

    def test_an_exception_in_a_python_policy_reaches_the_caller(self):
        with self.assertRaisesRegex(LookupError, "not downwards"):
            scenario(order="down").run()
        self.assertEqual(scenario().run().status, "complete")

    def test_a_plan_that_does_not_fit_is_found_before_anything_runs(self):
        small = scenario().with_({"platform.devices.gpu.memory.capacity": "5MB"})
        with self.assertRaisesRegex(sluice.Infeasible, "gpu"):
            small.run()
        unlimited = small.with_({"memory.capacity": "unlimited"})
        self.assertGreater(unlimited.run().metrics.overflow_bytes["gpu"], 0)

    def test_the_declarations_of_a_python_policy_are_checked(self):
        for words, given in (("tuning.*inference or training", {"modes": ["tuning"]}),
                             ("sqrtt.*did you mean 'sqrt'", {"strategies": ["sqrtt"]})):
            with self.assertRaisesRegex(sluice.InputError, words):
                sluice.policy(name="declares", summary="x", **given)(lambda *_: None)
        with self.assertRaisesRegex(sluice.InputError, "one_by_one.*offload_all.*keep_all.*streamed"):
            scenario().with_({"fates": {"strategy": "offload_all"}}).plan()

    def test_workloads_that_a_policy_does_not_plan_for_are_refused_by_name(self):
        with self.assertRaisesRegex(sluice.InputError, "one_by_one.*training.*inference"):
            scenario().with_({"workload.mode": "training"}).plan()


class Registering(unittest.TestCase):
    def test_the_name_of_a_built_in_policy_is_refused(self):
        with self.assertRaisesRegex(sluice.InputError, "streamed"):
            sluice.policy(name="streamed", summary="")(lambda *_: None)

    def test_a_second_policy_of_the_same_name_replaces_the_first(self):
        for answer in (1, 2):
            @sluice.policy(name="changing", summary=f"version {answer}")
            def changing(stages, platform, workload, parameters):
                raise KeyError(answer)

            with self.assertRaisesRegex(KeyError, str(answer)):
                scenario().with_({"policy.name": "changing"}).plan()
        self.assertEqual(sluice.policies().loc["changing", "summary"], "version 2")

    def test_a_result_that_is_not_a_plan_is_refused(self):
        @sluice.policy(name="nothing", summary="")
        def nothing(stages, platform, workload, parameters):
            return 42

        with self.assertRaisesRegex(sluice.InputError, "nothing.*int.*Plan"):
            scenario().with_({"policy.name": "nothing"}).plan()

    def test_an_action_without_a_price_is_refused(self):
        @sluice.policy(name="unpriced", summary="", modes=("inference", "training"), parameters=[
            sluice.parameter("stage", "integer", "", default=0, minimum=-1),
            sluice.parameter("kind", "text", "", default="forward")])
        def unpriced(stages, platform, workload, parameters):
            builder = sluice.PlanBuilder(platform, "unpriced")
            builder.compute("gpu", parameters["stage"], samples=1, kind=parameters["kind"]).done(1)
            return builder.finish()

        base = scenario()
        for keys, words in (({"stage": 77}, r"'77F' of policy 'unpriced' is of stage 77; expected 0 \('"),
                            ({"stage": -1}, "of stage -1; expected 0"),
                            ({"kind": "update"}, "kind update.*'mode: training'; the mode is inference"),
                            ({"kind": "backward"}, "kind backward.*the mode is inference")):
            with self.subTest(keys=keys), self.assertRaisesRegex(sluice.InputError, words):
                base.with_(policy={"name": "unpriced", **keys}).plan()
        update = base.with_(policy={"name": "unpriced", "kind": "update"})
        update.with_({"workload.mode": "training"}).plan()

    def test_a_plan_that_leaves_samples_without_an_answer_is_refused(self):
        @sluice.policy(name="silent", summary="Makes a plan whose last action completes `says` samples.",
                       parameters=[sluice.parameter("says", "integer", "samples done", default=0)])
        def silent(stages, platform, workload, parameters):
            builder = sluice.PlanBuilder(platform, "silent")
            builder.compute("gpu", stages[0], samples=1).done(parameters["says"])
            return builder.finish()

        for says in (0, 2):
            with self.assertRaisesRegex(sluice.InputError, rf"'silent' finish {says} samples of the 1 .*done\("):
                scenario().with_(policy={"name": "silent", "says": says}).run()
        self.assertEqual(scenario().with_(policy={"name": "silent", "says": 1}).run().metrics.samples, 1)

    def test_a_parameter_of_an_unknown_type_is_refused(self):
        with self.assertRaisesRegex(sluice.InputError, "colour.*boolean"):
            sluice.policy(name="odd", summary="", parameters=[
                sluice.parameter("hue", "colour", "of the plan")])(lambda *_: None)


class Building(unittest.TestCase):
    def setUp(self):
        self.builder = sluice.PlanBuilder(PLATFORM, "b")

    def test_the_error_for_an_unknown_name_lists_the_known_names(self):
        tensor = self.builder.tensor("w", "weight", 10, "host")
        for call, words in (
                (lambda: self.builder.tensor("v", "wieght", 1), "did you mean 'weight'"),
                (lambda: self.builder.tensor("v", "weight", 1, "hots"), "did you mean 'host'"),
                (lambda: self.builder.tensor("w", "weight", 1), "already called 'w'"),
                (lambda: self.builder.tensor("v", "weight", -1), "-1 for 'bytes': expected an integer"),
                (lambda: self.builder.enter("middle"), "prologue, body, epilogue"),
                (lambda: self.builder.compute("cpu", 0), "gpu"),
                (lambda: self.builder.transfer("laod", tensor, "host", "gpu"), "'load'"),
                (lambda: self.builder.transfer("load", 7, "host", "gpu"), "tensor 7"),
                (lambda: self.builder.compute("gpu", 0, kind="load"), "computation 'load'; known: forward"),
                (lambda: self.builder.transfer("forward", tensor, "host", "gpu"), "transfer 'forward'"),
                (lambda: self.builder.compute("gpu", "conv1"), "'conv1' for 'stage'"),
                (lambda: self.builder.compute("gpu", 0, samples=1.5), "1.5 for 'samples'"),
                (lambda: self.builder.compute("gpu", 0, samples=10**30), "for 'samples'"),
                (lambda: self.builder.compute("gpu", 0).wait(self.builder.compute("gpu", 0), -1),
                 "-1 for 'distance'"),
                (lambda: self.builder.compute("gpu", 0).wait(
                    sluice.PlanBuilder(PLATFORM, "c").compute("gpu", 0)), "action of the same builder"),
                (lambda: self.builder.compute("gpu", 0).done(-5), "-5 for 'samples'"),
                (lambda: self.builder.compute("gpu", 0).ahead(0.5), "0.5 for 'iterations'"),
                (lambda: self.builder.finish(0), "0 for 'iterations': expected an integer from 1"),
                (lambda: self.builder.transfer("load", tensor, "host", "gpu").use(9, "gpu"), "9")):
            with self.subTest(words=words), self.assertRaisesRegex(sluice.InputError, words):
                call()

    def test_seconds_by_hand_make_a_plan_that_runs_without_a_scenario(self):
        # At 1 GB/s, the load of 2 MB takes 2 ms. The computation begins after the load, and takes 3 ms.
        x = self.builder.tensor("y", "input", 2_000_000, home="host")
        load = self.builder.transfer("load", x, "host", "gpu", release=False)
        self.builder.compute("gpu", 0, samples=1).wait(load).use(x, "gpu").takes(3e-3).done(1)
        metrics = self.builder.finish().run().metrics
        self.assertAlmostEqual(metrics.makespan_s, 5e-3, delta=1e-15)

    def test_an_action_uses_what_the_iteration_before_has_made(self):
        # The computation of each iteration adds its 40 bytes to the sum of the iteration before, so that two sums are
        # in memory. The first iteration adds them to the sum of the prologue.
        total = self.builder.tensor("sum", "gradient", 40)
        self.builder.compute("gpu", 0, kind="update").takes(1e-3).ahead(-1).allocate(total, "gpu")
        self.builder.enter("body")
        work = self.builder.compute("gpu", 0, samples=1).takes(2e-3).done(1)
        work.allocate(total, "gpu").use(total, "gpu", distance=1)
        plan = self.builder.finish(3)
        self.assertIn("uses=sum~1@gpu", plan.text())
        result = plan.run(executor="both")
        self.assertAlmostEqual(result.metrics.makespan_s, 7e-3, delta=1e-15)
        with self.assertRaisesRegex(sluice.InputError, "65536 for 'distance'"):
            work.use(total, "gpu", distance=65536)

    def test_a_plan_that_finishes_no_sample_is_not_complete(self):
        self.builder.compute("gpu", 0, samples=1).takes(3e-3)
        result = self.builder.finish().run()
        self.assertEqual(result.status, "no samples")
        self.assertIn("no samples", repr(result))
        with tempfile.TemporaryDirectory() as folder:
            result.save(f"{folder}/t.h5")
            self.assertEqual(sluice.open(f"{folder}/t.h5").status, "no samples")

    def test_impossible_seconds_are_refused(self):
        x = self.builder.tensor("y", "input", 2_000_000, home="host")
        load = self.builder.transfer("load", x, "host", "gpu", release=False)
        with self.assertRaisesRegex(sluice.InputError, "its bytes and its route"):
            load.takes(1)
        for seconds in -1, float("nan"), float("inf"):
            with self.subTest(seconds=seconds), self.assertRaisesRegex(sluice.InputError, "'takes'"):
                self.builder.compute("gpu", 0).takes(seconds)

    def test_a_builder_cannot_be_used_after_finish(self):
        self.builder.compute("gpu", 0)
        plan = self.builder.finish()
        with self.assertRaisesRegex(sluice.InputError, "finished"):
            self.builder.enter("body")
        with self.assertRaisesRegex(sluice.InputError, "no seconds"):
            plan.text()


if __name__ == "__main__":
    unittest.main()
