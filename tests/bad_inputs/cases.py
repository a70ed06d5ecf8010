"""Bad inputs. A case names its fault. It also says what the program must answer: the exit code, the position in the
message, and words of the message.

A case may change one file of documents.py, and then runs a command. `edit` gives a piece of the file's text, and the
text that replaces this piece. Instead of `edit`, `content` gives a new content of the whole file. `at` is the position
in the message, as FILE:LINE:COLUMN. If the fault has no line, `at` is FILE. If the fault is not in a file, `at` is
empty.
"""

from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    code: int
    at: str
    says: list
    file: str = ""
    edit: tuple = ()           # (old, new)
    content: object = None     # the content of the whole file, as text or bytes
    run: list = field(default_factory=lambda: ["run", "scenario.yaml"])


def scenario(name, at, says, old, new, code=3):
    return Case(name, code, at, says, "scenario.yaml", (old, new))


def model(name, at, says, old, new, code=3):
    return Case(name, code, at, says, "model.yaml", (old, new))


def platform(name, at, says, old, new, code=3):
    return Case(name, code, at, says, "platform.yaml", (old, new))


def plan(name, at, says, old, new, code=3):
    return Case(name, code, at, says, "small.plan", (old, new), run=["run", "small.plan"])


def table(name, at, says, old, new):
    return Case(name, 3, at, says, "table.json", (old, new), run=["model", "table.json"])


def whole(name, at, says, content, code=3):
    return Case(name, code, at, says, "scenario.yaml", content=content)


def given(name, at, says, *words, code=3):
    return Case(name, code, at, says, run=["run", "scenario.yaml", *words])


DOCUMENTS = [
    whole("an empty file", "scenario.yaml", ["empty"], ""),
    whole("only a comment", "scenario.yaml", ["empty"], "# nothing\n"),
    whole("binary", "scenario.yaml:1:1", ["control character", "binary"], b"\x7fELF\x00\x01\x02"),
    whole("bad UTF-8", "scenario.yaml:2:17", ["UTF-8"], b"format: sluice-scenario/1\nquestion: is it \xff?\n"),
    whole("a list", "scenario.yaml:1:1", ["mapping"], "- 1\n- 2\n"),
    whole("broken YAML", "scenario.yaml:2:6", ["not YAML"], "format: [sluice-scenario/1\nmodel: x\n"),
    whole("a second document", "scenario.yaml:2:1", ["document"], "format: sluice-scenario/1\n---\na: 1\n"),
    scenario("a tag", "scenario.yaml:2:11", ["tag"], "Does it fit?", "!!python/object:os.system x"),
    scenario("an anchor", "scenario.yaml:3:8", ["anchor"], "{file: model.yaml, size: 8}", "&m {file: model.yaml}"),
    scenario("an alias", "scenario.yaml:3:8", ["alias"], "{file: model.yaml, size: 8}", "*m"),
    scenario("a merge key", "scenario.yaml:5:12", ["<<"], "{dtype: float32, batch: 2}", "{<<: {batch: 3}, dtype: float32}"),
    scenario("nested too deeply", "scenario.yaml:5:74", ["64 levels"], "{dtype: float32, batch: 2}", "[" * 80 + "]" * 80),
    scenario("a duplicate key", "scenario.yaml:5:28", ["duplicate key 'dtype'", "line 5"], "batch: 2", "dtype: int8"),
    scenario("an integer with a leading zero", "scenario.yaml:5:35", ["010", "leading zero"], "batch: 2", "batch: 010"),
    scenario("no format", "scenario.yaml:1:1", ["'format' is missing", "sluice-scenario/1"], "format: sluice-scenario/1\n", ""),
    scenario("another format", "scenario.yaml:1:9", ["'sluice-platform/1'", "sluice-scenario/1"], "sluice-scenario/1", "sluice-platform/1"),
    scenario("a newer format", "scenario.yaml:1:9", ["'sluice-scenario/2'", "newer"], "sluice-scenario/1", "sluice-scenario/2"),
]

INCLUDES = [
    scenario("an include that is missing", "scenario.yaml:3:15", ["none.yaml"], "model.yaml", "none.yaml"),
    scenario("an include of a file outside of the root", "scenario.yaml:3:15", ["../../etc/passwd", "leads out of", "put an empty file .sluice-root"], "model.yaml", "../../etc/passwd"),
    scenario("an include of a device", "scenario.yaml:3:15", ["/dev/zero", "leads out of", "put an empty file .sluice-root"], "model.yaml", "/dev/zero"),
    scenario("an include of a pipe", "scenario.yaml:3:15", ["a pipe"], "model.yaml", "pipe.yaml"),
    scenario("an include of a folder", "scenario.yaml:3:15", ["a folder"], "model.yaml", "folder.yaml"),
    scenario("an include through a symbolic link to a file outside of the root", "scenario.yaml:3:15", ["link.yaml", "leads out of", "put an empty file .sluice-root"], "model.yaml", "link.yaml"),
    platform("a cycle of includes", "platform.yaml:2:7", ["include each other", "platform.yaml -> platform.yaml"], "name: bench", "file: platform.yaml\nname: bench"),
    scenario("a model instead of a platform", "model.yaml:1:9", ["'sluice-model/1'", "sluice-platform/1"], "file: platform.yaml", "file: model.yaml"),
]

