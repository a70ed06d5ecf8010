// Writes numbers into a text, from which a digest is made.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace sluice {

/// A text of numbers, which is not meant to be read. In the text, each list of numbers begins with its length. So
/// different lists never give equal texts.
class NumberList {
 public:
  template <class... Number>
  void add(Number... numbers) {
    (add_one(static_cast<std::int64_t>(numbers)), ...);
  }
  /// Adds the bits of the number as a whole number, so that different numbers never give equal
  /// texts.
  void add(double number) { add_one(std::bit_cast<std::int64_t>(number)); }
  template <class List>
  requires requires(const List& list) { list.begin(), list.size(); }
  void add(const List& list) {
    add(list.size());
    for (const auto number : list) add(number);
  }
  const std::string& text() const { return text_; }

 private:
  /// Adds 7 bits per character, the lowest first. The highest bit of a character says whether more characters of the
  /// number follow. The sign is the lowest bit, so that numbers near 0 need a single character.
  void add_one(std::int64_t number) {
    auto bits = (static_cast<std::uint64_t>(number) << 1) ^ (number < 0 ? ~std::uint64_t{0} : 0);
    for (; bits >= 0x80; bits >>= 7) text_ += static_cast<char>((bits & 0x7f) | 0x80);
    text_ += static_cast<char>(bits);
  }
  std::string text_;
};

}  // namespace sluice
