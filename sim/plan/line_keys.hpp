// Splits a line of a plan's text into keys and values, and reads the values. Throws InputError if a value is not
// allowed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
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

/// Returns the word as a whole number. The word is the value of the key `key`. Throws InputError if the word is not a
/// whole number from `minimum` to `maximum`.
std::int64_t whole_number(const PlanLine& line, std::string_view key, const Word& word,
                          std::int64_t minimum, std::int64_t maximum = largest_count);

/// The keys that a line may have. The keys before the index `flags` have a value, as in `key=value`. The keys from this
/// index on are words without a value. All lines of one kind, such as all lines of actions, share one list.
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
      begin_keys(i);
    }
  }
  /// Returns the number of a key: its index in the list. Returns `nothing` if the list does not contain the key.
  std::size_t number_of(std::string_view key) const {
    std::size_t slot = first_slot(key);
    while (numbers_[slot] != nothing && !same_name(keys[numbers_[slot]], key))
      slot = (slot + 1) % slots;
    return numbers_[slot];
  }

  /// Returns whether the key with this number stands at the position `at` of the text, with '=' behind it.
  bool is_at(std::string_view text, std::size_t at, std::size_t number) const {
    // Near the end of the text, eight bytes cannot be read, so the answer is false. The caller then looks for the key
    // in a slower way.
    if (at + sizeof(std::uint64_t) > text.size()) return false;
    std::uint64_t bytes;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    if ((bytes & masks_[number]) != begins_[number]) return false;
    const std::string_view key = keys[number];
    return key.size() < sizeof bytes ||
           (at + key.size() < text.size() && text[at + key.size()] == '=' &&
            same_name(text.substr(at, key.size()), key));
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
  /// Appends '=' to the name of the key, and stores the first eight bytes of this text as one number, with the
  /// bytes in the order that they have in memory.
  constexpr void begin_keys(std::size_t number) {
    static_assert(std::endian::native == std::endian::little);
    const std::string_view key = keys[number];
    for (std::size_t i = 0; i <= key.size() && i < sizeof(std::uint64_t); ++i) {
      const auto byte = static_cast<unsigned char>(i < key.size() ? key[i] : '=');
      begins_[number] |= std::uint64_t{byte} << 8 * i;
      masks_[number] |= std::uint64_t{0xFF} << 8 * i;
    }
  }

  std::array<std::uint64_t, most_keys> begins_{}, masks_{};
  std::array<std::uint8_t, slots> numbers_ = [] {
    std::array<std::uint8_t, slots> empty{};
    empty.fill(nothing);
    return empty;
  }();
};

/// For each key, the key that came after it in an earlier line. Most lines of a file have their keys in the same order,
/// so this key is a good guess for the next line.
struct KeyOrder {
  /// The entry of `next` with this index is the guess for the first key of a line.
  static constexpr std::size_t first = KeyList::most_keys;
  std::array<std::uint8_t, KeyList::most_keys + 1> next{};
};

/// Reads the words of one line that are keys, mostly `key=value`. Throws InputError for four faults: an unknown key, a
/// key that occurs twice, a value of a key that takes no value, and a key that needs a value and has none.
class LineKeys {
 public:
  LineKeys(const PlanLine& line, const std::vector<Word>& words, std::size_t first,
           const KeyList& allowed);
  /// Makes an object that has no keys yet. take() then reads the keys.
  LineKeys(const PlanLine& line, const KeyList& allowed) : line_(line), allowed_(allowed) {}

  /// Reads a line in the usual form: a name without quotes, and then keys with values, each key at most once. Returns
  /// false if the line has another form, which may be a fault. Then this object must not be used any more: the caller
  /// must read the line word by word.
  bool take(Word& name, KeyOrder& order);

  /// Returns the value of a key, or null if the line does not have the key. The key is given by its number in the list,
  /// or by its name.
  const Word* find(std::size_t key) const {
    return (present_ >> key & 1) != 0 ? values() + key : nullptr;
  }
  const Word* find(std::string_view key) const { return find(allowed_.number_of(key)); }
  const Word& get(std::size_t key) const;  ///< throws InputError if the key is missing
  const Word& get(std::string_view key) const { return get(allowed_.number_of(key)); }
  double quantity(std::size_t key, Dimension dimension, double absent) const;
  double quantity(std::string_view key, Dimension dimension, double absent) const {
    return quantity(allowed_.number_of(key), dimension, absent);
  }
  /// Returns the value of a key, which must be a number of at least 0. Returns 0 if the line does not have the key.
  double number(std::size_t key) const;
  std::int64_t count(std::size_t key, std::int64_t absent, std::int64_t minimum = 0,
                     std::int64_t maximum = largest_count) const;
  std::int64_t count(std::string_view key, std::int64_t absent) const {
    return count(allowed_.number_of(key), absent);
  }
  /// Returns the value of a key, which must be a whole number that fits into 32 bits. Returns -1 if the line does not
  /// have the key.
  std::int32_t label(std::size_t key) const;
  /// Returns the result of parse(). If parse() throws InputError, the error gets the position of the word.
  template <class Parse>
  auto read(const Word& word, Parse&& parse) const -> decltype(parse()) {
    try {
      return parse();
    } catch (const InputError& error) {
      line_.fail(word.column, error.what());
    }
  }

 private:
  /// Returns the number of the key that begins at the position `at` of the line. Returns `nothing` if no known key with
  /// '=' begins there. `after` is the number of the previous key of the line.
  std::size_t key_at(std::size_t at, std::size_t after, KeyOrder& order) const;
  void put(std::size_t key, const Word& value) { new (store_ + key * sizeof(Word)) Word(value); }
  [[noreturn]] void fail_unknown(const Word& word, std::string_view key) const;

  const Word* values() const { return std::launder(reinterpret_cast<const Word*>(store_)); }

  const PlanLine& line_;
  const KeyList& allowed_;
  std::uint64_t present_ = 0;
  /// The values, indexed by key. Each line gets an object of this class. To save time, the object constructs only the
  /// values that the line has.
  alignas(Word) std::byte store_[KeyList::most_keys * sizeof(Word)];
};

/// Returns the number that `names` has for the name in `word`. Throws InputError if the name is unknown.
std::uint32_t look_up(const PlanLine& line, const Names& names, const Word& word, const char* what);

/// Returns the value of the enumeration for which name_of() gives the word. Throws InputError if no value has this
/// name.
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
