#include "scenario/records.hpp"

#include "document/key.hpp"
#include "fates/strategy.hpp"
#include "planning/phased/phases.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

const Record& workload_record() {
  static const Record record = {
      .name = "workload",
      .summary = "The work to be computed: the number of samples, and the element type.",
      .fields = {
          Key::choice(
              "mode", {"inference", "training"},
              "what is computed; inference: only the forward pass; training: forward and backward passes of the "
              "micro-batches of each batch, and an update after each batch")
              .by_default("inference"),
          Key::choice("dtype", dtype_names(), "the element type of weights and activations")
              .by_default("float32"),
          Key::integer("batch", "the number of samples of a batch")
              .by_default("1")
              .between(1, 1e12),
          Key::integer(
              "micro_batch",
              "the number of samples that are computed together. It must divide the batch; by default the whole batch")
              .or_absent()
              .between(1, 1e12),
          Key::integer(
              "batches_per_step",
              "the number of batches of a step: the batches whose results the user gets together")
              .by_default("1")
              .between(1, 1e12),
          Key::integer("steps", "the number of steps").by_default("1").between(1, 1e12),
          Key::choice("optimizer", optimizer_catalog().names(),
                      "training: the optimizer that updates the weights after each batch")
              .by_default("sgd"),
          Key::choice(
              "gradient_dtype", dtype_names(),
              "training: the element type of the gradients of weights; by default the element type of the weights")
              .or_absent(),
          Key::choice("optimizer_dtype", dtype_names(),
                      "training: the element type of the optimizer's state")
              .by_default("float32"),
          Key::boolean("master_weights",
                       "training: whether the optimizer keeps a copy of the weights in its own "
                       "element type (mixed precision)")
              .by_default("false"),
          Key::number(
              "backward",
              "training: the seconds and the FLOP of a backward pass, divided by those of a forward pass; per_layer: "
              "each layer has a number of its own. The default is 2. Under the cost models `measured` and `fitted`, "
              "the default is per_layer")
              .or_absent()
              .or_words({"per_layer"})
              .at_most(1e6),
          Key::boolean(
              "split_backward",
              "training: whether input gradient and weight gradient are computed by two actions")
              .by_default("false"),
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
          Key::choice(
              "capacity", {"enforced", "unlimited"},
              "whether memory is limited; enforced: no plan exceeds a capacity; unlimited: plans may exceed a "
              "capacity, and the answer reports the overflow")
              .by_default("enforced"),
          Key::choice(
              "working_set", {"counted", "ignored"},
              "whether the inner tensors of a stage take memory; counted: the tensors take memory; ignored: the "
              "tensors take no memory")
              .by_default("counted"),
          Key::text(
              "fast",
              "a limit of the first memory of each device, except host memory: bytes (16GB), a share of the bytes that "
              "`sluice placement` calls needed (40%), or a ratio of fast to slow memory, which together have these "
              "bytes (1:8). A memory with a smaller capacity keeps its capacity. By default there is no limit")
              .or_absent()}};
  return record;
}

namespace {

/// Returns a record that text editors use. The field `key` names an entry of the catalog. The other fields are the
/// parameters of all entries. So this record accepts parameters of other entries, too. When a scenario is read, the
/// parameters are checked again, against the record of the named entry alone.
template <class Entry>
Record any_entry(const Catalog<Entry>& catalog, const std::string& name, const std::string& key,
                 const std::string& summary) {
  Record record{.name = name, .summary = summary, .open = true};
  record.fields.push_back(Key::choice(key, catalog.names(), "a " + catalog.kind()));
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
  static const Record model = {.name = "model", .summary = "", .open = true};
  static const Record record = {
      .name = "scenario",
      .summary = "A question: a model on a platform under a policy.",
      .fields = {
          Key::text("format", "sluice-scenario/1"),
          Key::text("question", "the question in words").or_absent(),
          Key::mapping(
              "model",
              "the model: the name or the file of a model, or a mapping with the file, the model's parameters and "
              "`scale`")
              .with_keys(model_use_record())
              .or_word_for("file"),
          Key::mapping(
              "platform",
              "the platform: the name or the file of a platform, or a mapping with the file and the figures to "
              "change")
              .with_keys(model)
              .or_word_for("file"),
          Key::mapping("workload", workload_record().summary)
              .or_absent()
              .with_keys(workload_record()),
          Key::mapping("stages", stages.summary).or_absent().with_keys(stages).or_word_for("cut"),
          Key::mapping("policy", policy.summary).with_keys(policy).or_word_for("name"),
          Key::mapping("phases", phases_record().summary).or_absent().with_keys(phases_record()),
          Key::mapping("fates", fates_record().summary)
              .or_absent()
              .with_keys(fates_record())
              .or_word_for("strategy"),
          Key::mapping("cost", cost_record().summary)
              .or_absent()
              .with_keys(cost_record())
              .or_word_for("model"),
          Key::mapping("memory", memory_record().summary).or_absent().with_keys(memory_record()),
      }};
  return record;
}

}  // namespace sluice
