"""Cases with bad command lines, bad files, and overrides with one error. Some cases override keys of a bundled scenario
so that the scenario does not fit, contradicts itself or overflows a count."""

import pathlib

from cases import Case, given, scenario

ROOT = pathlib.Path(__file__).resolve().parents[2]


def words(name, code, says, *line, at=""):
    return Case(name, code, at, says, run=list(line))


def said(name, at, says, *overrides, code=3):
    """Returns a case that runs scenario.yaml with `overrides`. `at` is the column of the fault in the last override."""
    return given(name, f"{overrides[-1]}:1:{at}", says, *overrides, code=code)


COMMANDS = [
    words("no command", 2, ["no command", "run, plan, model"]),
    words("an unknown command", 2, ["'rnu'", "did you mean 'run'"], "rnu"),
    words("an unknown option of the program", 2, ["'--verison'", "did you mean '--version'"], "--verison"),
    words("no scenario", 2, ["missing SCENARIO or PLAN"], "run"),
    words("two scenarios", 2, ["unexpected 'small.plan'"], "run", "scenario.yaml", "small.plan"),
    words("an unknown option", 2, ["'--josn'", "did you mean '--json'"], "run", "scenario.yaml", "--josn"),
    words("an option of which only the beginning is given", 2, ["'--js'"], "run", "scenario.yaml", "--js"),
    words("an option twice", 2, ["'--output' is given twice"], "run", "scenario.yaml", "-o", "a.h5", "-o", "b.h5"),
    words("an option without its value", 2, ["--output", "missing"], "run", "scenario.yaml", "-o"),
    words("an unknown dtype as an option", 2, ["'flot'", "--dtype", "float32"], "model", "model.yaml", "--platform", "platform.yaml", "--dtype", "flot"),
    words("an unknown column", 2, ["'mac' for '--columns'", "did you mean 'macs'"], "model", "model.yaml", "--columns", "mac"),
    words("an unknown cost model as an option", 2, ["'roofl' for '--cost'", "roofline"], "model", "model.yaml", "--platform", "platform.yaml", "--cost", "roofl"),
    words("two output formats", 2, ["'--json' and '--csv'"], "model", "model.yaml", "--json", "--csv"),
    words("an override for a plan", 2, ["'a=b'", "edit the plan 'small.plan' as text instead"], "run", "small.plan", "a=b"),
    words("a list of an unknown kind", 2, ["'polices'", "did you mean 'policies'"], "list", "polices"),
    words("a sweep of a plan", 2, ["'small.plan' is a plan", "give the scenario"], "sweep", "small.plan", "workload.batch=1,2"),
    words("a search without a metric", 2, ["either '--minimise METRIC' or '--maximise METRIC'"], "search", "scenario.yaml", "workload.batch=1..8"),
    words("a search for an unknown metric", 2, ["'makespan'", "did you mean 'makespan_s'"], "search", "scenario.yaml", "--minimise", "makespan", "workload.batch=1..8"),
    words("a search for a metric that is not a number", 2, ["'bound_by' is a word"], "search", "scenario.yaml", "--minimise", "bound_by", "workload.batch=1..8"),
    words("a search without keys", 2, ["no key is varied", "KEY=lo..hi"], "search", "scenario.yaml", "--minimise", "makespan_s"),
    words("a search that varies one key twice", 2, ["'workload.batch' is given twice"], "search", "scenario.yaml", "--minimise", "makespan_s", "workload.batch=1..8", "--over", "workload.batch=1,2"),
    words("a limit without a comparison", 2, ["'peak_bytes.gpu' is not a limit", "peak_bytes.gpu<=16GB"], "search", "scenario.yaml", "--minimise", "makespan_s", "workload.batch=1..8", "--subject-to", "peak_bytes.gpu"),
    words("a limit without a unit", 2, ["'16'", "the unit is missing"], "search", "scenario.yaml", "--minimise", "makespan_s", "workload.batch=1..8", "--subject-to", "peak_bytes.gpu<=16"),
    words("a limit for a metric of an unknown pool", 2, ["no point has the number 'peak_bytes.gpus'", "did you mean 'peak_bytes.gpu'"], "search", "scenario.yaml", "--minimise", "makespan_s", "workload.batch=1,2", "--subject-to", "peak_bytes.gpus<=16GB"),
    words("more combinations than points", 2, ["8 combinations", "allow more (--points"], "search", "scenario.yaml", "--minimise", "makespan_s", "workload.batch=1..8:8", "--points", "5"),
    words("a schema of an unknown format", 2, ["'scenari'", "did you mean 'scenario'"], "schema", "scenari"),
]

