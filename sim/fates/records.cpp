// Defines the keys that a scenario may have under `fates:`, and the text with which a report
// describes fates.
#include <utility>

#include "document/key.hpp"
#include "fates/device_tape.hpp"
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
  record.fields.insert(
      record.fields.begin(),
      Key::choice("strategy", fate_catalog().names(), "what becomes of activations").or_absent());
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

namespace {

/// Returns for each stage a text that says which devices load its output again, if not all do that use it again.
std::vector<std::string> devices_text(const Chain& chain, const Tape& tape) {
  // For each boundary: whether the device that makes it uses it again, and whether it loads it. Then the same for any
  // other device.
  struct Again {
    bool uses[2] = {}, loads[2] = {};
  };
  std::vector<Again> again(chain.stages.size() + 1);
  std::vector<char> ran(chain.stages.size(), 0);
  const std::vector<std::uint32_t> devices = devices_of(tape, chain.devices);
  for (std::size_t at = 0; at < tape.size(); ++at) {
    const TapeOp& op = tape[at];
    const auto is_other = [&](std::size_t b) {
      return b > 0 && devices[at] != chain.device(b - 1) ? 1 : 0;
    };
    if (op.kind == TapeOp::Kind::load && !op.inner)
      again[op.number].loads[is_other(op.number)] = true;
    const bool forward = op.kind == TapeOp::Kind::forward;
    if (op.kind == TapeOp::Kind::backward || (forward && std::exchange(ran[op.number], 1)))
      each_boundary_read(chain, op, [&](std::size_t b) { again[b].uses[is_other(b)] = true; });
  }
  std::vector<std::string> texts;
  for (std::size_t b = 1; b < again.size(); ++b) {
    const auto& [uses, loads] = again[b];
    const bool own = loads[0] && !loads[1] && uses[1], other = loads[1] && !loads[0] && uses[0];
    texts.push_back(own ? " on its own device" : other ? " on other devices" : "");
  }
  return texts;
}

}  // namespace

std::vector<std::string> fates_text(const Chain& chain, const Tape& tape) {
  std::vector<int> forwards(chain.stages.size(), 0);
  std::vector<char> inner(chain.stages.size(), 0), output(chain.stages.size(), 0);
  const std::vector<std::string> where = devices_text(chain, tape);
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
    if (inner[s] && output[s] && !where[s].empty())
      add("offload, the output only" + where[s]);
    else if (inner[s])
      add("offload");
    else if (output[s] && chain.stages[s].inner.bytes == 0)
      add("offload" + where[s]);
    else if (output[s])
      add("offload the output" + where[s]);
    if (forwards[s] > 1)
      add("recompute" +
          (forwards[s] > 2 ? " " + std::to_string(forwards[s] - 1) + " times" : std::string()));
    texts.push_back(text.empty() ? "keep" : text);
  }
  return texts;
}

}  // namespace sluice
