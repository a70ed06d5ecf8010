// Collects numbers as a text. Digests are made from this text.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// Each list of numbers begins with its length, so different lists never give equal texts.
class NumberList {
 public:
  template <class... Number>
  void add(Number... numbers) {
    (add_one(static_cast<std::int64_t>(numbers)), ...);
  }
  /// Adds the bits of the number: only equal numbers give equal texts.
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