FILES = [
    words("a scenario that is missing", 5, ["'none.yaml'", "No such file"], "run", "none.yaml"),
    words("a name that the zoo does not have", 3, ["'alexnt_x200'", "did you mean 'alexnet_x200'"], "run", "alexnt_x200"),
    words("a platform that the zoo does not have", 3, ["'gpu9'", "`sluice list platforms` lists all"], "model", "model.yaml", "--platform", "gpu9"),
    words("a scenario whose path is a pipe", 5, ["'pipe.yaml'", "a pipe, not a regular file"], "run", "pipe.yaml"),
    words("a model whose path is a pipe", 5, ["'pipe.yaml'", "a pipe"], "model", "pipe.yaml"),
    words("a trace whose path is a pipe", 5, ["'pipe.yaml'", "not a regular file"], "show", "pipe.yaml"),
    words("a scenario of endless length", 5, ["'/dev/zero'", "a device"], "run", "/dev/zero"),
    words("a trace of endless length", 5, ["'/dev/zero'", "not a regular file"], "show", "/dev/zero"),
    words("a scenario whose path is a folder", 5, ["'folder.yaml'", "a folder"], "run", "folder.yaml"),
    words("a scenario instead of a trace", 3, ["not a readable trace"], "show", "scenario.yaml", at="scenario.yaml"),
    words("a scenario instead of a model", 3, ["'sluice-scenario/1'", "expected 'sluice-model/1'"], "model", "scenario.yaml", at="scenario.yaml:1:9"),
    words("a trace whose path has a file in the place of a folder", 5, ["'scenario.yaml' is not a directory"], "run", "scenario.yaml", "-o", "scenario.yaml/t.h5"),
    words("a trace in a folder that cannot be written", 5, ["cannot write '/proc/t.h5'"], "run", "scenario.yaml", "-o", "/proc/t.h5"),
    words("a trace without a name", 5, ["without the name of a file"], "run", "scenario.yaml", "-o", "t.h5/"),
    words("a trace whose name is too long", 5, ["File name too long"], "run", "scenario.yaml", "-o", "t" * 300),
    # The program must find before a long simulation, and not after it, that the folder is missing.
    words("a trace of a long run, in a folder that does not exist", 5, ["'none/t.h5'", "No such file"], "run", "alexnet_resident", "workload.steps=1000000000", "-o", "none/t.h5"),
    words("a plan in a folder that does not exist", 5, ["'none/t.plan'", "No such file"], "plan", "scenario.yaml", "-o", "none/t.plan"),
]

