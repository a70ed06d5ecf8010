"""Each case is the text of a plan with one error. There is a case for every kind of line and word, and for every kind
of contradiction."""

from cases import Case, plan
from documents import PLAN, PLAN_2

LOAD, RUN = "small.plan:13", "small.plan:14"
MOST = 2**63 - 1

LINES = [
    plan("a line of an unknown kind", "small.plan:4:1", ["'pol'", "did you mean 'pool'", "tensor"], "pool gpu", "pol gpu"),
    plan("a pool without a name", "small.plan:4:1", ["'pool' needs a name"], "pool gpu capacity=100B", "pool"),
    plan("a pool line that begins with a key", "small.plan:4:6", ["double quotes"], "pool gpu capacity=100B", "pool capacity=100B"),
    plan("a pool without a capacity", "small.plan:4:1", ["'capacity' is missing"], "gpu capacity=100B", "gpu"),
    plan("a key without a value", "small.plan:4:10", ["'capacity' has no value"], "capacity=100B", "capacity"),
    plan("a flag with a value", "small.plan:5:30", ["'shared' takes no value"], "shared", "shared=no"),
    plan("a second flag with a value", "small.plan:4:24", ["'not_enforced' takes no value"], "capacity=100B", "capacity=100B not_enforced=false"),
    plan("a pool twice", "small.plan:5:6", ["second pool called 'gpu'"], "pool host", "pool gpu"),
    plan("a tensor twice", "small.plan:11:8", ["second tensor called 'input'"], "tensor result", "tensor input"),
    plan("a stream twice", "small.plan:9:8", ["second stream called 'gpu.compute'"], "stream gpu.host.down", "stream gpu.compute"),
    plan("an action twice", f"{RUN}:1", ["second action called 'load'"], "run on", "load on"),
    plan("a key twice", f"{LOAD}:69", ["'bytes' is given twice"], "bytes=40 allocates", "bytes=40 bytes=40 allocates"),
    plan("a name of two words", "small.plan:2:9", ["'name' takes one word", "double quotes"], "name small", "name sm all"),
    plan("a name that needs quotes", "small.plan:2:6", ["'sm@all'", "double quotes"], "name small", "name sm@all"),
    plan("a quote that does not end", "small.plan:2:6", ["does not end"], "name small", 'name "small'),
    plan("a bad escape", "small.plan:2:10", ["allowed escapes:", r"\xHH"], "name small", r'name "sm\qall"'),
    plan("an escape that is not text", "small.plan:2:10", ["two hex digits, 01 to 7f"], "name small", r'name "sm\xffall"'),
    plan("an unknown section", "small.plan:12:1", ["'bdy:'", "did you mean 'body:'"], "body:", "bdy:"),
    plan("a section after a section that must come later", "small.plan:13:1", ["'prologue:'", "prologue, body, epilogue"], "body:", "body:\nprologue:"),
    plan("a section twice", "small.plan:13:1", ["'body:'", "comes once"], "body:", "body:\nbody:"),
    plan("an action outside of all sections", "small.plan:12:1", ["unknown line 'load'", "body:"], "body:\n", ""),
    plan("a line of a pool inside of a section", "small.plan:13:6", ["'x'", "before the first section"], "body:\n", "body:\npool x capacity=1B\n"),
    plan("a newer plan", "small.plan:1:1", ["'format: sluice-plan/2'", "or 'format: sluice-plan/1'"], "sluice-plan/1", "sluice-plan/3"),
    Case("a plan that is not UTF-8", 3, "small.plan:2:8", ["UTF-8"], "small.plan",
         content=PLAN.encode().replace(b"name small", b"name sm\xffll"), run=["run", "small.plan"]),
    Case("a plan with a zero byte", 3, "small.plan:2:8", ["control character (byte 0)"], "small.plan",
         content=PLAN.encode().replace(b"name small", b"name sm\0ll"), run=["run", "small.plan"]),
]

