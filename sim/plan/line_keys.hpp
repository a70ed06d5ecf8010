// One line of a plan's text as keys and names: what the reader of plans asks for, with its
// complaints.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "plan/words.hpp"

namespace sluice {

inline constexpr std::int64_t largest_count = std::numeric_limits<std::int64_t>::max();

/// Throws InputError at the word when it is not a whole number in the range.
std::int64_t whole_number(const PlanLine& line, std::string_view key, const Word& word,
                          std::int64_t minimum, std::int64_t maximum = largest_count);

/// `key=value` words of one line. Throws InputError at unknown keys, keys that stand twice, and
/// values where there should be none.
class LineKeys {
 public:
  LineKeys(const PlanLine& line, const std::vector<Word>& words, std::size_t first,
           std::vector<std::string> allowed, const std::vector<std::string>& flags = {});

  const Word* find(std::string_view key) const;
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
  const PlanLine& line_;
  std::vector<std::pair<std::string, Word>> keys_;
};

/// Numbers by name: pools, links, streams, tensors, actions.
using Names = std::unordered_map<std::string, std::uint32_t>;

/// Enters a name; twice is an error.
void declare(const PlanLine& line, Names& names, const Word& word, const char* what);
/// The number of a name; an unknown one is an error with those that are known.
std::uint32_t look_up(const PlanLine& line, const Names& names, const Word& word, const char* what);

/// The value of an enumeration (with name_of) that a word stands for.
template <class Enum>
Enum enum_of(const PlanLine& line, const Word& word, int count, const char* what) {
  std::vector<std::string> known;
  for (int i = 0; i < count; ++i) {
    if (name_of(static_cast<Enum>(i)) == word.text) return static_cast<Enum>(i);
    known.emplace_back(name_of(static_cast<Enum>(i)));
  }
  line.fail(word.column, std::string("unknown ") + what + " '" + std::string(word.text) +
                             "'; known: " + join(known));
}

}  // namespace sluice
