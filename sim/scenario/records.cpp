#include "scenario/records.hpp"

#include "fates/strategy.hpp"
#include "planning/phased/phases.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

const Record& workload_record() {
  static const Record record = {
      .name = "workload",
      .summary = "The work to be computed: the number of samples, and the element type.",
      .fields = {
          {.name = "mode",
           .type = Type::choice,
           .summary =
               "what is computed; inference: only the forward pass; training: forward and backward passes of the "
               "micro-batches of each batch, and an update after each batch",
           .default_text = "inference",
           .choices = {"inference", "training"}},
          {.name = "dtype",
           .type = Type::choice,
           .summary = "the element type of weights and activations",
           .default_text = "float32",
           .choices = dtype_names()},
          {.name = "batch",
           .type = Type::integer,
           .summary = "the number of samples of a batch",
           .default_text = "1",
           .minimum = 1,
           .maximum = 1e12},
          {.name = "micro_batch",
           .type = Type::integer,
           .summary =
               "the number of samples that are computed together. It must divide the batch; by default the whole batch",
           .optional = true,
           .minimum = 1,
           .maximum = 1e12},
          {.name = "batches_per_step",
           .type = Type::integer,
           .summary =
               "the number of batches of a step: the batches whose results the user gets together",
           .default_text = "1",
           .minimum = 1,
           .maximum = 1e12},
          {.name = "steps",
           .type = Type::integer,
           .summary = "the number of steps",
           .default_text = "1",
           .minimum = 1,
           .maximum = 1e12},
          {.name = "optimizer",
           .type = Type::choice,
           .summary = "training: the optimizer that updates the weights after each batch",
           .default_text = "sgd",
           .choices = optimizer_catalog().names()},
          {.name = "gradient_dtype",
           .type = Type::choice,
           .summary =
               "training: the element type of the gradients of weights; by default the element type of the weights",
           .optional = true,
           .choices = dtype_names()},
          {.name = "optimizer_dtype",
           .type = Type::choice,
           .summary = "training: the element type of the optimizer's state",
           .default_text = "float32",
           .choices = dtype_names()},
          {.name = "master_weights",
           .type = Type::boolean,
           .summary = "training: whether the optimizer keeps a copy of the weights in its own "
                      "element type (mixed precision)",
           .default_text = "false"},
          {.name = "backward",
           .type = Type::number,
           .summary =
               "training: the seconds and the FLOP of a backward pass, divided by those of a forward pass; per_layer: "
               "each layer has a number of its own. The default is 2. Under the cost models `measured` and `fitted`, "
               "the default is per_layer",
           .optional = true,
           .choices = {"per_layer"},
           .maximum = 1e6},
          {.name = "split_backward",
           .type = Type::boolean,
           .summary =
               "training: whether input gradient and weight gradient are computed by two actions",
           .default_text = "false"},
      }};
  return record;
}

const Record& memory_record() {
  static const Record record = {
      .name = "memory",
      .summary =
          "How strictly memory is counted, and a limit of fast memory. By default, capacities are enforced and working "
          "sets are counted.",
      .fields = {
          {.name = "capacity",
           .type = Type::choice,
           .summary =
               "whether memory is limited; enforced: no plan exceeds a capacity; unlimited: plans may exceed a "
               "capacity, and the answer reports the overflow",
           .default_text = "enforced",
           .choices = {"enforced", "unlimited"}},
          {.name = "working_set",
           .type = Type::choice,
           .summary =
               "whether the inner tensors of a stage take memory; counted: the tensors take memory; ignored: the "
               "tensors take no memory",
           .default_text = "counted",
           .choices = {"counted", "ignored"}},
          {.name = "fast",
           .type = Type::text,
           .summary =
               "a limit of the first memory of each device, except host memory: bytes (16GB), a share of the bytes that "
               "`sluice placement` calls needed (40%), or a ratio of fast to slow memory, which together have these "
               "bytes (1:8). A memory with a smaller capacity keeps its capacity. By default there is no limit",
           .optional = true}}};
  return record;
}