FITS = [
    words("fits without a model", 2, ["missing MODEL"], "fits"),
    words("fits of a platform that the zoo does not have", 3, ["'gtx890'", "did you mean 'gtx980'"], "fits", "model.yaml", "--platform", "gtx890"),
    words("fits of a model that the zoo does not have", 3, ["'cnn_mnits'", "did you mean 'cnn_mnist'"], "fits", "cnn_mnits"),
    words("fits with an empty name in a list", 2, ["'gtx980,,k40' for '--platform'", "an empty name"], "fits", "model.yaml", "--platform", "gtx980,,k40"),
    words("fits with a memory that is given twice", 2, ["names 'k40_8GB' twice"], "fits", "model.yaml", "--platform", "k40", "--memory", "8GB,8GB"),
    words("fits with an invalid memory", 3, ["'8gigs'", "GB"], "fits", "model.yaml", "--platform", "k40", "--memory", "8gigs", at="devices.gpu.memory.capacity=8gigs:1:29"),
    words("fits with a memory, but without a platform", 2, ["'--memory'", "needs '--platform'"], "fits", "model.yaml", "--memory", "8GB"),
    words("fits with all strategies in inference", 2, ["'--fates all' is for '--mode training'"], "fits", "model.yaml", "--mode", "inference", "--fates", "all"),
    words("fits that writes scenarios of every strategy", 2, ["one strategy; name it by '--fates F'"], "fits", "model.yaml", "--fates", "all", "--write", "x"),
    words("fits with a platform that is given twice", 2, ["names 'k40' twice"], "fits", "model.yaml", "--platform", "k40,k40"),
    words("an optimizer in inference", 2, ["'--optimizer' is for '--mode training'"], "fits", "model.yaml", "--mode", "inference", "--optimizer", "adam"),
    words("fits in inference with a strategy that exists only for training", 2, ["'--fates sqrt' is for '--mode training'"], "fits", "model.yaml", "--mode", "inference", "--fates", "sqrt"),
    words("an unknown optimizer as an option", 2, ["'adma' for '--optimizer'", "did you mean 'adam'"], "fits", "model.yaml", "--optimizer", "adma"),
    words("a policy that fits does not support", 2, ["'phased' for '--policy'", "resident, streamed"], "fits", "model.yaml", "--policy", "phased"),
    words("a batch of zero samples", 2, ["'0' for '--batch'", "an integer from 1"], "fits", "model.yaml", "--batch", "0"),
    words("an override of the batch for fits, which searches for the largest batch", 2, ["'workload.batch=3'", "'sluice fits' searches for"], "fits", "model.yaml", "workload.batch=3"),
    words("fits with a capacity that is not enforced", 2, ["'memory.capacity=unlimited'", "an enforced capacity"], "fits", "model.yaml", "memory.capacity=unlimited"),
    words("a dtype that the device does not compute", 3, ["'gpu' has no rate for float16"], "fits", "model.yaml", "--platform", "platform.yaml", "--dtype", "float16"),
    words("a parameter that the model does not have", 3, ["'sise'", "did you mean 'size'"], "fits", "model.yaml", "sise=3", at="sise=3:1:6"),
    words("an unknown key of the scenario", 3, ["'master_wieghts'", "did you mean 'master_weights'"], "fits", "model.yaml", "workload.master_wieghts=true", at="workload.master_wieghts=true:1:25"),
    words("a batch with too many micro-batches", 3, ["'1000003' for 'batch'", "expected at most 1000000 micro-batches"], "fits", "model.yaml", "--platform", "platform.yaml", "--batch", "1000003"),
    words("a scenario instead of the model of fits", 3, ["expected 'sluice-model/1'"], "fits", "scenario.yaml", at="scenario.yaml:1:9"),
    words("fits with a file in the place of the folder for the scenarios", 5, ["cannot make the folder 'model.yaml/x'"], "fits", "model.yaml", "--write", "model.yaml/x"),
]

DOCUMENTS = [
    said("an override with a path that does not exist", 12, ["cannot read '/none.yaml'"], "model.file=/none.yaml"),
    said("an include that is a list", 14, ["expected a path for 'file', got a list"], "model={file: [a]}"),
    said("an include without a name", 14, ["an empty text"], 'model={file: ""}'),
    said("a YAML alias in an override", 16, ["aliases"], "workload.batch=*x"),
    said("a YAML tag in an override", 16, ["tags"], "workload.batch=!!int 3"),
    said("NaN instead of a number", 16, ["'.nan'", "not a finite number"], "workload.batch=.nan"),
    said("infinity instead of a number", 33, ["'.inf'", "not a finite number"], "platform.devices.gpu.efficiency=.inf"),
    said("a number that is too large for a double", 16, ["'1e999'", "out of range", "1.8e308"], "workload.batch=1e999"),
    scenario("a number in a file that is too large for a double", "scenario.yaml:3:34", ["'1e999' for 'scale'", "out of range"], "size: 8", "scale: 1e999"),
]

