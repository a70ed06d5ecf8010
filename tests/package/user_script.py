"""A script as a user would write it. The script chooses a card and a plan for a network. test_typed.py checks the
script with mypy --strict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sluice


@sluice.policy(name="mine", summary="Weights stay; one input after the other.",
               parameters=[sluice.parameter("ahead", "integer", "inputs in advance", default=1, minimum=1)])
def mine(stages: list[sluice.Stage], platform: sluice.Platform, workload: sluice.Workload,
         parameters: dict[str, Any]) -> sluice.Plan:
    builder = sluice.PlanBuilder(platform, "mine")
    device, host = platform.device_names[0], platform.host
    loads: list[sluice.Action] = []
    for stage in stages:
        weights = builder.tensor(f"w.{stage.number}", "weight", stage.weight_bytes, home=host)
        loads.append(builder.transfer("load", weights, host, device, release=False, stage=stage))
    builder.enter("body")
    for number in range(workload.micro_batches_per_step):
        tensor = builder.tensor(f"x.{number}", "input", stages[0].input_bytes, home=host)
        ready = builder.transfer("load", tensor, host, device, release=False, micro_batch=number)
        for stage, load in zip(stages, loads):
            kind: sluice.words.TensorClass = "output" if stage is stages[-1] else "activation"
            made = builder.tensor(f"y.{stage.number}.{number}", kind, stage.output_bytes,
                                  home=host if stage is stages[-1] else None)
            work = builder.compute(device, stage, number, workload.micro_batch)
            work.wait(load).wait(ready).allocate(made, device).use(tensor, device)
            tensor, ready = made, work
        save = builder.transfer("save", tensor, device, host, allocate=False, micro_batch=number)
        save.wait(ready).done(workload.micro_batch)
    builder.fact("weights", "stay")
    return builder.finish(workload.steps)


def question(model: str | sluice.Model, platform: str) -> sluice.Scenario:
    scenario = sluice.Scenario({"model": model, "platform": platform, "policy": "resident"})
    return scenario.with_({"workload.batch": 2, "workload.dtype": "float16"}, policy="streamed")


def seconds(scenario: sluice.Scenario, executor: sluice.words.Executor = "auto") -> float | None:
    try:
        result = scenario.run(executor=executor)
    except sluice.Infeasible as refusal:
        lacking = (refusal.needed_bytes or 0) - (refusal.available_bytes or 0)
        print(f"{scenario.name} lacks {lacking} bytes in {refusal.pool}")
        return None
    for note in result.notes:
        print(note)
    makespan: float = result.metrics.makespan_s
    return makespan


def told(done: int, total: int) -> None:
    print(f"{done} of {total}")


def shares(result: sluice.Result) -> dict[str, float]:
    """Returns the seconds of each kind of action, summed over all its actions."""
    spans = result.spans
    busy = (spans["end"] - spans["start"]).groupby(spans["kind"], observed=True).sum()
    return {str(kind): float(value) for kind, value in busy.items()}


def wide(channels: int) -> sluice.Model:
    model = sluice.model("alexnet").with_({"layers.conv1.channels": channels})
    assert model.parameters > 0 and "conv1" in model.layers
    return model


def swept(scenario: sluice.Scenario, folder: Path) -> list[float]:
    sweep = scenario.sweep({"workload.batch": [1, 2]}, over="grid", store=folder / "study.db",
                           progress=told)
    found = sluice.minimise(scenario, "makespan_s", {"workload.batch": (1, 2)}, points=4)
    print(sweep.best("makespan_s"), found.changes, found.number)
    return [float(value) for value in sweep.frame["makespan_s"]]


def kept(scenario: sluice.Scenario, folder: Path) -> sluice.Result:
    plan: sluice.Plan = scenario.plan()
    plan.save(folder / "plan.txt")
    result = sluice.load_plan(folder / "plan.txt").run(progress=told)
    result.save(folder / "trace.h5")
    result.export(folder / "trace.json", to="chrome")
    return sluice.open(folder / "trace.h5")


def slowest(scenario: sluice.Scenario) -> float:
    curve = scenario.with_({"cost.model": "roofline"}).placement([0.5, "16GB"], ways="all_slow", progress=told)
    print(curve.fast_capacity_bytes, curve.plan("all_slow", 0.5).run().status)
    return float(curve.frame["slowdown"].max())


def main(folder: Path) -> None:
    small = sluice.load("alexnet_resident", {"workload.steps": 1})
    print(seconds(small), seconds(small.with_(policy={"name": "mine", "ahead": 2})))
    print(seconds(question("gpt2", "v100_pcie")), seconds(question(wide(128), "a100_pcie"), executor="replay"))
    print(swept(small, folder), kept(small, folder).status, shares(small.run()))
    print(slowest(small))
    table = sluice.model("gpt2").fits(["k40", "a100_pcie"], mode="training", optimizer="adam")
    print(table["largest"].to_dict(), sluice.platform("k40").flop_per_s("gpu", "float32"))


if __name__ == "__main__":
    import sys

    main(Path(sys.argv[1]))
