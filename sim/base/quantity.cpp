#include "base/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include "base/count_error.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

__extension__ typedef __int128 Int128;

/// A unit equals multiplier x 10^exponent SI units. The two numbers are stored separately: "5us" must become the double
/// that is nearest to 5e-6. The product 5 * 1e-6 is a different double.
struct Unit {
  std::string name;
  int exponent = 0;
  std::int64_t multiplier = 1;
};

struct Prefix {
  const char* name;
  int exponent;
};
constexpr std::array<Prefix, 6> decimal_prefixes = {
    {{"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
constexpr std::array<const char*, 6> binary_prefixes = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

std::vector<Unit> prefixed(const std::string& base, bool binary) {
  std::vector<Unit> units = {{base, 0, 1}};
  for (const Prefix& prefix : decimal_prefixes)
    units.push_back({prefix.name + base, prefix.exponent, 1});
  std::int64_t multiplier = 1;
  if (binary)
    for (const char* prefix : binary_prefixes)
      units.push_back({prefix + base, 0, multiplier *= 1024});
  return units;
}

std::vector<Unit> make_units(Dimension dimension) {
  switch (dimension) {
    case Dimension::none:
      return {{"", 0, 1}, {"%", -2, 1}};
    case Dimension::bytes:
      return prefixed("B", /*binary=*/true);
    case Dimension::bytes_per_s:
      return prefixed("B/s", /*binary=*/true);
    case Dimension::flop:
      return prefixed("FLOP", /*binary=*/false);
    case Dimension::flop_per_s:
      return prefixed("FLOP/s", /*binary=*/false);
    case Dimension::seconds:
      return {{"ns", -9, 1}, {"us", -6, 1},  {"µs", -6, 1}, {"ms", -3, 1},
              {"s", 0, 1},   {"min", 0, 60}, {"h", 0, 3600}};
    case Dimension::watts:
      return {{"mW", -3, 1}, {"W", 0, 1}, {"kW", 3, 1}};
    case Dimension::joules:
      return {{"mJ", -3, 1}, {"J", 0, 1}, {"kJ", 3, 1}};
  }
  throw InternalError("unknown dimension");
}

const std::vector<Unit>& units(Dimension dimension) {
  static const std::array<std::vector<Unit>, 8> table = [] {
    std::array<std::vector<Unit>, 8> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = make_units(static_cast<Dimension>(i));
    return all;
  }();
  return table[static_cast<std::size_t>(dimension)];
}

/// A decimal number with exactly the value that was written: digits x 10^exponent.
struct Decimal {
  std::string digits;  ///< without leading and trailing zeros; empty if the number is zero
  long exponent = 0;
};

/// Reads the text of a quantity. The object keeps the text, the dimension and the key, because its error messages show
/// them.
class Parser {
 public:
  Parser(std::string_view text, Dimension dimension, std::string_view key)
      : text_(text), dimension_(dimension), key_(key) {
    read_number();
    read_unit();
  }

  double value() const {
    const std::string scientific = (number_.digits.empty() ? "0" : number_.digits) + "e" +
                                   std::to_string(number_.exponent + unit_->exponent);
    double result = 0;
    const auto [end, error] =
        std::from_chars(scientific.data(), scientific.data() + scientific.size(), result);
    if (error != std::errc() || !std::isfinite(result)) fail("the number is out of range");
    result *= static_cast<double>(unit_->multiplier);
    if (!std::isfinite(result)) fail("the number is out of range");
    const bool rate = dimension_ == Dimension::flop_per_s || dimension_ == Dimension::bytes_per_s;
    if (rate && result > 0 && result < least_rate)
      fail("the rate is less than 0.001 per second, the lowest rate that is allowed");
    return result;
  }

  std::int64_t whole() const {
    constexpr Int128 limit = std::numeric_limits<std::int64_t>::max();
    if (number_.digits.empty()) return 0;
    const long exponent = number_.exponent + unit_->exponent;
    // A number of 19 digits times the greatest multiplier, 2^60, fits into 127 bits. A number with more digits is
    // refused. Such a number is too large if it is whole. If it has a fraction, the message says that it is not a whole
    // number of bytes. For a few numbers this is not true: 2^-28 GiB has 20 digits, and is 4 B.
    if (number_.digits.size() > 19) fail(exponent >= 0 ? too_large : not_whole);
    Int128 amount = 0;
    for (const char digit : number_.digits) amount = amount * 10 + (digit - '0');
    amount *= unit_->multiplier;
    for (long e = exponent; e < 0; ++e) {
      if (amount % 10 != 0) fail(not_whole);
      amount /= 10;
    }
    for (long e = 0; e < exponent; ++e) {
      if (amount > limit) fail(too_large);
      amount *= 10;
    }
    if (amount > limit) fail(too_large);
    return static_cast<std::int64_t>(amount);
  }

 private:
  /// The lowest rate above zero that is allowed. With lower rates, seconds or sums of seconds would become infinite.
  static constexpr double least_rate = 1e-3;
  static constexpr const char* not_whole = "the amount is not a whole number of bytes";
  static constexpr const char* too_large = "the amount is more than 2^63 - 1 bytes";

  [[noreturn]] void fail(const std::string& reason) const {
    std::string message = "'" + std::string(text_.substr(0, 80)) + "'";
    if (!key_.empty()) message += " for '" + std::string(key_) + "'";
    throw InputError(message + ": " + reason + ", expected " + std::string(words_of(dimension_)) +
                     " like \"" + std::string(example_of(dimension_)) + "\"");
  }

  bool is_digit(std::size_t i) const {
    return i < text_.size() && text_[i] >= '0' && text_[i] <= '9';
  }

  void read_number() {
    if (text_.empty()) fail("it is empty");
    if (text_[0] == '-') fail("the number may not be negative");
    bool any = false;
    for (; is_digit(at_); ++at_, any = true) number_.digits += text_[at_];
    if (at_ < text_.size() && text_[at_] == '.')
      for (++at_; is_digit(at_); ++at_, any = true) {
        number_.digits += text_[at_];
        --number_.exponent;
      }
    if (!any) fail("the text does not start with a number");
    number_.digits.erase(0, number_.digits.find_first_not_of('0'));
    while (!number_.digits.empty() && number_.digits.back() == '0') {
      number_.digits.pop_back();
      ++number_.exponent;
    }
    read_exponent();
  }

  // Reads an exponent, if there is one. "5e3B" has an exponent. The E of "5EB" is the prefix of a unit.
  void read_exponent() {
    if (at_ >= text_.size() || (text_[at_] != 'e' && text_[at_] != 'E')) return;
    const bool sign = at_ + 1 < text_.size() && (text_[at_ + 1] == '-' || text_[at_ + 1] == '+');
    std::size_t i = at_ + (sign ? 2 : 1);
    if (!is_digit(i)) return;
    long exponent = 0;
    for (; is_digit(i); ++i)
      if (exponent < 100000) exponent = exponent * 10 + (text_[i] - '0');
    number_.exponent += text_[at_ + 1] == '-' ? -exponent : exponent;
    if (number_.digits.empty()) number_.exponent = 0;
    if (std::abs(number_.exponent) > 400) fail("the number is out of range");
    at_ = i;
  }

  void read_unit() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const std::string_view name = text_.substr(at_);
    for (const Unit& unit : units(dimension_))
      if (unit.name == name) unit_ = &unit;
    if (unit_) return;
    if (name.empty()) fail("the unit is missing");
    if (const Unit* bytes = unit_of_bits(name))
      fail("the unit counts bits, and a byte has eight bits: " + number_text() +
           std::string(bytes->name, 0, bytes->name.find('B')) + "bit" +
           (dimension_ == Dimension::bytes_per_s ? "/s" : "") + " is " + an_eighth(*bytes));
    std::string hint = did_you_mean(name, units_of(dimension_));
    // For an incomplete unit such as "G", the message suggests a unit that begins with it, such as "GB".
    for (const Unit& unit : units(dimension_))
      if (hint.empty() && unit.name.compare(0, name.size(), name) == 0)
        hint = " (did you mean '" + unit.name + "'?)";
    fail("unknown unit '" + std::string(name.substr(0, 40)) + "'" + hint);
  }

  /// Replaces bits by bytes in the name of a unit: for Gbps, Gbit/s and Gb/s, returns the unit GB/s. Returns null if
  /// `name` is not a unit of bits.
  const Unit* unit_of_bits(std::string_view name) const {
    if (dimension_ != Dimension::bytes && dimension_ != Dimension::bytes_per_s) return nullptr;
    const bool rate = dimension_ == Dimension::bytes_per_s;
    for (const Unit& unit : units(dimension_)) {
      const std::string prefix = unit.name.substr(0, unit.name.find('B'));
      for (const char* bit : {"bit", "bits", "b"}) {
        if (!rate && name == prefix + bit) return &unit;
        if (rate && (name == prefix + bit + "/s" || name == prefix + bit + "ps")) return &unit;
      }
    }
    return nullptr;
  }

  std::string number_text() const {
    std::size_t end = text_.find_first_not_of("0123456789.eE+-");
    return std::string(text_.substr(0, end)) + " ";
  }

  /// Converts the amount from bits to bytes, and returns the text of the bytes. For example, 64 Gbit/s become "8GB/s".
  std::string an_eighth(const Unit& unit) const {
    const std::string digits =
        (number_.digits.empty() ? "0" : number_.digits) + "e" + std::to_string(number_.exponent);
    double amount = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), amount);
    return exact(amount / 8) + unit.name;
  }

  std::string_view text_;
  Dimension dimension_;
  std::string_view key_;
  std::size_t at_ = 0;
  Decimal number_;
  const Unit* unit_ = nullptr;
};

