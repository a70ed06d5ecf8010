"""Mistakes of an engineer who used the program for the first time. Every message must say what to do next."""

from cases import Case, given, model, platform, scenario
from command_cases import said, words
from import_cases import message, node, of_onnx, onnx, tensor_info

GPU = "platform.devices.gpu."
TRAINING = ("workload.mode=training", "policy=resident")


def own(name, at, says, text, code=3):
    """Returns a case in which the user writes a complete scenario."""
    return Case(name, code, at, says, "scenario.yaml", content=text)


# Mistakes that the first version of the program answered with good messages. These messages must stay as good as they
# were.
GOOD = [
    said("mistake 1, a key misspelt", 1, ["unknown key 'bach'", "did you mean 'batch'"], "workload.bach=4"),
    said("mistake 2, a negative batch", 16, ["'-1' for 'batch'", "at least 1"], "workload.batch=-1"),
    said("mistake 3, half a sample", 16, ["'4.5' for 'batch'", "expected an integer"], "workload.batch=4.5"),
    said("mistake 4, a word instead of a number", 16, ["'abc' for 'batch'", "expected an integer"], "workload.batch=abc"),
    said("mistake 5, an efficiency above 1", 33, ["'120%' for 'efficiency'", "at most 1"], GPU + "efficiency=120%"),
    said("mistake 6, a bandwidth without its unit", 31, ["'64' for 'bandwidth'", "the unit is missing", "30GB/s"], "platform.links.host.bandwidth=64"),
    said("mistake 7, FLOPS", 35, ["unknown unit 'TFLOPS'", "did you mean 'TFLOP/s'"], GPU + "rate.float32=67TFLOPS"),
    said("mistake 8, the unit G instead of GB", 38, ["unknown unit 'G'", "did you mean 'GB'"], GPU + "memory.capacity=24G"),
    scenario("mistake 9, a parameter misspelt", "scenario.yaml:3:27", ["no parameter 'sizee'", "did you mean 'size'"], "size: 8", "sizee: 8"),
    model("mistake 10, a layer misspelt", "model.yaml:8:12", ["unknown layer type 'rleu'", "did you mean 'relu'"], "type: relu", "type: rleu"),
    model("mistake 11, a variable misspelt", "model.yaml:7:41", ["unknown parameter 'sisze'", "did you mean 'size'"], "features: $size", "features: $sisze"),
    Case("mistake 12, a kernel larger than its image", 3, "model.yaml:6:53", ["'300' for 'kernel'", "expected at most 66"], "model.yaml",
         content="format: sluice-model/1\nname: m\nlayers:\n  - {type: input, name: x, shape: [64, 64, 3]}\n"
                 "  - {type: relu, name: r}\n  - {type: conv2d, channels: 8, padding: 1, kernel: 300}\n",
         run=["model", "model.yaml"]),
    scenario("mistake 13, a key twice", "scenario.yaml:5:28", ["duplicate key 'dtype'", "line 5"], "batch: 2", "dtype: int8"),
    scenario("mistake 14, a tab", "scenario.yaml:6:2", ["there is a tab before the text", "use blanks"], "stages: {cut: per_layer}", "\tstages: {cut: per_layer}"),
    own("mistake 15, an empty document", "scenario.yaml", ["the document is empty", "`sluice new` writes an example"], ""),
    scenario("mistake 16, another format", "scenario.yaml:1:9", ["'sluice-scenario/x'", "expected 'sluice-scenario/1'"], "sluice-scenario/1", "sluice-scenario/x"),
    said("mistake 17, cuts that do not ascend", 35, ["must be in ascending order"], "stages={cut: explicit, after: [2, 2]}"),
    platform("mistake 18, thousands of devices", "platform.yaml:5:12", ["'5000' for 'count'", "at most"], "    rate: {float32: 1TFLOP/s}", "    count: 5000\n    rate: {float32: 1TFLOP/s}"),
    said("mistake 19, an explicit cut without layers", 8, ["the key 'after' is missing", "expected a list"], "stages=explicit"),
    said("mistake 20, an element type without a rate", 16, ["has no rate for int8; it has float32\n  use one of these types as workload.dtype, or add the rate of int8, as in platform.devices.gpu.rate.int8="], "workload.dtype=int8"),
    said("mistake 21, a parameter of another policy", 25, ["unknown key 'prefetch' in policy resident", "allowed:"], "policy={name: resident, prefetch: 1}"),
    words("mistake 22, an unknown command", 2, ["unknown command 'runn'", "did you mean 'run'", "sluice help"], "runn", "scenario.yaml"),
    words("mistake 23, a folder that does not exist", 5, ["'none/s.yaml'", "No such file or directory"], "run", "none/s.yaml"),
]