namespace {

/// Returns a record that text editors use. The field `key` names an entry of the catalog. The other fields are the
/// parameters of all entries. So this record accepts parameters of other entries, too. When a scenario is read, the
/// parameters are checked again, against the record of the named entry alone.
template <class Entry>
Record any_entry(const Catalog<Entry>& catalog, const std::string& name, const std::string& key,
                 const std::string& summary) {
  Record record{.name = name, .summary = summary, .fields = {}, .open = true};
  record.fields.push_back({.name = key,
                           .type = Type::choice,
                           .summary = "a " + catalog.kind(),
                           .choices = catalog.names()});
  for (const Entry* entry : catalog.entries())
    for (Field field : entry->parameters) {
      bool known = false;
      for (const Field& other : record.fields) known = known || other.name == field.name;
      if (known) continue;
      field.optional = true;
      field.default_text.reset();
      record.fields.push_back(std::move(field));
    }
  return record;
}

}  // namespace

const Record& cost_record() {
  static const Record record = [] {
    Record made =
        any_entry(cost_catalog(), "cost", "model",
                  "The cost model, which turns FLOP and bytes into seconds, and its parameters.");
    made.fields.front().optional = true;
    made.fields.front().summary = cost_model_summary;
    return made;
  }();
  return record;
}

const Record& fates_record() {
  static const Record record = [] {
    Record made = any_entry(
        fate_catalog(), "fates", "strategy",
        "The fates of activations. In inference, these are the activations between two stages. In training, these "
        "are all activations that the backward pass needs.");
    made.fields.front().default_text = "auto";
    made.fields.front().choices.insert(made.fields.front().choices.begin(), "auto");
    return made;
  }();
  return record;
}

const Record& scenario_record() {
  static const Record policy =
      any_entry(policy_catalog(), "policy", "name",
                "The policy that makes the plan, and the parameters of the "
                "policy.");
  static const Record stages = [] {
    Record made = any_entry(
        cut_catalog(), "stages", "cut",
        "The rule by which the model is cut into stages, and the parameters of the rule.");
    made.fields.front().default_text = "auto";
    made.fields.front().choices.insert(made.fields.front().choices.begin(), "auto");
    return made;
  }();
  static const Record model = {.name = "model", .summary = "", .fields = {}, .open = true};
  static const Record record = {
      .name = "scenario",
      .summary = "A question: a model on a platform under a policy.",
      .fields = {
          {.name = "format", .type = Type::text, .summary = "sluice-scenario/1"},
          {.name = "question",
           .type = Type::text,
           .summary = "the question in words",
           .optional = true},
          {.name = "model",
           .type = Type::mapping,
           .summary =
               "the model: the name or the file of a model, or a mapping with the file, the model's parameters and "
               "`scale`",
           .record = &model_use_record(),
           .word_for = "file"},
          {.name = "platform",
           .type = Type::mapping,
           .summary =
               "the platform: the name or the file of a platform, or a mapping with the file and the figures to "
               "change",
           .record = &model,
           .word_for = "file"},
          {.name = "workload",
           .type = Type::mapping,
           .summary = workload_record().summary,
           .optional = true,
           .record = &workload_record()},
          {.name = "stages",
           .type = Type::mapping,
           .summary = stages.summary,
           .optional = true,
           .record = &stages,
           .word_for = "cut"},
          {.name = "policy",
           .type = Type::mapping,
           .summary = policy.summary,
           .record = &policy,
           .word_for = "name"},
          {.name = "phases",
           .type = Type::mapping,
           .summary = phases_record().summary,
           .optional = true,
           .record = &phases_record()},
          {.name = "fates",
           .type = Type::mapping,
           .summary = fates_record().summary,
           .optional = true,
           .record = &fates_record(),
           .word_for = "strategy"},
          {.name = "cost",
           .type = Type::mapping,
           .summary = cost_record().summary,
           .optional = true,
           .record = &cost_record(),
           .word_for = "model"},
          {.name = "memory",
           .type = Type::mapping,
           .summary = memory_record().summary,
           .optional = true,
           .record = &memory_record()},
      }};
  return record;
}

}  // namespace sluice
