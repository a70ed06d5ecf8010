// Reads one line of a plan's text as keys and values, for the reader of plans. It throws the error for a value that is
// not allowed.
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

#include "base/few.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "plan/names.hpp"
#include "plan/words.hpp"

namespace sluice {

inline constexpr std::int64_t largest_count = std::numeric_limits<std::int64_t>::max();

/// Throws InputError at the word when it is not a whole number in the range.
std::int64_t whole_number(const PlanLine& line, std::string_view key, const Word& word,
                          std::int64_t minimum, std::int64_t maximum = largest_count);

/// The keys that a line may have. The first `flags` keys have a value, the others stand alone. One list is made for all
/// lines of a kind.
class KeyList {
 public:
  static constexpr std::size_t most_keys = 24;

  constexpr explicit KeyList(std::span<const std::string_view> all,
                             std::size_t flags_from = std::numeric_limits<std::size_t>::max())
      : keys(all), flags(flags_from) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::size_t slot = first_slot(keys[i]);
      while (numbers_[slot] != nothing) slot = (slot + 1) % slots;
      numbers_[slot] = static_cast<std::uint8_t>(i);
    }
  }
  /// Returns the number of a key, or `nothing` when the list does not contain it.
  std::size_t number_of(std::string_view key) const {
    std::size_t slot = first_slot(key);
    while (numbers_[slot] != nothing && !same_name(keys[numbers_[slot]], key))
      slot = (slot + 1) % slots;
    return numbers_[slot];
  }

  static constexpr std::uint8_t nothing = 63;
  std::span<const std::string_view> keys;
  std::size_t flags;

 private:
  static constexpr std::size_t slots = 64;
  static constexpr std::size_t first_slot(std::string_view key) {
    if (key.empty()) return 0;
    return (key.size() * 7 + static_cast<unsigned char>(key.front()) * 3 +
            static_cast<unsigned char>(key.back())) %
           slots;
  }
  std::array<std::uint8_t, slots> numbers_ = [] {
    std::array<std::uint8_t, slots> empty{};
    empty.fill(nothing);
    return empty;
  }();
};

/// Reads the `key=value` words of one line. Throws InputError for unknown keys, for keys that occur
/// twice, and for values of keys that take none.
class LineKeys {
 public:
  LineKeys(const PlanLine& line, const std::vector<Word>& words, std::size_t first,
           const KeyList& allowed);

  /// Returns the value of a key, or null when the line does not have it. The key is given as its
  /// number in the list or its name.
  const Word* find(std::size_t key) const {
    return (present_ >> key & 1) != 0 ? &values_[places_[key]] : nullptr;
  }
  const Word* find(std::string_view key) const { return find(allowed_.number_of(key)); }
  const Word& get(std::size_t key) const;  ///< throws when it is missing
  const Word& get(std::string_view key) const { return get(allowed_.number_of(key)); }
  double quantity(std::size_t key, Dimension dimension, double absent) const;
  double quantity(std::string_view key, Dimension dimension, double absent) const {
    return quantity(allowed_.number_of(key), dimension, absent);
  }
  double number(std::size_t key) const;  ///< a number, whose unit the key names; absent: 0
  std::int64_t count(std::size_t key, std::int64_t absent, std::int64_t minimum = 0,
                     std::int64_t maximum = largest_count) const;
  std::int64_t count(std::string_view key, std::int64_t absent) const {
    return count(allowed_.number_of(key), absent);
  }
  std::int32_t label(std::size_t key) const;  ///< held in 32 bits; absent: -1
  /// Returns the result of parse() for the word. An InputError
  /// that parse() throws gets the position of the word.
  template <class Parse>
  auto read(const Word& word, Parse&& parse) const -> decltype(parse()) {
    try {
      return parse();
    } catch (const InputError& error) {
      line_.fail(word.column, error.what());
    }
  }

 private:
  [[noreturn]] void fail_unknown(const Word& word, std::string_view key) const;

  const PlanLine& line_;
  const KeyList& allowed_;
  Few<Word, 8> values_;                                    ///< in the order of the line
  std::array<std::uint8_t, KeyList::most_keys> places_{};  ///< per key: position in values_
  std::uint64_t present_ = 0;
};

/// Returns the number of a name; for an unknown name the error lists the known names.
std::uint32_t look_up(const PlanLine& line, const Names& names, const Word& word, const char* what);

/// Returns the value of an enumeration (with name_of) that a word names.
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