VALUES = [
    said("a word instead of a mapping", 10, ["'inference' for 'workload'", "a mapping"], "workload=inference"),
    said("an empty text instead of a number", 16, ["'null' for 'batch'", "an integer"], "workload.batch="),
    said("a whole number that is written with an exponent", 16, ["'1e3' for 'batch'", "an integer"], "workload.batch=1e3"),
    said("an unknown mode", 15, ["'tuning' for 'mode'", "inference"], "workload.mode=tuning"),
    given("samples that overflow", "scenario.yaml:5:11", ["batch x batches_per_step x steps", "below 2^63"], "workload.batch=1000000000000", "workload.steps=1000000000000"),
    given("a step with too many micro-batches", "scenario.yaml:5:11", ["1000000000000 micro-batches", "the limit is 1000000"], "workload.batch=1000000000000", "workload.micro_batch=1"),
    said("a policy that is a number", 8, ["'3' for 'policy'", "a mapping, or a single word as its 'name'"], "policy=3"),
    said("a policy that is a list", 13, ["a list for 'name'", "resident, streamed"], "policy.name=[a]"),
    said("a parameter that only another policy has", 25, ["'prefetch'", "policy resident", "allowed: name"], "policy={name: resident, prefetch: 1}"),
    said("prefetch without overlap", 51, ["'1' for 'prefetch'", "with 'overlap: false' no weights are loaded", "use 'prefetch: 0'"], "policy={name: streamed, overlap: false, prefetch: 1}"),
    said("a negative prefetch", 35, ["'-1' for 'prefetch'", "at least 0"], "policy={name: streamed, prefetch: -1}"),
    said("a switch that is neither true nor false", 34, ["'maybe' for 'overlap'", "true or false"], "policy={name: streamed, overlap: maybe}"),
    said("an unknown value of the key "
         "outputs", 34, ["'keep' for 'outputs'", "return, discard"], "policy={name: streamed, outputs: keep}"),
    said("an unknown cost model", 14, ["unknown cost model 'peek'", "did you mean 'peak'", "roofline"], "cost={model: peek}"),
    said("an efficiency above 1 in the cost model roofline", 44, ["'1.5' for 'compute_efficiency'", "at most 1"], "cost={model: roofline, compute_efficiency: 1.5}"),
    said("a parameter that only another cost model has", 20, ["unknown key 'compute_efficiency' in cost peak", "allowed: model"], "cost={model: peak, compute_efficiency: 0.5}"),
    said("a policy that does not train", 15, ["policy 'sharded' does not plan for training, but for inference", "resident, streamed, phased, data_parallel"], "policy={name: sharded}", "workload.mode=training"),
    said("fates that a policy does not support", 18, ["policy 'resident' does not honour the fates 'offload_all' in inference", "it honours: keep_all", "streamed"], "policy={name: resident}", "fates={strategy: offload_all}"),
    said("the key phases for a policy without phases", 8, ["policy 'streamed' does not take 'phases'", "policies that take 'phases': phased"], "phases={activations: on_chip}"),
    said("a replica whose policy needs several devices", 39, ["'sharded' for 'replica'", "resident, streamed, phased"], "policy={name: data_parallel, replica: sharded}"),
    said("a parameter of a strategy for fates, although the strategy is automatic", 32, ["'budget' in fates", "'strategy: auto'"], "fates={strategy: auto, budget: 1GB}"),
    said("a parameter of a strategy for fates without the name of the strategy", 16, ["'budget' in fates", "'strategy: auto'"], "fates={budget: 1GB}"),
    said("a cut without a name", 8, ["missing key 'cut' in stages", "known: auto, whole"], "stages={groups: 2}"),
    said("a cost model that lacks a bandwidth", 14, ["'gpu' has no memory bandwidth", "960GB/s"], "cost={model: roofline}"),
    said("an unknown fate", 18, ["unknown strategy for fates 'recompute'", "keep_all, recompute_all"], "fates={strategy: recompute}"),
    said("a key that exists only for training, in inference", 20, ["'optimizer' is only for 'mode: training'"], "workload.optimizer=adam"),
    said("an unknown optimizer", 20, ["'adamm' for 'optimizer'", "sgd, momentum, adam, none"], "workload.mode=training", "workload.optimizer=adamm"),
    said("fates that exist only for training, in inference", 18, ["is only for training", "keep_all or offload_all"], "fates={strategy: sqrt}"),
    said("a fate of an unknown stage", 38, ["'9' is not a stage", "a number from 1 to"], "workload.mode=training", "fates={strategy: listed, recompute: [9]}"),
    said("a stage with two fates", 47, ["stage 'full' already has a fate"], "workload.mode=training", "fates={strategy: listed, keep: [1], offload: [1]}"),
    said("a parameter that only another strategy for fates has", 24, ["'keep'", "fates sqrt"], "workload.mode=training", "fates={strategy: sqrt, keep: [1]}"),
    said("master weights without an optimizer", 25, ["'master_weights' needs an optimizer"], "workload.mode=training", "workload.optimizer=none", "workload.master_weights=true"),
    said("an explicit cut without layers", 8, ["'after' is missing", "explicit", "a list"], "stages={cut: explicit}"),
    said("a cut after the last layer", 32, ["'last' is the last layer"], "stages={cut: explicit, after: [3]}"),
    said("cuts that do not ascend", 35, ["must be in ascending order", "'full'"], "stages={cut: explicit, after: [2, 2]}"),
    said("a parameter that only another cut has", 25, ["'after'", "per_layer", "allowed: cut"], "stages={cut: per_layer, after: [1]}"),
    said("a share above 1", 32, ["'1.5' for 'share'", "at most 1"], "stages={cut: by_memory, share: 1.5}"),
    said("an efficiency of zero", 33, ["'0' for 'efficiency'", "more than 0"], "platform.devices.gpu.efficiency=0"),
    said("no rate at all", 27, ["'gpu' needs a rate", "float32"], "platform.devices.gpu.rate={}"),
    said("a rate of zero", 35, ["'0FLOP/s' for 'float32'", "more than 0"], "platform.devices.gpu.rate.float32=0FLOP/s"),
    said("MACs instead of FLOP", 35, ["'1TMAC/s' for 'float32'", "FLOP per second"], "platform.devices.gpu.rate.float32=1TMAC/s"),
    said("an unknown dtype of a rate", 35, ["'flaot32'", "did you mean 'float32'"], "platform.devices.gpu.rate.flaot32=1GFLOP/s"),
    said("a capacity that does not fit in 64 bits", 38, ["'16EiB' for 'capacity'", "2^63 - 1"], "platform.devices.gpu.memory.capacity=16EiB"),
    said("a negative latency", 29, ["'-5us' for 'latency'", "negative"], "platform.links.host.latency=-5us"),
    said("an unknown duplex", 28, ["'both' for 'duplex'", "full, half"], "platform.links.host.duplex=both"),
    said("a link with one end", 27, ["at least two"], "platform.links.host.joins=[host]"),
    said("a link from a node to itself", 34, ["'host' twice"], "platform.links.host.joins=[host, host]"),
    said("a machine without devices", 18, ["at least one device"], "platform.devices={}"),
    said("a device whose memory is unknown", 29, ["'hots' for the memory of device 'gpu'", "did you mean 'host'"], "platform.devices.gpu.memory=hots"),
    said("a device without memory", 29, ["'gpu' has no memory", "the first memory is the default"], "platform.devices.gpu.memory=[]"),
    said("a device whose second memory has no name", 47, ["'name' is missing", "'gpu_ddr'"], "platform.devices.gpu.memory=[{capacity: 1MB}, {capacity: 1MB}]"),
    said("rates for several numbers of threads, but no number of threads that the device uses", 29, ["'gpu' has no key 'threads'", "add threads: 4"], "platform.devices.gpu.memory={capacity: 1MB, by_threads: [{threads: 4, read: 1GB/s, write: 1GB/s}]}"),
    said("a group of zero devices", 32, ["'0' for 'count'", "at least 1"], "platform.groups={node: {count: 0}}"),
    said("a group within a group", 25, ["unknown key 'groups' in group 'node'"], "platform.groups={node: {groups: {}}}"),
    said("more power when idle than when busy", 27, ["'1W' for 'busy'", "at least 2 W"], "platform.devices.gpu.idle=2W", "platform.devices.gpu.busy=1W"),
    said("an override of a misspelt key", 1, ["'plaform'", "did you mean 'platform'"], "plaform.links.host.bandwidth=1GB/s"),
]