WORDS = [
    plan("an unknown kind of action", f"{RUN}:25", ["'forwards'", "forward, backward"], "kind=forward", "kind=forwards"),
    plan("an unknown kind of stream", "small.plan:9:27", ["'cpoy'", "compute, copy"], "kind=copy", "kind=cpoy"),
    plan("an unknown class of tensor", "small.plan:10:20", ["'inputs'", "weight, gradient"], "class=input", "class=inputs"),
    plan("an unknown tensor", f"{LOAD}:39", ["'inptu'", "did you mean 'input'"], "moves=input", "moves=inptu"),
    plan("an unknown pool", f"{RUN}:113", ["'gpo'", "did you mean 'gpu'", "known: gpu, host"], "input@gpu,result", "input@gpo,result"),
    plan("a tensor without its pool", f"{RUN}:107", ["'input'", "TENSOR@POOL"], "input@gpu,result", "input,result"),
    plan("an unknown route", f"{LOAD}:51", ["'gpu>host'", "known: host>gpu"], "route=host>gpu bytes", "route=gpu>host bytes"),
    plan("an unknown link", "small.plan:7:22", ["'host.up'", "known: host.down"], "links=host.down", "links=host.up"),
    plan("an unknown home", "small.plan:10:40", ["'hots'", "did you mean 'host'"], "home=host", "home=hots"),
    plan("an action without seconds", f"{RUN}:1", ["either 'seconds'", "'moves', 'route' and 'bytes'"], "seconds=0.5 ", ""),
    plan("an action that computes and moves", f"{RUN}:1", ["either 'seconds'"], "seconds=0.5", "seconds=0.5 moves=input"),
    plan("a transfer without a route", f"{LOAD}:1", ["'route' is missing"], "route=host>gpu bytes", "bytes"),
    plan("a transfer without bytes", f"{LOAD}:1", ["'bytes' is missing"], "bytes=40 allocates", "allocates"),
    plan("a wait in an unknown section", f"{RUN}:76", ["'foo'", "prologue, body, epilogue"], "waits=load", "waits=foo:load"),
    plan("a distance that is not a number", f"{RUN}:81", ["'x' after '~'", "0 to 4294967295"], "waits=load", "waits=load~x"),
    plan("a negative distance", f"{RUN}:81", ["'-1' after '~'"], "waits=load", "waits=load~-1"),
    plan("a distance that does not fit in 32 bits", f"{RUN}:81", ["'4294967296' after '~'"], "waits=load", "waits=load~4294967296"),
    plan("a list that ends with a comma", f"{RUN}:81", ["expected a name"], "waits=load", "waits=load,"),
]

