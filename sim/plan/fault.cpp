#include "plan/fault.hpp"

#include <algorithm>
#include <sstream>

#include "base/count_error.hpp"
#include "document/value.hpp"

namespace sluice {

namespace {

InputError action_error(const Plan& plan, std::uint32_t action, const std::string& message) {
  if (!plan.source) return InputError("plan: " + message);
  if (action >= plan.line_begins.size())
    return InputError(Position{plan.source->name, 0, 0, {}}, message);
  const std::string& text = plan.source->text;
  const auto begin = text.begin() + static_cast<std::ptrdiff_t>(plan.line_begins[action]);
  const auto line = 1 + static_cast<int>(std::count(text.begin(), begin, '\n'));
  const auto word = std::find_if(begin, text.end(), [](char c) { return c != ' ' && c != '\t'; });
  return InputError(position_in(*plan.source, line, 1 + static_cast<int>(word - begin)), message);
}

/// Returns an error at a line of the plan's text. The line has the first word `first_word`, and `before` lines with
/// this first word come before it.
InputError line_error(const Plan& plan, const std::string& first_word, std::int64_t before,
                      const std::string& message) {
  if (!plan.source) return InputError("plan: " + message);
  std::istringstream text(plan.source->text);
  std::string line, word;
  for (int number = 1; std::getline(text, line); ++number) {
    std::istringstream words(line);
    if (words >> word && word == first_word && before-- == 0)
      return InputError(
          position_in(*plan.source, number, 1 + static_cast<int>(line.find(first_word))), message);
  }
  return InputError(Position{plan.source->name, 0, 0, {}}, message);
}

}  // namespace

void plan_fault(const Plan& plan, std::uint32_t action, const std::string& message) {
  throw action_error(plan, action, message);
}

void plan_count_fault(const Plan& plan, std::uint32_t action, const std::string& message) {
  throw CountError(action_error(plan, action, message));
}

void tensor_count_fault(const Plan& plan, std::uint32_t tensor, const std::string& message) {
  // In a plan's text, each tensor has a line, and these lines are in the order of the tensors' numbers.
  throw CountError(line_error(plan, "tensor", tensor, message));
}

void header_fault(const Plan& plan, const std::string& key, const std::string& message) {
  throw line_error(plan, key, 0, message);
}

}  // namespace sluice
