// One line of a plan's text as keys and names: what the reader of plans asks for, with its
// complaints.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "plan/names.hpp"
#include "plan/words.hpp"

namespace sluice {

inline constexpr std::int64_t largest_count = std::numeric_limits<std::int64_t>::max();

/// Throws InputError at the word when it is not a whole number in the range.
std::int64_t whole_number(const PlanLine& line, std::string_view key, const Word& word,
                          std::int64_t minimum, std::int64_t maximum = largest_count);

/// The keys that a line may have, with a value; behind these, from number `flags` on, words that
/// stand alone.
struct KeyList {
  std::span<const std::string_view> keys;
  std::size_t flags = std::numeric_limits<std::size_t>::max();
};

/// `key=value` words of one line. Throws InputError at unknown keys, keys that stand twice, and
/// values where there should be none.
class LineKeys {
 public:
  static constexpr std::size_t most_keys = 24;

  LineKeys(const PlanLine& line, const std::vector<Word>& words, std::size_t first,
           const KeyList& allowed);

  /// By the number of the key in the list, or by its name; null: it is not there.
  const Word* find(std::size_t key) const {
    return (present_ >> key & 1) != 0 ? &values_[key] : nullptr;
  }
  const Word* find(std::string_view key) const { return find(number_of(key)); }
  const Word& get(std::string_view key) const;  ///< throws when it is missing
  double quantity(std::string_view key, Dimension dimension, double absent) const;
  double number(std::string_view key) const;  ///< a plain number: the key names its unit; absent: 0
  std::int64_t count(std::string_view key, std::int64_t absent, std::int64_t minimum = 0,
                     std::int64_t maximum = largest_count) const;
  std::int32_t label(std::string_view key) const;  ///< held in 32 bits; absent: -1
  /// What `parse` makes of the word; an InputError that leaves it gets the word's place.
  template <class Parse>
  auto read(const Word& word, Parse&& parse) const -> decltype(parse()) {
    try {
      return parse();
    } catch (const InputError& error) {
      line_.fail(word.column, error.what());
    }
  }

 private:
  std::size_t number_of(std::string_view key) const;  ///< 63: not in the list
  [[noreturn]] void fail_unknown(const Word& word, std::string_view key) const;

  const PlanLine& line_;
  const KeyList& allowed_;
  std::array<Word, most_keys> values_;
  std::uint64_t present_ = 0;
};

/// The number of a name; an unknown one is an error with those that are known.
std::uint32_t look_up(const PlanLine& line, const Names& names, const Word& word, const char* what);

/// The value of an enumeration (with name_of) that a word stands for.
template <class Enum>
Enum enum_of(const PlanLine& line, const Word& word, int count, const char* what) {
  std::vector<std::string> known;
  for (int i = 0; i < count; ++i)
    if (name_of(static_cast<Enum>(i)) == word.text) return static_cast<Enum>(i);
  for (int i = 0; i < count; ++i) known.emplace_back(name_of(static_cast<Enum>(i)));
  line.fail(word.column, std::string("unknown ") + what + " '" + std::string(word.text) +
                             "'; known: " + join(known));
}

}  // namespace sluice