NUMBERS = [
    plan("infinite seconds", f"{RUN}:66", ["'inf' for 'seconds'"], "seconds=0.5", "seconds=inf"),
    plan("seconds of 1e999", f"{RUN}:66", ["'1e999' for 'seconds'", "out of range"], "seconds=0.5", "seconds=1e999"),
    plan("seconds with a unit", f"{RUN}:66", ["'0.5s' for 'seconds'", "unknown unit 's'"], "seconds=0.5", "seconds=0.5s"),
    plan("seconds as a percentage", f"{RUN}:66", ["'50%' for 'seconds'", "a percentage"], "seconds=0.5", "seconds=50%"),
    plan("negative bytes", f"{LOAD}:66", ["'-40' for 'bytes'", "whole number from 0"], "bytes=40 allocates", "bytes=-40 allocates"),
    plan("a fraction of a byte to move", f"{LOAD}:66", ["'4.5' for 'bytes'"], "bytes=40 allocates", "bytes=4.5 allocates"),
    plan("bytes to move that do not fit in 64 bits", f"{LOAD}:66", [f"'{MOST + 1}' for 'bytes'", f"to {MOST}"], "bytes=40 allocates", f"bytes={MOST + 1} allocates"),
    plan("a stage number that does not fit in 32 bits", f"{LOAD}:39", ["'4294967296' for 'stage'", "0 to 2147483647"], "kind=load", "kind=load stage=4294967296"),
    plan("a micro-batch number that does not fit in 32 bits", f"{LOAD}:45", ["'4294967296' for 'micro_batch'"], "kind=load", "kind=load micro_batch=4294967296"),
    plan("a value of ahead that is out of range", f"{LOAD}:39", ["'4294967297' for 'ahead'", "-1000000 to 1000000"], "kind=load", "kind=load ahead=4294967297"),
    plan("a bandwidth of zero", "small.plan:6:26", ["'0GB/s' for 'bandwidth'", "more than 0"], "1GB/s", "0GB/s"),
    plan("a bandwidth without a unit", "small.plan:6:26", ["'1' for 'bandwidth'", "unit is missing", "30GB/s"], "1GB/s", "1"),
    plan("iterations that are not a number", "small.plan:3:12", ["'three' for 'iterations'", "whole number"], "iterations 3", "iterations three"),
    plan("negative iterations", "small.plan:3:12", ["'-1' for 'iterations'"], "iterations 3", "iterations -1"),
    plan("a body that never runs", f"{LOAD}:1", ["runs 0 times", "set 'iterations' to at least 1"], "iterations 3", "iterations 0"),
    plan("a body without iterations", "small.plan:12:1", ["runs 0 times"], "iterations 3\n", ""),
    plan("a number of iterations that is not a multiple of the iterations in a step", "small.plan:3:1", ["'iterations' is 3", "not a multiple of the 2"], "iterations 3", "iterations 3\niterations_per_step 2"),
    plan("several steps in an iteration and several iterations in a step", "small.plan:5:1", ["one of the two numbers must be 1"], "iterations 3", "iterations 3\nsteps_per_iteration 2\niterations_per_step 3"),
    plan("a step of zero iterations", "small.plan:4:21", ["'0' for 'iterations_per_step'"], "iterations 3", "iterations 3\niterations_per_step 0"),
    plan("more executions than a number of 64 bits can count", "small.plan:3:1", [f"{MOST} iterations", "executions"], "iterations 3", f"iterations {MOST}"),
    plan("a clock that overflows", "small.plan:14:1", ["'run' above all", "s, one after the other", "1e+300"], "seconds=0.5", "seconds=1e308"),
    plan("a latency that overflows", "small.plan:13:1", ["'load' above all", "1e+300"], "links=host.down", "links=host.down latency=1e308s"),
    Case("a pool that overflows", 3, f"{RUN}:1", ["'run'", "more than 2^63 - 1 bytes in gpu"], "small.plan",
         content=PLAN.replace("capacity=100B", "capacity=unlimited").replace("bytes=20", f"bytes={MOST}"),
         run=["run", "small.plan"]),
    Case("homes that overflow", 3, "small.plan:11:1", ["'other'", "more than 2^63 - 1 bytes in host"], "small.plan",
         content=PLAN.replace("tensor result", f"tensor other class=weight bytes={MOST} home=host\ntensor result"),
         run=["run", "small.plan"]),
    Case("a request that overflows", 3, "small.plan:15:1", ["'run' allocates", "more than 2^63 - 1 bytes in gpu"], "small.plan",
         content=PLAN.replace("capacity=100B", f"capacity={MOST}B").replace("bytes=20", f"bytes={MOST}\ntensor more class=output bytes={MOST}")
         .replace("allocates=result@gpu", "allocates=result@gpu,more@gpu").replace("uses=", "uses=more@gpu,"),
         run=["run", "small.plan"]),
]

FACTS = [
    plan("a fact without a value", "small.plan:3:6", ["'fact' takes a name and a value"], "iterations 3", "fact in_flight\niterations 3"),
    plan("a fact that is a text with a unit", "small.plan:3:22", ["'unit' is only for numbers, and 'chosen' is a text"], "iterations 3", "fact chosen cut unit=s\niterations 3"),
    plan("an unknown key of a fact", "small.plan:3:12", ["unknown key 'off'", "did you mean 'of'"], "iterations 3", "fact cut 3 off=0\niterations 3"),
]