SCENARIOS = [
    scenario("an unknown key", "scenario.yaml:5:1", ["'wrokload'", "did you mean 'workload'"], "workload:", "wrokload:"),
    scenario("no policy", "scenario.yaml:1:1", ["'policy'", "missing"], "policy: {name: streamed, in_flight: auto}\n", ""),
    scenario("an unknown policy", "scenario.yaml:7:16", ["'streemed'", "did you mean 'streamed'", "resident"], "streamed", "streemed"),
    scenario("an unknown parameter of a policy", "scenario.yaml:7:26", ["'inflight'", "did you mean 'in_flight'"], "in_flight", "inflight"),
    scenario("a word instead of a number", "scenario.yaml:7:37", ["'most'", "in_flight", "auto"], "auto", "most"),
    scenario("zero inferences in flight", "scenario.yaml:7:37", ["'0'", "in_flight", "1"], "in_flight: auto", "in_flight: 0"),
    scenario("a negative batch", "scenario.yaml:5:35", ["'-2'", "batch", "1"], "batch: 2", "batch: -2"),
    scenario("half a batch", "scenario.yaml:5:35", ["'2.5'", "batch", "integer"], "batch: 2", "batch: 2.5"),
    scenario("a batch that does not fit in 64 bits", "scenario.yaml:5:35", ["99999999999999999999"], "batch: 2", "batch: 99999999999999999999"),
    scenario("a micro-batch that does not divide the batch", "scenario.yaml:5:51", ["'3'", "micro_batch", "does not divide"], "batch: 2", "batch: 4, micro_batch: 3"),
    scenario("an unknown dtype", "scenario.yaml:5:19", ["'flot32'", "did you mean 'float32'"], "float32", "flot32"),
    scenario("a dtype that the device has no rate for", "scenario.yaml:5:19", ["no rate for int8", "float32"], "float32", "int8"),
    scenario("an unknown cut", "scenario.yaml:6:15", ["'per_leyer'", "did you mean 'per_layer'", "by_memory"], "per_layer", "per_leyer"),
    scenario("a cut after an unknown layer", "scenario.yaml:6:33", ["'lst'", "did you mean 'last'"], "cut: per_layer", "cut: explicit, after: [lst]"),
    scenario("a cut after a layer number that the model does not have", "scenario.yaml:6:33", ["9", "1 to 3"], "cut: per_layer", "cut: explicit, after: [9]"),
    scenario("a mapping instead of a word", "scenario.yaml:8:20", ["capacity", "enforced"], "enforced", "{a: 1}"),
    scenario("an unknown parameter of the model", "scenario.yaml:3:27", ["'sise'", "did you mean 'size'"], "size: 8", "sise: 8"),
    scenario("an unknown device", "scenario.yaml:7:34", ["'gpu3'", "gpu"], "in_flight: auto", "device: gpu3"),
    scenario("a scale of zero", "scenario.yaml:3:34", ["'0'", "scale"], "size: 8", "scale: 0"),
    scenario("a scale that overflows", "scenario.yaml:3:34", ["9223372036854775807", "below 2^63"], "size: 8", "scale: 9223372036854775807"),
    given("an override without a value", "", ["'steps'", "KEY=VALUE"], "steps", code=2),
    given("an override without a key", "", ["'=3'", "KEY=VALUE"], "=3", code=2),
    given("an override of an unknown key", "platform.links.hots.bandwidth=1GB/s:1:16", ["'hots'", "did you mean 'host'"], "platform.links.hots.bandwidth=1GB/s"),
    given("an override with a wrong unit", "platform.links.host.bandwidth=64GB:1:31", ["'64GB'", "bandwidth", "30GB/s"], "platform.links.host.bandwidth=64GB"),
    given("an override that is not YAML", "workload.batch=[1:1:16", ["closing ]"], "workload.batch=[1"),
]