ZOO = [
    words("a cut with a stage that does not fit the card", 4, ["24.54 GB, 539.8 MB more than its 24 GB", "weight 23.97 GB", "stages={cut: auto}"],
          "run", "alexnet_x200", "stages={cut: explicit, after: [16]}"),
    words("one micro-batch more in flight than the memory holds", 4, ["591 micro-batches in flight", "the greatest number of micro-batches in flight that fits: 590", "policy.in_flight=590"],
          "run", "alexnet_x200", "stages={cut: by_memory}", "fates={strategy: keep_all}", "policy.in_flight=591",
          "policy.prefetch=1", "policy.buffers=2", "policy.pieces=whole"),
    words("a parameter of a cut, although the cut is automatic", 3, ["'share' in stages", "'cut: auto'"], "run", "alexnet_x200",
          "stages.share=50%", at="stages.share=50%:1:14"),
    words("weights that stay on the device, but do not fit", 4, ["out of memory at", "for weights.2", "more than its 24 GB", "policy.name=streamed"],
          "run", "alexnet_x200", "policy={name: resident}", "stages={cut: by_memory}"),
    words("weights that stay on the device, but do not fit with any cut", 4,
          ["out of memory at", "more than its 24 GB", "for weights.15"],
          "run", "alexnet_x200", "policy={name: resident}"),
    words("a model whose counts do not fit into 64 bits", 3, ["FLOP", "below 2^63"], "model", "alexnet_data_island", "scale=100000000000", at="scale=100000000000:1:7"),
    words("host memory whose bytes do not fit into 64 bits", 3, ["bytes of a step's inputs", "2^63"], "run", "alexnet_x200_as_written", "model.scale=10000000000", "workload.batches_per_step=9000",
          at=f"{ROOT}/scenarios/alexnet_x200_as_written.yaml:11:52"),
]

CASES = COMMANDS + FILES + FITS + DOCUMENTS + VALUES + ZOO