CONTRADICTIONS = [
    plan("an action that waits for itself", f"{RUN}:1", ["'run' waits for itself"], "waits=load", "waits=run"),
    plan("a wait for an action of a later section", f"{RUN}:1", ["'run' waits for 'end' of the later section epilogue"], "waits=load allocates=result@gpu uses=input@gpu,result@gpu\n",
         "waits=load,epilogue:end allocates=result@gpu uses=input@gpu,result@gpu\nepilogue:\nend on=gpu.compute kind=forward seconds=0\n"),
    plan("a transfer on a compute stream", f"{LOAD}:1", ["'gpu.compute'", "expected a copy stream"], "load on=gpu.host.down", "load on=gpu.compute"),
    plan("an action of the kind receive, which existed only in version 1", f"{LOAD}:28", ["'receive'", "wait for the send"], "kind=load", "kind=receive"),
    plan("a tensor allocated twice", f"{RUN}:1", ["'result' in gpu is allocated a second time"], "allocates=result@gpu", "allocates=result@gpu,result@gpu"),
    plan("a tensor allocated by two actions", f"{RUN}:1", ["'input' in gpu is allocated a second time"], "allocates=result@gpu", "allocates=result@gpu,input@gpu"),
    plan("a body that never releases a tensor", f"{RUN}:1", ["'result'", "never releases it"], "uses=input@gpu,result@gpu", "uses=input@gpu"),
    plan("a use of a tensor that is not in memory", f"{RUN}:1", ["'run' uses tensor 'result' in gpu, but the tensor is not there"], "allocates=result@gpu uses", "uses"),
    plan("a load that is ahead, but whose tensor is used too early", f"{RUN}:1", ["'run' uses tensor 'input'", "but the tensor is not there"], "kind=load", "kind=load ahead=1"),
]

# In this plan, the pool gpu has room for two inputs of 40 B. The two loads of the prologue fill the pool. So the first
# `load` of the body waits for `run` to free an input. But `run` waits for this `load`. Neither action ever starts.
ACROSS = """\
format: sluice-plan/1
iterations 5
pool gpu capacity=80B
pool host capacity=unlimited shared
link host.down bandwidth=1GB/s
route host>gpu links=host.down
stream gpu.copy kind=copy device=gpu
stream gpu.compute kind=compute device=gpu
tensor input class=input bytes=40
prologue:
first on=gpu.copy kind=load moves=input route=host>gpu bytes=40 allocates=input@gpu
second on=gpu.copy kind=load moves=input route=host>gpu bytes=40 ahead=1 allocates=input@gpu
body:
load on=gpu.copy kind=load moves=input route=host>gpu bytes=40 ahead=2 allocates=input@gpu
run on=gpu.compute kind=forward seconds=1 waits=load uses=input@gpu
"""

BLOCKING = [
    Case("a plan that blocks because of waits between iterations", 4, "", ["out of memory at 80 ns", "load (iteration 0) waits for 40 B in gpu, for input",
         "run (iteration 0) waits for load (iteration 0)", "80 B of 80 B", "in 2 instances"], "small.plan",
         content=ACROSS, run=["run", "small.plan"]),
    plan("tensors that do not fit into their home", "", ["home is gpu", "take 400 B", "capacity is 100 B"], "bytes=40 home=host", "bytes=400 home=gpu", code=4),
    plan("an action that does not fit even in empty memory", "", ["run on gpu.compute needs 101 B at once in gpu", "even into the empty pool; its largest tensor is result (output) 101 B"],
         "class=output bytes=20", "class=output bytes=101", code=4),
]



def second(name, at, says, old, new, code=3):
    """Returns a case: the plan PLAN_2, in which the text `new` replaces the text `old`."""
    assert old in PLAN_2, old
    return Case(name, code, at, says, "second.plan", content=PLAN_2.replace(old, new, 1),
                run=["run", "second.plan"])