MODELS = [
    model("an unknown layer type", "model.yaml:7:12", ["'dens'", "did you mean 'dense'", "conv2d"], "type: dense", "type: dens"),
    model("a layer without a size", "model.yaml:7:5", ["'features'", "missing"], ", features: $size", ""),
    model("an unknown key of a layer", "model.yaml:7:31", ["'feature'", "did you mean 'features'"], "features:", "feature:"),
    model("an input that is a later layer", "model.yaml:7:40", ["'last'", "not an earlier layer", "x"], "name: full,", "name: full, inputs: [last],"),
    model("two layers with the same name", "model.yaml:8:24", ["duplicate layer name 'full'"], "name: last", "name: full"),
    model("an unknown parameter", "model.yaml:7:41", ["$sice", "did you mean 'size'"], "features: $size", "features: $sice"),
    model("a division with a remainder", "model.yaml:7:41", ["$size / 3", "8 / 3"], "features: $size", "features: $size / 3"),
    model("an expression that overflows", "model.yaml:7:41", ["9223372036854775807", "64 bits"], "features: $size", "features: $size * 9223372036854775807"),
    model("a NUL in a name", "model.yaml:8:24", ["NUL"], "name: last", 'name: "la\\0st"'),
    model("half of a character", "model.yaml:8:31", ["\\ud800 to \\udfff are halves of a character", "eight hex digits"], "name: last", 'name: "\\ud83d\\ude00"'),
    model("no layers", "model.yaml:6:3", ["'layers' is empty"], "  - {type: input, name: x, shape: [$size]}\n  - {type: dense, name: full, features: $size}\n  - {type: relu, name: last}\n", "  []\n"),
    model("a pooling layer whose input is not an image", "model.yaml:7:12", ["max_pool", "[height, width, channels]", "[8]"], "type: dense, name: full, features: $size", "type: max_pool, name: full, kernel: 3"),
    model("weights tied to a layer without weights", "model.yaml:8:50", ["'x' for 'tied'", "of type input and has no weights to share"], "{type: relu, name: last}", "{type: dense, name: last, features: 8, tied: x}"),
    model("weights tied to an unknown layer", "model.yaml:8:50", ["'ful' in 'tied'", "did you mean 'full'"], "{type: relu, name: last}", "{type: dense, name: last, features: 8, tied: ful}"),
    model("a number of ranks that does not divide the elements of the tensor", "model.yaml:8:47", ["'3' for 'ranks'", "divisor", "[8]"], "{type: relu, name: last}", "{type: reduce_scatter, name: last, ranks: 3}"),
    model("a block with too few inputs", "model.yaml:8:24", ["takes 2 inputs (a, b), got 1"], "layers:\n  - {type: input, name: x, shape: [$size]}", "blocks: {b: {inputs: [a, b], layers: [{type: add, inputs: [a, b]}]}}\nlayers:\n  - {type: input, name: x, shape: [$size]}\n  - {block: b, inputs: [x]}"),
    model("an error inside a block", "model.yaml:5:45", ["'8' for 'row'", "in the block 'b', used at model.yaml:8:5"], "layers:\n  - {type: input, name: x, shape: [$size]}", "blocks: {b: {layers: [{type: take_row, row: $size}]}}\nlayers:\n  - {type: input, name: x, shape: [$size, 2]}\n  - {block: b}"),
    model("a repetition with too many layers", "model.yaml:8:5", ["repeat: 999999999", "more than 1000000 layers"], "  - {type: relu, name: last}", "  - {repeat: 999999999, layers: [{type: relu, name: last}]}"),
    table("a table with a wrong heading", "table.json:2:66", ["'total flops'", "total FLOPs"], "total FLOPs", "total flops"),
    table("a running total that decreases", "table.json:5:21", ["'4'", "total params", "at least"], "50, 5, 120", "50, 4, 120"),
    table("a total state that is not the sum of the states", "table.json:4:17", ["'31'", "total state", "10 + 20"], "20, 30, 5", "20, 31, 5"),
    table("broken JSON", "table.json:5:9", ["not JSON"], "[3, \"ReLu\"", "[3 \"ReLu\""),
]

