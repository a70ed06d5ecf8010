// The command `sluice new` writes an example of a document. The example works without changes.
#include "base/part_file.hpp"
#include "command/output.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

constexpr const char* scenario_text =
    R"(# A scenario: a model, on a platform, under a policy. `sluice run FILE` answers its question.
# Every key is described in scenarios/FORMAT.md; keys that are left out have defaults.
format: sluice-scenario/1
question: How fast does GPT-2 train on an A100, and what fills its memory?

# One of `sluice list models`, or a file of your own (`sluice new model mine.yaml` writes one).
# A model with parameters (`sluice list models -v`) is a mapping: model: {file: gpt2, tokens: 512}
model: gpt2

# One of `sluice list platforms`, or a file of your own. To change a figure of a platform, write:
# platform: {file: a100_pcie, links: {host: {bandwidth: 50GB/s}}}
platform: a100_pcie

workload:
  mode: training     # or inference
  dtype: bfloat16    # float32, tfloat32, float16, bfloat16, int8 …, for which the device has a rate
  batch: 8           # samples between two updates of the weights
  micro_batch: 4     # samples computed together; a divisor of the batch
  optimizer: adam    # sgd, momentum, adam or none
  steps: 3

# The policy decides what stays on the device and what moves: `sluice list policies -v`.
policy: resident

# What becomes of activations until the backward pass needs them: `sluice list fates`. Without this
# key, the fastest strategy that fits is chosen.
fates: keep_all
)";

constexpr const char* model_text =
    R"(# A model, which is a list of layers. `sluice model FILE` prints its counts, and
# `sluice fits FILE` says what fits. `sluice list layers -v` lists every layer type; models/FORMAT.md
# describes all keys.
format: sluice-model/1
name: my_network
summary: Two blocks of convolutions and a classifier.
source: Where its sizes are from.

# Numbers that a user of the model may change: model: {file: FILE, channels: 64}
parameters:
  channels: {default: 32, summary: channels of the first block}
  classes: {default: 10, summary: number of classes}

layers:
  - {type: input, name: image, shape: [32, 32, 3]}        # height, width, channels of one sample
  - {type: conv2d, name: conv1, channels: $channels, kernel: 3, padding: same}
  - {type: relu, name: relu1}
  - {type: max_pool, name: pool1, kernel: 2}
  - {type: conv2d, name: conv2, channels: $channels * 2, kernel: 3, padding: same}
  - {type: relu, name: relu2}
  - {type: max_pool, name: pool2, kernel: 2}
  # A layer reads the layer before it, unless `inputs: [relu1, relu2]` names other layers. `repeat: 3`
  # with `layers:` repeats a list of layers.
  - {type: dense, name: full, features: 128}
  - {type: relu, name: relu3}
  - {type: dense, name: classes, features: $classes}
)";

constexpr const char* platform_text =
    R"(# A platform: devices, memories, and the links between them. Use it as `platform: FILE` in a
# scenario, or as `sluice fits gpt2 --platform FILE`. platforms/FORMAT.md describes every key.
format: sluice-platform/1
name: my_card
summary: One accelerator with 24 GB on a link to the host.
source: Where the figures are from; say beside each figure what was assumed.

devices:
  gpu:
    # count: 2                      # gpu0 and gpu1
    rate:                           # FLOP/s for each element type, 1 MAC = 2 FLOP
      float32: 35TFLOP/s            # assumed
      float16: 140TFLOP/s           # assumed
      bfloat16: 140TFLOP/s          # assumed
    memory:
      capacity: 24GB                # assumed
      bandwidth: 900GB/s            # assumed
    # The shares of both rates that whole networks reach (cost: roofline).
    roofline: {compute: 0.6, memory: 0.7}   # assumed
    launch_overhead: 5us            # assumed: the time to start an operator
    idle: 20W                       # assumed
    busy: 300W                      # assumed

memories:
  host: {capacity: 128GB}           # or unlimited

links:
  host:
    joins: [host, gpu]
    bandwidth: 25GB/s               # assumed: PCIe 4.0 x16, as measured; a link of 64 Gbit/s has 8GB/s
    setup: 10us                     # assumed: the time to start a copy
    duplex: full                    # both directions at once, or half
)";

struct Template {
  std::string kind;
  const char* text;
  /// After the file is written, a message proposes this command as the next step. In the command, FILE stands for the
  /// written file.
  std::string next;
};

const std::vector<Template>& templates() {
  static const std::vector<Template> list = {
      {"scenario", scenario_text, "sluice run FILE"},
      {"model", model_text, "sluice model FILE"},
      {"platform", platform_text, "sluice fits gpt2 --platform FILE --dtype float16"},
  };
  return list;
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const Template& one : templates()) names.push_back(one.kind);
  return names;
}

const Template& template_of(const std::string& kind) {
  for (const Template& one : templates())
    if (one.kind == kind) return one;
  throw UsageError("'" + kind + "' is not a kind of document that 'sluice new' writes" +
                   did_you_mean(kind, kinds()) + "; known: " + join(kinds()) +
                   "\nSee 'sluice help new'.");
}

int run_new(const Arguments& arguments) {
  const Template& chosen = template_of(arguments.positionals.front());
  if (arguments.positionals.size() == 1) {
    if (arguments.has("force"))
      throw UsageError("'--force' needs a FILE; name the file to write, or remove '--force'");
    print(chosen.text);
    return 0;
  }
  const std::string& file = arguments.positionals.back();
  refuse_to_replace(arguments, file, Output::document);
  write_file(file, chosen.text);
  std::string next = chosen.next;
  next.replace(next.find("FILE"), 4, shell_word(file));
  message("sluice: wrote '" + file + "'; next: " + next);
  return 0;
}

}  // namespace

extern const Command new_command = {
    .name = "new",
    .summary = "Writes a commented scenario, model or platform to start from.",
    .usage = {"scenario|model|platform [FILE] [--force]"},
    .least = 1,
    .most = 2,
    .positionals = "scenario, model or platform, and optionally the FILE to write",
    .names = kinds,
    .options = {force_option(Output::document)},
    .details =
        "Without FILE, the command prints the document. The document works as it is. Edit the values that you want to "
        "change.\n",
    .examples = {{"sluice new scenario mine.yaml", "then: sluice run mine.yaml"},
                 {"sluice new platform card.yaml",
                  "then: sluice run mine.yaml platform=card.yaml"}},
    .run = run_new,
};

}  // namespace sluice
