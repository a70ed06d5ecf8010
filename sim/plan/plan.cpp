#include "plan/plan.hpp"

#include <algorithm>
#include <array>

namespace sluice {

std::string_view name_of(TensorClass tensor_class) {
  static constexpr std::array<std::string_view, tensor_class_count> names = {
      "weight", "gradient", "optimizer", "activation", "workspace", "input", "output", "kv_cache"};
  return names[static_cast<std::size_t>(tensor_class)];
}

std::string_view letter_of(ActionKind kind) {
  static constexpr std::array<std::string_view, action_kind_count> letters = {
      "F", "B", "I", "W", "R", "LOAD", "SAVE", "SEND", "RECV", "ALL_REDUCE", "UPDATE"};
  return letters[static_cast<std::size_t>(kind)];
}

std::string_view name_of(ActionKind kind) {
  static constexpr std::array<std::string_view, action_kind_count> names = {
      "forward", "backward", "backward_input", "backward_weight", "recompute", "load",
      "save",    "send",     "receive",        "all_reduce",      "update"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Section section) {
  static constexpr std::array<std::string_view, 3> names = {"prologue", "body", "epilogue"};
  return names[static_cast<std::size_t>(section)];
}

std::int64_t Plan::executions_of(std::uint32_t action) const {
  if (section_of(action) != Section::body) return 1;
  const std::int64_t shift = actions[action].ahead;
  return std::max<std::int64_t>(0, iterations - std::abs(shift));
}

}  // namespace sluice
