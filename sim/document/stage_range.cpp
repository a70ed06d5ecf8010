#include "document/stage_range.hpp"

#include <optional>

#include "base/number_in.hpp"
#include "base/suggest.hpp"
#include "document/record.hpp"

namespace sluice {

namespace {

/// Reads a number from 1 to the number of stages, and returns it counted from 0.
std::optional<std::size_t> number_of(std::string_view text, std::size_t stages) {
  const std::optional<std::size_t> number = number_in<std::size_t>(text);
  if (!number || *number < 1 || *number > stages) return {};
  return *number - 1;
}

}  // namespace

StageRange named_stages(const Value& item, const std::vector<std::string>& names) {
  const std::string text = item.is_scalar() ? item.text() : "";
  for (std::size_t s = 0; s < names.size(); ++s)
    if (names[s] == text) return {s, s};
  const std::size_t dots = text.find("..");
  const auto first = number_of(text.substr(0, dots), names.size());
  const auto last =
      dots == std::string::npos ? first : number_of(text.substr(dots + 2), names.size());
  if (first && last && *first <= *last) return {*first, *last};
  fail_at(item, "'" + text + "' is not a stage" + did_you_mean(text, names) +
                    "; expected a number from 1 to " + std::to_string(names.size()) +
                    ", a range such as 1..2, or one of the names: " + join(names));
}

}  // namespace sluice
