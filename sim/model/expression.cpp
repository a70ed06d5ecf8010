#include "model/expression.hpp"

#include <charconv>
#include <limits>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

class Evaluator {
 public:
  Evaluator(std::string_view text, const Parameters& parameters)
      : text_(text), parameters_(parameters) {}

  std::int64_t run() {
    const std::int64_t value = sum();
    if (peek() != '\0')
      fail("'" + std::string(text_.substr(at_)) + "' follows a complete expression");
    return value;
  }

 private:
  static constexpr int deepest = 64;

  [[noreturn]] void fail(const std::string& reason) const {
    throw InputError("'" + std::string(text_.substr(0, 80)) + "': " + reason +
                     ", expected an integer or an expression like \"$size * 2\"");
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::int64_t sum() {
    std::int64_t value = product();
    for (char op = peek(); op == '+' || op == '-'; op = peek()) {
      ++at_;
      const std::int64_t right = product();
      const bool overflow = op == '+' ? __builtin_add_overflow(value, right, &value)
                                      : __builtin_sub_overflow(value, right, &value);
      if (overflow) fail("the value does not fit in 64 bits");
    }
    return value;
  }

  std::int64_t product() {
    std::int64_t value = factor();
    for (char op = peek(); op == '*' || op == '/'; op = peek()) {
      ++at_;
      const std::int64_t right = factor();
      if (op == '*') {
        if (__builtin_mul_overflow(value, right, &value)) fail("the value does not fit in 64 bits");
        continue;
      }
      if (right == 0) fail("division by zero");
      if (right == -1 && value == std::numeric_limits<std::int64_t>::min())
        fail("the value does not fit in 64 bits");
      if (value % right != 0)
        fail(std::to_string(value) + " / " + std::to_string(right) + " is not a whole number");
      value /= right;
    }
    return value;
  }

  std::int64_t factor() {
    const char next = peek();
    if (next == '(') return parenthesis();
    if (next == '$') return parameter();
    if (!is_digit(next))
      fail(next == '\0' ? "it ends too early"
                        : std::string("a '") + next + "' is not allowed here");
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc()) fail("the value does not fit in 64 bits");
    at_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }

  std::int64_t parenthesis() {
    if (++depth_ > deepest) fail("too many parentheses");
    ++at_;
    const std::int64_t value = sum();
    if (peek() != ')') fail("a ')' is missing");
    ++at_;
    --depth_;
    return value;
  }

  std::int64_t parameter() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    const auto found = parameters_.find(name);
    if (found != parameters_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, value] : parameters_) known.push_back(key);
    throw InputError("'" + std::string(text_.substr(0, 80)) + "': unknown parameter '" + name +
                     "'" + did_you_mean(name, known) +
                     "; the model has: " + (known.empty() ? "none" : join(known)));
  }

  std::string_view text_;
  const Parameters& parameters_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view text, const Parameters& parameters) {
  return Evaluator(text, parameters).run();
}

}  // namespace sluice
