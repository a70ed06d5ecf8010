// Records say what a mapping in a document may contain. One declaration serves four purposes. Reader reads a mapping by
// it, with types and defaults. Reader finds errors with it, such as unknown keys, wrong types, wrong units and values
// out of range. `sluice list` and --help print it. It becomes a JSON Schema, by which editors check and complete
// documents.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"
#include "document/value.hpp"

namespace sluice {

enum class Type {
  boolean,
  integer,
  number,    ///< a plain number or a percentage
  quantity,  ///< a string with a unit of `dimension`
  text,
  choice,  ///< one of `choices`
  /// A mapping that the caller of Reader reads; `record` describes it if its keys are fixed.
  mapping,
  list,
  any
};

/// One key of a record.
struct Field {
  std::string name;
  Type type = Type::text;
  std::string summary;  ///< one sentence, with the unit if the value has one
  /// The default as a document would write it. A key without a default is required, unless it is
  /// `optional`.
  std::optional<std::string> default_text = {};
  bool optional = false;  ///< whether the key may be absent although it has no default
  Dimension dimension = Dimension::none;
  /// For a `choice`, the allowed values. For other types, words that are allowed in addition to values of the type,
  /// such as auto and unlimited.
  std::vector<std::string> choices = {};
  double minimum = 0;
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_excluded = false;
  /// The record of what the field holds: of the mapping itself, of each element of a list, of each value of a mapping
  /// with free keys (map_of), or of what a name stands for (any).
  const struct Record* record = nullptr;
  /// Whether it is a mapping with free keys, in which each value is a mapping with this `record`.
  bool map_of = false;
  /// Only for a mapping at the top of a document that may be written as one word: the key whose value the word is. For
  /// example, `policy: resident` means `policy: {name: resident}`.
  std::string word_for = {};
};

/// A mapping with known keys.
struct Record {
  std::string name;     ///< what messages call it: "link", "policy streamed"
  std::string summary;  ///< one sentence
  std::vector<Field> fields = {};
  /// Whether further keys are allowed, which the caller of Reader reads (such as the parameters in scenario.model).
  bool open = false;
};

/// Returns the record of what a field holds: of the mapping itself, of each element, or of each value. Throws
/// InternalError if the field has none.
const Record& record_of(const Record& parent, std::string_view field);

/// Reads one map against its record. The constructor checks all that the record declares. The map must have all
/// required keys and no unknown keys, and each value must have its type, unit and range. Throws InputError at the
/// position of the wrong key or value.
class Reader {
 public:
  /// Messages call the map `word`, such as "link 'host'". If `word` is empty, they call it by the name of the record.
  Reader(const Value& map, const Record& record, std::string word = {});

  /// Returns whether the key is written in the document; a default does not count.
  bool has(std::string_view name) const;
  /// `name` must be a field of the record. For an optional field that may be absent, call has()
  /// first.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  double quantity(std::string_view name) const;     ///< in SI units
  std::int64_t bytes(std::string_view name) const;  ///< whole bytes
  /// A text, a choice, or any scalar that is written as a word.
  std::string text(std::string_view name) const;
  bool is_word(std::string_view name, std::string_view word) const;  ///< "auto", "unlimited"
  const Value* value(std::string_view name) const;                   ///< nullptr when absent
  const Value& map() const { return map_; }

  /// Throws InputError at the value of `name`, or at the map if the key is absent.
  [[noreturn]] void fail(std::string_view name, const std::string& message) const;

 private:
  const Field& field(std::string_view name) const;
  std::string scalar(std::string_view name) const;  ///< the written text, or the default
  void check_keys() const;
  const Value& map_;
  const Record& record_;
  std::string word_;
};

/// Throws InputError at the position of `where`.
[[noreturn]] void fail_at(const Value& where, const std::string& message);

/// Runs `action`. If it throws an InputError without a position, the error gets the position of `where`.
template <class Action>
decltype(auto) located(const Value& where, Action&& action);

}  // namespace sluice

#include "document/located.ipp"
