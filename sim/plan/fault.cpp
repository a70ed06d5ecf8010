#include "plan/fault.hpp"

#include <algorithm>
#include <sstream>

#include "document/value.hpp"

namespace sluice {

void plan_fault(const Plan& plan, std::uint32_t action, const std::string& message) {
  if (!plan.source) throw InputError("plan: " + message);
  if (action >= plan.line_begins.size())
    throw InputError(Position{plan.source->name, 0, 0, {}}, message);
  const std::string& text = plan.source->text;
  const auto begin = text.begin() + static_cast<std::ptrdiff_t>(plan.line_begins[action]);
  const auto line = 1 + static_cast<int>(std::count(text.begin(), begin, '\n'));
  const auto word = std::find_if(begin, text.end(), [](char c) { return c != ' ' && c != '\t'; });
  throw InputError(position_in(*plan.source, line, 1 + static_cast<int>(word - begin)), message);
}

namespace {

/// Throws an error at a line that begins with this word. `before` is the number of earlier lines that begin with the
/// word.
[[noreturn]] void line_fault(const Plan& plan, const std::string& first_word, std::int64_t before,
                             const std::string& message) {
  if (!plan.source) throw InputError("plan: " + message);
  std::istringstream text(plan.source->text);
  std::string line, word;
  for (int number = 1; std::getline(text, line); ++number) {
    std::istringstream words(line);
    if (words >> word && word == first_word && before-- == 0)
      throw InputError(
          position_in(*plan.source, number, 1 + static_cast<int>(line.find(first_word))), message);
  }
  throw InputError(Position{plan.source->name, 0, 0, {}}, message);
}

}  // namespace

/// A plan's text has one line per tensor, in the order of the tensors' numbers.
void tensor_fault(const Plan& plan, std::uint32_t tensor, const std::string& message) {
  line_fault(plan, "tensor", tensor, message);
}

void header_fault(const Plan& plan, const std::string& key, const std::string& message) {
  line_fault(plan, key, 0, message);
}

}  // namespace sluice