# Mistakes that the first version of the program answered with bad messages, or without a message.
TABLE = [
    said("mistake 24, a bandwidth in Gbps", 31, ["counts bits", "64 Gbit/s is 8GB/s"], "platform.links.host.bandwidth=64Gbps"),
    said("mistake 25, a bandwidth in Gbit/s", 31, ["counts bits", "64 Gbit/s is 8GB/s"], "platform.links.host.bandwidth=64Gbit/s"),
    said("mistake 26, fp16", 16, ["'fp16' for 'dtype'", "did you mean 'float16'"], "workload.dtype=fp16"),
    said("mistake 27, bf16", 16, ["'bf16' for 'dtype'", "did you mean 'bfloat16'"], "workload.dtype=bf16"),
    said("mistake 28, half", 16, ["'half' for 'dtype'", "did you mean 'float16'"], "workload.dtype=half"),
    words("mistake 29, fp16 as the value of an option", 2, ["'fp16' for '--dtype'", "did you mean 'float16'"], "fits", "model.yaml", "--dtype", "fp16"),
    said("mistake 30, a key without its path", 7, ["unknown key 'batch' in scenario", "did you mean 'workload.batch'"], "batch=4"),
    said("mistake 31, a figure of the platform without its path", 11, ["unknown key 'bandwidth'", "did you mean 'platform.links.host.bandwidth'"], "bandwidth=4GB/s"),
    said("mistake 32, a parameter of the model without its path", 6, ["unknown key 'size'", "did you mean 'model.size'"], "size=4"),
    said("mistake 33, only the beginning of a strategy's name", 16, ["unknown strategy for fates 'offload'", "did you mean 'offload_all'"], "fates.strategy=offload"),
    said("mistake 34, 1 for true", 16, ["'1' for 'overlap'", "did you mean 'true'"], "policy.overlap=1"),
    said("mistake 35, 0 for false", 16, ["'0' for 'overlap'", "did you mean 'false'"], "policy.overlap=0"),
    own("mistake 36, a misspelt policy", "scenario.yaml:4:9", ["unknown policy 'residnt'", "did you mean 'resident'"],
        "format: sluice-scenario/1\nmodel: model.yaml\nplatform: platform.yaml\npolicy: residnt\n"),
    own("mistake 37, a misspelt "
        "platform", "scenario.yaml:3:11", ["'a100_pice'", "did you mean 'a100_pcie'", "`sluice list platforms`"],
        "format: sluice-scenario/1\nmodel: gpt2\nplatform: a100_pice\npolicy: resident\n"),
    own("mistake 38, a misspelt model", "scenario.yaml:2:8", ["'gtp2'", "did you mean 'gpt2'", "`sluice list models`"],
        "format: sluice-scenario/1\nmodel: gtp2\nplatform: a100_pcie\npolicy: resident\n"),
    own("mistake 39, a file outside of the root", "scenario.yaml:2:15", ["leads out of", ".git", "files of Sluice, such as gpt2"],
        "format: sluice-scenario/1\nmodel: {file: ../../x}\nplatform: a100_pcie\npolicy: resident\n"),
    words("mistake 40, a model given to sluice run", 3, ["it is a model", "`sluice fits llama2_7b`", "`model: llama2_7b`"], "run", "llama2_7b"),
    words("mistake 41, a platform given to sluice run", 3, ["it is a platform", "`platform: k40`"], "run", "k40"),
    said("mistake 42, a bandwidth that no machine has", 31, ["'64e99GB/s' for 'bandwidth'", "it must be at most 1 EB/s: no machine has more"], "platform.links.host.bandwidth=64e99GB/s"),
    words("mistake 43, a misspelt model", 3, ["'lama2_7b'", "did you mean 'llama2_7b'"], "fits", "lama2_7b"),
    words("mistake 44, a misspelt model given to sluice model", 3, ["'resnet5O'", "did you mean 'resnet50'"], "model", "resnet5O"),
    own("mistake 45, caches that do not fit", "", ["kv_cache 34.34 GB", "24 GB", "the largest batch that fits: 22"],
        "format: sluice-scenario/1\nmodel: {file: llama2_7b, tokens: 1, cached: 2047}\nplatform: rx7900xtx_pcie4\n"
        "workload: {dtype: float16, batch: 32}\nstages: single_tensor\npolicy: streamed\n", code=4),
]