PLATFORMS = [
    platform("an unknown key of a link", "platform.yaml:10:30", ["'bandwith'", "did you mean 'bandwidth'"], "bandwidth: 1GB/s", "bandwith: 1GB/s"),
    platform("a missing unit", "platform.yaml:10:41", ["'1'", "bandwidth", "30GB/s"], "bandwidth: 1GB/s", "bandwidth: 1"),
    platform("a wrong dimension", "platform.yaml:10:41", ["'1GB'", "bandwidth", "30GB/s"], "bandwidth: 1GB/s", "bandwidth: 1GB"),
    platform("an unknown unit", "platform.yaml:6:24", ["'1Mb'", "capacity"], "1MB", "1Mb"),
    platform("a quantity that is not a number", "platform.yaml:10:41", ["'nanGB/s'", "bandwidth"], "1GB/s", "nanGB/s"),
    platform("an infinite bandwidth", "platform.yaml:10:41", ["'infGB/s'", "bandwidth"], "1GB/s", "infGB/s"),
    platform("negative", "platform.yaml:10:41", ["'-1GB/s'", "bandwidth"], "1GB/s", "-1GB/s"),
    platform("zero bandwidth", "platform.yaml:10:41", ["'0GB/s'", "bandwidth"], "1GB/s", "0GB/s"),
    platform("a number that is too large", "platform.yaml:10:41", ["'1e999GB/s'", "bandwidth"], "1GB/s", "1e999GB/s"),
    platform("bytes that do not fit in 64 bits", "platform.yaml:6:24", ["'1e30GB'", "capacity"], "1MB", "1e30GB"),
    platform("a fraction of a byte", "platform.yaml:6:24", ["'0.5B'", "capacity"], "1MB", "0.5B"),
    platform("an efficiency above 1", "platform.yaml:7:17", ["'1.5'", "efficiency"], "memories:", "    efficiency: 1.5\nmemories:"),
    platform("a link to an unknown device", "platform.yaml:10:24", ["'gpo'", "did you mean 'gpu'"], "[host, gpu]", "[host, gpo]"),
    platform("a device without a link", "scenario.yaml:7:9", ["link", "'host'", "'gpu'"], "links:\n  host: {joins: [host, gpu], bandwidth: 1GB/s}\n", ""),
    platform("far too many devices", "platform.yaml:5:12", ["count", "1000000000", "4096"], "    rate:", "    count: 1000000000\n    rate:"),
]

PLANS = [
    plan("an unknown key of an action", "small.plan:13:23", ["'knd'", "did you mean 'kind'"], "kind=load", "knd=load"),
    plan("an unknown stream", "small.plan:13:9", ["'gpu.hots.down'"], "load on=gpu.host.down", "load on=gpu.hots.down"),
    plan("a wait for an unknown action", "small.plan:14:76", ["'lod'", "did you mean 'load'"], "waits=load", "waits=lod"),
    plan("a cycle of waits", "small.plan", ["cycle", "'run'", "'load'"], "bytes=40 allocates", "bytes=40 waits=run allocates"),
    plan("seconds that are not a number", "small.plan:14:66", ["'nan'", "number"], "seconds=0.5", "seconds=nan"),
    plan("negative seconds", "small.plan:14:66", ["'-1'", "negative"], "seconds=0.5", "seconds=-1"),
    plan("a tensor that is never released", "small.plan", ["'result'", "never releases it"], ",result@gpu\n", "\n"),
    plan("a tensor that nobody allocated", "small.plan", ["'run'", "'input'", "gpu"], " allocates=input@gpu", ""),
    plan("a capacity without a unit", "small.plan:4:19", ["'100'", "unit is missing", "24GB"], "capacity=100B", "capacity=100"),
    plan("too many iterations", "small.plan:3:", ["99999999999999999999"], "iterations 3", "iterations 99999999999999999999"),
    plan("a plan that does not fit into the memory", "", ["gpu", "100 B", "input"], "bytes=40", "bytes=101", code=4),
    plan("a plan whose run blocks for ever", "", ["gpu", "result", "waits"], "capacity=100B", "capacity=50B", code=4),
]

FIT = [
    platform("a model that does not fit under any choice", "", ["gpu", "weight ", "300 B"], "1MB", "300B", code=4),
    given("more micro-batches in flight than fit", "", ["gpu", "the greatest number of micro-batches in flight that fits: "], "policy.in_flight=100",
          "fates={strategy: keep_all}", "workload.batches_per_step=100", "platform.devices.gpu.memory.capacity=2kB", code=4),
    given("a layer that is too large for any stage", "", ["'full'", "gpu"], "stages={cut: by_memory}",
          "platform.devices.gpu.memory.capacity=300B", code=4),
]

OUTPUTS = [
    given("a trace in a folder that does not exist", "", ["none", "No such file"], "-o", "none/t.h5", code=5),
    given("a trace whose path is a folder", "", ["folder.yaml", "directory"], "-o", "folder.yaml", code=5),
    given("a trace whose path is a device", "", ["/dev/null", "not a regular file"], "-o", "/dev/null", code=5),
    given("a trace whose path is an input of the run", "", ["model.yaml", "input"], "-o", "model.yaml", code=2),
]

CASES = DOCUMENTS + INCLUDES + SCENARIOS + MODELS + PLATFORMS + PLANS + FIT + OUTPUTS
