// Collects numbers into a text or into a digest. Two lists of numbers are compared by their texts or digests.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace sluice {

/// Takes numbers and lists of numbers. `Collector` is the class that is derived from this one. Its function add_one()
/// takes a single number. Each list of numbers begins with its length.
template <class Collector>
class Numbers {
 public:
  template <class... Number>
  void add(Number... numbers) {
    (one(static_cast<std::int64_t>(numbers)), ...);
  }
  /// Adds the bits of the number as a whole number, so that different numbers stay different.
  void add(double number) { one(std::bit_cast<std::int64_t>(number)); }
  template <class List>
  requires requires(const List& list) { list.begin(), list.size(); }
  void add(const List& list) {
    add(list.size());
    for (const auto number : list) add(number);
  }

 private:
  void one(std::int64_t number) { static_cast<Collector*>(this)->add_one(number); }
};

/// A text of numbers, which is not meant to be read. Different lists never give equal texts.
class NumberList : public Numbers<NumberList> {
 public:
  /// Adds 7 bits per character, the lowest first. The highest bit of a character says whether more characters of the
  /// number follow. The sign is the lowest bit, so that numbers near 0 need a single character.
  void add_one(std::int64_t number) {
    auto bits = (static_cast<std::uint64_t>(number) << 1) ^ (number < 0 ? ~std::uint64_t{0} : 0);
    for (; bits >= 0x80; bits >>= 7) text_ += static_cast<char>((bits & 0x7f) | 0x80);
    text_ += static_cast<char>(bits);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A digest of numbers that takes much less time than the text. It has 128 bits, so that different lists practically
/// never have equal digests. A number changes each of the two halves in a way that can be reversed. So two lists that
/// differ in one number have different digests.
class NumberDigest : public Numbers<NumberDigest> {
 public:
  void add_one(std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    // The two factors are odd and otherwise arbitrary.
    first_ = (first_ ^ bits) * 0x9e3779b97f4a7c15;
    first_ ^= first_ >> 29;
    second_ = (second_ + bits) * 0xd6e8feb86659fd93;
    second_ ^= second_ >> 31;
  }
  std::string text() const { return std::to_string(first_) + "." + std::to_string(second_); }

 private:
  std::uint64_t first_ = 0, second_ = 0;
};

}  // namespace sluice
