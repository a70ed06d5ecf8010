"""Makes a plan without a policy. In the plan, three inputs go over a link of 16 GB/s, each in 1 ms. The device computes
on each input for 2 ms, while the next input arrives. Computed by hand, the run takes 1 ms + 3 x 2 ms = 7 ms."""

import sluice

builder = sluice.PlanBuilder(sluice.platform("k40"), "by hand")
builder.way("host", "gpu", bandwidth=16e9)
builder.enter("body")
x = builder.tensor("input", "input", 16_000_000, home="host")
load = builder.transfer("load", x, "host", "gpu", release=False, stage=0)
compute = builder.compute("gpu", stage=0, samples=1).takes(2e-3)
compute.wait(load).use(x, "gpu").done(1)
plan = builder.finish(iterations=3)
print(f"{1e3 * plan.run().metrics.makespan_s:.3f} ms")