// Returns the text of a number, with four significant digits. A number from 1e3 to 1e9 is rounded to a whole number and
// written without an exponent: 10800 instead of 1.08e+04.
std::string digits4(double value) {
  std::array<char, 64> buffer{};
  char* const last = buffer.data() + buffer.size();
  const bool plain = std::abs(value) >= 1e3 && std::abs(value) < 1e9;
  const auto [end, error] =
      plain ? std::to_chars(buffer.data(), last, value, std::chars_format::fixed, 0)
            : std::to_chars(buffer.data(), last, value, std::chars_format::general, 4);
  return std::string(buffer.data(), end);
}

}  // namespace

double parse_quantity(std::string_view text, Dimension dimension, std::string_view key) {
  const Parser parser(text, dimension, key);
  if (dimension == Dimension::bytes) return static_cast<double>(parser.whole());
  return parser.value();
}

std::int64_t parse_bytes(std::string_view text, std::string_view key) {
  return Parser(text, Dimension::bytes, key).whole();
}

std::string format_quantity(double value, Dimension dimension) {
  if (dimension == Dimension::none || !std::isfinite(value)) return digits4(value);
  // Chooses the largest decimal unit in which the rounded number is at least 1. So 999.96 MB, which would be rounded to
  // 1000 MB, becomes 1 GB.
  const Unit* best = nullptr;
  for (const Unit& unit : units(dimension)) {
    if (unit.multiplier != 1 || unit.name == "µs") continue;
    const double amount = value * std::pow(10.0, -unit.exponent);
    const bool is_base = unit.exponent == 0;
    if (!best || std::abs(amount) >= 0.99995) best = &unit;
    if (value == 0 && is_base) best = &unit;
  }
  return digits4(value * std::pow(10.0, -best->exponent)) + " " + best->name;
}

std::string format_bytes(std::int64_t bytes) {
  return format_quantity(static_cast<double>(bytes), Dimension::bytes);
}

std::string exact(double value) {
  std::array<char, 64> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end);
}

std::string_view example_of(Dimension dimension) {
  constexpr std::array<std::string_view, 8> examples = {
      "0.7\" or \"70%", "24GB", "5us", "2GFLOP", "61TFLOP/s", "30GB/s", "250W", "3J"};
  return examples[static_cast<std::size_t>(dimension)];
}

std::string_view words_of(Dimension dimension) {
  constexpr std::array<std::string_view, 8> words = {
      "a number or a percentage", "bytes",   "a time",   "a number of FLOP", "FLOP per second",
      "bytes per second",         "a power", "an energy"};
  return words[static_cast<std::size_t>(dimension)];
}

std::vector<std::string> units_of(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : units(dimension))
    if (!unit.name.empty()) names.push_back(unit.name);
  return names;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t sum = 0;
  if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum))
    throw CountError(std::string(what) + ": " + std::to_string(a) + " + " + std::to_string(b) +
                     " is not a count below 2^63");
  return sum;
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t product = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product))
    throw CountError(std::string(what) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                     " is not a count below 2^63");
  return product;
}

}  // namespace sluice
