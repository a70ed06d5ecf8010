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

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads the number that begins at `at`, and moves `at` behind it. Returns -1 if there is no digit at `at`. Returns
/// nothing if the number has leading zeros or is too large, because the names of actions have no such numbers.
inline std::optional<std::int32_t> take_number(const char*& at, const char* end) {
  if (at == end || !is_digit(*at)) return -1;
  const char* const begin = at;
  std::uint64_t number = 0;
  for (; at != end && is_digit(*at); ++at)
    number = 10 * number + static_cast<unsigned char>(*at - '0');
  constexpr auto most = std::uint64_t{std::numeric_limits<std::int32_t>::max()};
  constexpr std::ptrdiff_t most_digits = 10;  // with more digits, `number` may have overflowed
  if (at - begin > most_digits || number > most || (*begin == '0' && at - begin > 1)) return {};
  return static_cast<std::int32_t>(number);
}

}  // namespace

std::optional<FormulaName> formula_of(std::string_view name) {
  const char *at = name.data(), *const end = at + name.size();
  const auto stage = take_number(at, end);
  if (!stage) return {};
  const char* const letter = at;
  while (at != end && !is_digit(*at)) ++at;
  const auto kind = kind_with_letter({letter, static_cast<std::size_t>(at - letter)});
  if (!kind) return {};
  const auto micro_batch = take_number(at, end);
  if (!micro_batch || at != end) return {};
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
