// Writes numbers into a text, from which a digest is made.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// A text of numbers. In the text, each list of numbers begins with its length. So different lists
/// never give equal texts.
class NumberList {
 public:
  template <class... Number>
  void add(Number... numbers) {
    (add_one(static_cast<std::int64_t>(numbers)), ...);
  }
  /// Adds the bits of the number as a whole number, so that different numbers never give equal
  /// texts.
  void add(double number) { add_one(std::bit_cast<std::int64_t>(number)); }
  template <class Number>
  void add(const std::vector<Number>& list) {
    add(list.size());
    for (const Number number : list) add(number);
  }
  const std::string& text() const { return text_; }

 private:
  void add_one(std::int64_t number) { text_ += std::to_string(number) + ' '; }
  std::string text_;
};

}  // namespace sluice