IN, SUM, READ, END = "second.plan:19", "second.plan:20", "second.plan:22", "second.plan:24"
VERSION_2 = [
    second("a flag of version 1", "second.plan:6:30", ["unknown key 'shared'", "owner"], "unlimited", "unlimited shared"),
    second("an owner without a name", "second.plan:4:24", ["'owner' has no value"], "owner=gpu", "owner"),
    second("an unknown kind of collective", "second.plan:17:21", ["unknown kind of action 'allreduce'", "did you mean 'all_reduce'"], "kind=all_reduce", "kind=allreduce"),
    second("a collective of a kind that a single device executes", "second.plan", ["collective 'sum' has the kind load", "a single device executes"], "kind=all_reduce", "kind=load"),
    second("a collective of one device", "second.plan", ["'sum' has only one device"], "devices=gpu,other", "devices=gpu"),
    second("a device twice in a collective", "second.plan", ["'sum' names a device twice"], "devices=gpu,other", "devices=gpu,other,gpu"),
    second("a collective of an unknown device", "second.plan", ["'nobody'", "which has no stream"], "devices=gpu,other", "devices=gpu,nobody"),
    second("a collective twice", "second.plan:18:12", ["second collective called 'sum'"], "prologue:", "collective sum kind=all_reduce devices=gpu,other\nprologue:"),
    second("an unknown collective", f"{SUM}:68", ["unknown collective 'summ'", "did you mean 'sum'"], "collective=sum", "collective=summ"),
    second("a part of a collective whose kind differs from the collective's", f"{IN}:1", ["'0LOAD'", "collective 'sum'", "the action has the kind load"], "0LOAD on=gpu.in", "0LOAD collective=sum on=gpu.in"),
    second("a part on a device that the collective does not include", f"{SUM}:1", ["does not include the action's device 'third'"],
           "stream gpu.ring kind=copy device=gpu", "stream gpu.ring kind=copy device=third"),
    second("an action without a kind and with a name that has no kind", f"{IN}:1", ["'first' does not name a kind", "3F0"], "0LOAD on=", "first on="),
    second("a stage that already follows from the action's name", f"{IN}:13", ["'stage' needs the key 'kind'", "0LOAD"], "0LOAD on=", "0LOAD stage=0 on="),
    second("an action whose name a formula gives to another action", f"{END}:1", ["second action called '2F'"], "3F on=", "2F on="),
    second("a computation that has moves, but no seconds", f"{READ}:1", ["forward needs 'seconds'", "over links"], "seconds=0.5 ", ""),
    second("a transfer with seconds", f"{IN}:1", ["load cannot have both 'seconds' and 'moves'"], "0LOAD on=", "0LOAD seconds=1 on="),
    second("a transfer without a tensor", f"{IN}:1", ["'moves' and 'route', or 'flows'"], "moves=input route=in", ""),
    second("moves and flows", f"{READ}:25", ["either 'moves' or 'flows'"], "seconds=0.5", "moves=input route=in seconds=0.5"),
    second("a flow without a route", f"{READ}:25", ["'input'", "TENSOR@ROUTE:BYTES"], "flows=input@in:10", "flows=input"),
    second("a flow over an unknown route", f"{READ}:31", ["unknown route 'im'", "did you mean 'in'"], "input@in:10", "input@im:10"),
    second("a flow without a tensor and without bytes", f"{READ}:25", ["'@in'", "needs its bytes"], "flows=input@in:10", "flows=@in"),
    second("negative bytes of a flow", f"{READ}:34", ["'-1' for 'flows'", "whole number from 0"], "in:10", "in:-1"),
    second("an unknown part of a stage's work", f"{READ}:54", ["'halves'", "whole, selective"], "part=selective", "part=halves"),
    second("an operand that is neither read nor written", "second.plan:23:58", ["'x' after ':'", "w (the action writes", "rw"], "result@slow:rw", "result@slow:x"),
    second("not_before without a unit", f"{IN}:49", ["'1.5' for 'not_before'", "unit is missing"], "not_before=1.5s", "not_before=1.5"),
    second("a negative not_before", f"{IN}:49", ["'-1.5s' for 'not_before'"], "not_before=1.5s", "not_before=-1.5s"),
    second("not_before for an action of the body", f"{READ}:1", ["'1F' of the body", "not_before=2 s", "prologue and the epilogue"], "seconds=0.5", "not_before=2s seconds=0.5"),
]

CASES = VERSION_2 + LINES + WORDS + NUMBERS + FACTS + CONTRADICTIONS + BLOCKING
