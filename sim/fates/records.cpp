// Defines the keys that a scenario may have under `fates:`, and the text with which a report
// describes fates.
#include "fates/strategy.hpp"

namespace sluice {

bool FateRequest::takes_turns() const {
  if (chain.side_by_side > 1) return true;
  for (const ChainStage& stage : chain.stages)
    if (stage.turn.bytes > 0 || stage.turn.backward_load_s > 0 || stage.turn.backward_save_s > 0)
      return true;
  return false;
}

Record record_of(const FateStrategy& strategy) {
  Record record{
      .name = "fates " + strategy.name, .summary = strategy.summary, .fields = strategy.parameters};
  record.fields.insert(record.fields.begin(), {.name = "strategy",
                                               .type = Type::choice,
                                               .summary = "what becomes of activations",
                                               .optional = true,
                                               .choices = fate_catalog().names()});
  return record;
}

Chosen<FateStrategy> choose_fates(const Value& fates) {
  return choose(fate_catalog(), fates, "fates", "strategy", {"auto"});
}

const Chosen<FateStrategy>& kept_fates() {
  static const Chosen<FateStrategy> kept = plain_fates(*fate_catalog().entries().front());
  return kept;
}

Chosen<FateStrategy> plain_fates(const FateStrategy& strategy) {
  return {&strategy, Keys(Value::make_map(), record_of(strategy))};
}

std::vector<std::string> fates_text(const Chain& chain, const Tape& tape) {
  std::vector<int> forwards(chain.stages.size(), 0);
  std::vector<char> inner(chain.stages.size(), 0), output(chain.stages.size(), 0);
  for (const TapeOp& op : tape) {
    if (op.kind == TapeOp::Kind::forward) ++forwards[op.number];
    if (op.kind != TapeOp::Kind::save) continue;
    if (op.inner)
      inner[op.number] = 1;
    else if (op.number > 0)
      output[op.number - 1] = 1;
  }
  std::vector<std::string> texts;
  for (std::size_t s = 0; s < forwards.size(); ++s) {
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    if (inner[s] || (output[s] && chain.stages[s].inner.bytes == 0))
      add("offload");
    else if (output[s])
      add("offload the output");
    if (forwards[s] > 1)
      add("recompute" +
          (forwards[s] > 2 ? " " + std::to_string(forwards[s] - 1) + " times" : std::string()));
    texts.push_back(text.empty() ? "keep" : text);
  }
  return texts;
}

}  // namespace sluice
