#include "plan/plan.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace sluice {

std::string_view name_of(TensorClass tensor_class) {
  static constexpr std::array<std::string_view, tensor_class_count> names = {
      "weight", "gradient", "optimizer", "activation", "workspace", "input", "output", "kv_cache"};
  return names[static_cast<std::size_t>(tensor_class)];
}

std::string_view name_of(WorkPart part) {
  static constexpr std::array<std::string_view, work_part_count> names = {"whole", "selective"};
  return names[static_cast<std::size_t>(part)];
}

std::string name_of(const Action& action) {
  if (!action.name.empty()) return action.name;
  std::string name;
  if (action.stage >= 0) name += std::to_string(action.stage);
  name += letter_of(action.kind);
  if (action.micro_batch >= 0) name += std::to_string(action.micro_batch);
  return name;
}

namespace {

/// Removes a number from the front of `text` and returns it. Returns -1 when there is no number. Returns nothing for a
/// number that name_of() would not write, such as 007 or one that is too large.
std::optional<std::int32_t> take_number(std::string_view& text) {
  std::size_t digits = 0;
  std::int64_t number = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    number = 10 * number + (text[digits] - '0');
    if (number > std::numeric_limits<std::int32_t>::max()) return {};
  }
  if (digits == 0) return -1;
  if (digits > 1 && text.front() == '0') return {};
  text.remove_prefix(digits);
  return static_cast<std::int32_t>(number);
}

}  // namespace

std::optional<FormulaName> formula_of(std::string_view name) {
  const auto stage = take_number(name);
  if (!stage) return {};
  std::size_t letters = 0;
  while (letters < name.size() && (name[letters] < '0' || name[letters] > '9')) ++letters;
  const auto kind = kind_with_letter(name.substr(0, letters));
  if (!kind) return {};
  name.remove_prefix(letters);
  const auto micro_batch = take_number(name);
  if (!micro_batch || !name.empty()) return {};
  return FormulaName{*kind, *stage, *micro_batch};
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
