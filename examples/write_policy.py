"""Adds a policy that is not compiled into Sluice. The policy runs one micro-batch at a time, and loads the weights of a
stage each time the stage runs. So at any time the device holds the weights of only one stage."""

import sluice


@sluice.policy(name="reload", summary="Loads the weights of a stage each time the stage runs.")
def reload(stages, platform, workload, parameters):
    builder = sluice.PlanBuilder(platform, "reload")
    device, host = platform.device_names[0], platform.host
    builder.enter("body")  # the actions of the body, which run `workload.steps` times
    inputs, saves = [], []  # the load of the input and the save of the answer, for each micro-batch
    for m in range(workload.micro_batches_per_step):
        x = builder.tensor(f"x.{m}", "input", stages[0].input_bytes, home=host)
        ready = builder.transfer("load", x, host, device, release=False)
        ready.wait(saves[-1] if saves else None)
        inputs.append(ready)
        for stage in stages:
            last = stage is stages[-1]
            w = builder.tensor(f"w.{stage.number}.{m}", "weight", stage.weight_bytes, home=host)
            load = builder.transfer("load", w, host, device, release=False).wait(ready)
            y = builder.tensor(f"y.{stage.number}.{m}", "output" if last else "activation",
                               stage.output_bytes, home=host if last else None)
            ready = builder.compute(device, stage, m, workload.micro_batch).wait(load)
            ready.allocate(y, device).use(x, device).use(w, device)  # x and w are freed after their last use
            x = y
        save = builder.transfer("save", x, device, host, allocate=False).wait(ready)
        saves.append(save.done(workload.micro_batch))
    inputs[0].wait(saves[-1], distance=1)  # the first input waits for the last answer of the step before
    return builder.finish(workload.steps)


for policy in "basic", "reload":
    scenario = sluice.load("alexnet_resident").with_(policy={"name": policy},
                                                     stages={"cut": "per_layer"})
    metrics = scenario.run().metrics
    print(f"{policy:6} {1e3 * metrics.step_s:6.1f} ms per step,"
          f" at most {metrics.peak_bytes['gpu'] / 1e6:5.1f} MB")