# Mistakes that this new user of the program made later, mostly with other commands than before.
ELSEWHERE = [
    words("mistake 46, a third policy for a comparison of two policies", 2, ["'data_parallel' is a policy", "'--compare' takes only two policies"], "check", "--compare", "resident", "streamed", "data_parallel", "scenario.yaml"),
    said("mistake 47, a micro-batch that replicas cannot share", 8, ["1 micro-batch, which 2 replicas cannot share equally", "workload.micro_batch=4: then the number of micro-batches of each replica is 1"],
         "platform.devices.gpu.count=2", "workload={mode: training, batch: 8}", "policy={name: data_parallel, replica: resident}"),
    said("mistake 48, a policy that does not train", 15, ["policy 'sharded' does not plan for training", "policies that plan for training"], "policy=sharded", "workload.mode=training"),
    of_onnx("mistake 49, an operator of as_zero that the model does not have", ["'FancyAkt' in 'as_zero'", "did you mean 'FancyAct'"],
            onnx(node("FancyAct", ["x"], ["y"], domain="com.example")), "as_zero=FancyAkt", at="as_zero=FancyAkt:1:9"),
    of_onnx("mistake 50, an unknown operator", ["com.example.FancyAct", "as_zero=[com.example.FancyAct]"],
            onnx(node("FancyAct", ["x"], ["y"], domain="com.example")), at="m.onnx"),
    of_onnx("mistake 51, an extent that is not in the file", ["seq_len", "give their values, such as seq_len="],
            onnx(node("Relu", ["x"], ["y"]), extents=("N", "seq_len", 4)), at="m.onnx"),
    of_onnx("mistake 52, a model that is cut short", ["should have", "are left", "copy the file again, or export the model again"],
            onnx(node("Relu", ["x"], ["y"]))[:-20], at="m.onnx"),
    said("mistake 53, fp8", 31, ["unknown key 'fp8' in the rate", "allowed: float64"], GPU + "rate.fp8=1TFLOP/s"),
    words("mistake 54, an option of the program that is cut short", 2, ["unknown option '--vers'", "did you mean '--version'"], "--vers"),
    words("mistake 55, a shell that is not supported", 2, ["sluice completion bash"], "completion", "zsh"),
    words("mistake 56, a trace with the name of an input", 2, ["'platform.yaml' for '--output'", "is an input of this run"], "run", "scenario.yaml", "-o", "platform.yaml"),
    words("mistake 57, a trace with the name of another document", 2, ["'table.json' for '--output' is not a trace", "--force"], "run", "scenario.yaml", "-o", "table.json"),
    words("mistake 58, an imported model with the name of a document", 2, ["'model.yaml' for '--output' is there already", "--force"], "import", "small.graph.txt", "batch=2", "-o", "model.yaml"),
    words("mistake 59, a plan with an override", 2, ["a plan takes no KEY=VALUE", "as text instead"], "run", "small.plan", "link.host.down.bandwidth=63GB/s"),
    Case("mistake 60, a misspelt action in a plan", 3, "small.plan:14:76", ["'laod'", "did you mean 'load'"], "small.plan", ("waits=load", "waits=laod"), run=["run", "small.plan"]),
    Case("mistake 61, a host memory that is too small", 4, "", ["tensors whose home is host", "its capacity is 1 B", "give host more memory", "what helps: platform.memories.host.capacity=416B; or workload.dtype=float16"],
         run=["run", "scenario.yaml", "platform.memories.host.capacity=1B"]),
    words("mistake 62, a list of an unknown kind", 2, ["'model'", "did you mean 'models'"], "list", "model"),
    words("mistake 63, the name of a file without its ending", 3, ["did you mean 'scenario.yaml'"], "run", "scenario"),
    words("mistake 64, a document instead of a trace", 3, ["not a readable trace", "sluice run"], "show", "scenario.yaml", at="scenario.yaml"),
    said("mistake 65, a cut as a key of the policy", 12, ["unknown key 'cut' in policy (did you mean 'stages.cut'?)"], "policy.cut=per_layer"),
    said("mistake 66, a batch as a key of the policy", 14, ["unknown key 'batch' in policy (did you mean 'workload.batch'?)"], "policy.batch=4"),
    scenario("mistake 67, the strategy of fates as a key of the workload", "scenario.yaml:5:28", ["unknown key 'strategy' in workload (did you mean 'fates.strategy'?)"], "dtype: float32", "dtype: float32, strategy: sqrt"),
    words("mistake 68, a report with the name of a document", 2, ["'table.json' for '--junit' is not a report in JUnit's XML", "--force"], "check", "scenario.yaml", "--baseline", "golden", "--junit", "table.json"),
    words("mistake 69, a trace to standard output", 2, ["'-' for '--output' is not the name of a file: give a name such as trace.h5", "'./-'"], "run", "scenario.yaml", "-o", "-"),
    words("mistake 70, a plan to standard output", 2, ["'-' for '--output' is not the name of a file: leave the option out"], "plan", "scenario.yaml", "-o", "-"),
    words("mistake 71, a trace whose name ends in .json", 2, ["'out.json' for '--output' would be a trace", "not json: name it 'out.h5', or add --force", "--json prints the answer", "sluice export"], "run", "scenario.yaml", "-o", "out.json"),
    words("mistake 72, a report to standard output", 2, ["'-' for '--junit' is not the name of a file: give a name such as report.xml"], "check", "scenario.yaml", "--baseline", "golden", "--junit", "-"),
]

CASES = GOOD + TABLE + ELSEWHERE
