// Functions of each element, and of elements reduced to one.
#include <algorithm>

#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {

Draft as_type(const Drafting& at) {
  Draft draft;
  draft.type = at.rule.word;
  return draft;
}

Draft elementwise(const Drafting& at) {
  Draft draft;
  draft.flop = at.rule.flop;
  draft.keeps = at.rule.word;
  draft.each = true;
  return draft;
}

Draft joined(const Drafting& at) {
  const auto count = static_cast<std::int64_t>(at.node.inputs.size());
  bool all = true;
  for (std::size_t i = 0; i < at.node.inputs.size(); ++i) all = all && at.is_data(i);
  Draft draft;
  draft.flop = std::max<std::int64_t>(count - 1, 0);
  draft.keeps = at.rule.word == std::string("add") ? "nothing" : "inputs";
  if (all && count > 1) draft.type = at.rule.word;
  draft.each = true;
  return draft;
}

Draft clip(const Drafting& at) {
  const auto bound = [&](std::size_t input, const char* attribute, double absent) {
    const Numbers* numbers = at.graph.numbers(at.node, input);
    return numbers && numbers->size() == 1 ? numbers->front() : at.node.number(attribute, absent);
  };
  Draft draft;
  draft.flop = 2;
  draft.each = true;
  draft.reads = {0};
  if (bound(1, "min", -1) == 0 && bound(2, "max", -1) == 6) draft.type = "relu6";
  return draft;
}

Draft reduction(const Drafting& at) {
  Draft draft;
  draft.input_flop = at.rule.flop;
  draft.keeps = at.rule.word;
  draft.reads = {0};
  return draft;
}

Draft dropout(const Drafting& at) {
  Draft draft;
  draft.type = "dropout";
  draft.reads = {0};
  const Numbers* given = at.graph.numbers(at.node, 1);
  const double rate = given && given->size() == 1 ? given->front() : at.node.number("ratio", 0.5);
  if (rate != 0.5) draft.set("rate", Value::make(rate));
  return draft;
}

}  // namespace sluice::onnx_import
