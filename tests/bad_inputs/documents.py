"""The documents of a small valid scenario, and other valid files. A bad input is one of these files with one error."""

SCENARIO = """\
format: sluice-scenario/1
question: Does it fit?
model: {file: model.yaml, size: 8}
platform: {file: platform.yaml}
workload: {dtype: float32, batch: 2}
stages: {cut: per_layer}
policy: {name: streamed, in_flight: auto}
memory: {capacity: enforced}
"""

MODEL = """\
format: sluice-model/1
name: small
parameters:
  size: 4
layers:
  - {type: input, name: x, shape: [$size]}
  - {type: dense, name: full, features: $size}
  - {type: relu, name: last}
"""

PLATFORM = """\
format: sluice-platform/1
name: bench
devices:
  gpu:
    rate: {float32: 1TFLOP/s}
    memory: {capacity: 1MB}
memories:
  host: {capacity: unlimited}
links:
  host: {joins: [host, gpu], bandwidth: 1GB/s}
"""

# This plan loads a tensor and computes on the tensor three times.
PLAN = """\
format: sluice-plan/1
name small
iterations 3
pool gpu capacity=100B
pool host capacity=unlimited shared
link host.down bandwidth=1GB/s
route host>gpu links=host.down
stream gpu.compute kind=compute device=gpu
stream gpu.host.down kind=copy device=gpu
tensor input class=input bytes=40 home=host
tensor result class=output bytes=20
body:
load on=gpu.host.down kind=load moves=input route=host>gpu bytes=40 allocates=input@gpu
run on=gpu.compute kind=forward samples=1 samples_done=1 seconds=0.5 waits=load allocates=result@gpu uses=input@gpu,result@gpu
"""

# A plan with all elements of version 2: several memories of one device, a collective, computations with flows, and
# actions with an earliest start (not_before).
PLAN_2 = """\
format: sluice-plan/2
name second
iterations 3
pool gpu capacity=100B owner=gpu
pool slow capacity=100B owner=gpu
pool host capacity=unlimited
link down bandwidth=1GB/s
link ring bandwidth=1GB/s
route in links=down
route ring links=ring
stream gpu.compute kind=compute device=gpu
stream gpu.in kind=copy device=gpu
stream gpu.ring kind=copy device=gpu
stream other.ring kind=copy device=other
tensor input class=input bytes=40 home=host
tensor result class=output bytes=20
collective sum kind=all_reduce devices=gpu,other algorithm=ring bytes=40
prologue:
0LOAD on=gpu.in moves=input route=in not_before=1.5s allocates=input@gpu
0ALL_REDUCE on=gpu.ring moves=input route=ring bytes=20 collective=sum
body:
1F on=gpu.compute flows=input@in:10 seconds=0.5 part=selective waits=prologue:0LOAD allocates=result@slow
2F on=gpu.compute seconds=0.5 uses=input@gpu,result@slow:rw
3F on=gpu.compute seconds=0.5
"""

TABLE = """\
{"func": "quick_plot", "data": [
["step", "action", "stage state", "total state", "total params", "total FLOPs"],
[1, "Init", 10, 10, 0, 0],
[2, "Conv", 20, 30, 5, 100],
[3, "ReLu", 20, 50, 5, 120]
]}
"""

# A layer graph of PipeDream for two samples.
GRAPH = """\
node1 -- Input -- forward_compute_time=9.0, backward_compute_time=0.0, activation_size=64.0, parameter_size=0.0
node2 -- Linear(in_features=8, out_features=4, bias=True) -- forward_compute_time=1.5, backward_compute_time=2.5, activation_size=32.0, parameter_size=144.0
\tnode1 -- node2
"""

FILES = {"scenario.yaml": SCENARIO, "model.yaml": MODEL, "platform.yaml": PLATFORM,
         "small.plan": PLAN,
         "second.plan": PLAN_2, "table.json": TABLE, "small.graph.txt": GRAPH}
