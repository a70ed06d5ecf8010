// A record declares what a mapping in a document may contain. The record serves four purposes. Reader takes types and
// defaults from the record. Reader refuses unknown keys, wrong types, wrong units and values out of range. `sluice
// list` and --help print the record. schema.hpp makes a JSON Schema from the record. With this schema, editors check
// and complete documents.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/count_error.hpp"
#include "base/quantity.hpp"
#include "document/value.hpp"

namespace sluice {

enum class Type {
  boolean,
  integer,
  number,    ///< a number without a unit, or a percentage
  quantity,  ///< a string with a unit of `dimension`
  text,
  choice,  ///< one of `choices`
  /// A mapping, whose content the caller of Reader reads. If its keys are fixed, `record` describes them.
  mapping,
  list,
  any
};

/// The declaration of one key of a record.
struct Field {
  std::string name;
  Type type = Type::text;
  std::string summary;  ///< one sentence about the value, with the unit if the value has a unit
  /// The default value, as a document would write it. A key without a default is required, unless `optional` is true.
  std::optional<std::string> default_text = {};
  bool optional = false;  ///< whether the key may be absent although it has no default
  Dimension dimension = Dimension::none;
  /// For a `choice`, the allowed values. For other types, words that are allowed instead of a value of the
  /// type, such as auto and unlimited.
  std::vector<std::string> choices = {};
  double minimum = 0;
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_excluded = false;
  /// The record of the mappings in this field. The field may be one mapping, or a list of mappings. If `map_of` is
  /// true, the field is a mapping from free keys to mappings. If the type is `any`, the field may be a name or a
  /// mapping.
  const struct Record* record = nullptr;
  /// Whether the field is a mapping whose keys the author of the document chooses. Each value under these keys is a
  /// mapping with this `record`.
  bool map_of = false;
  /// If the field is a mapping at the top of a document, one word may replace the whole mapping. The word is then the
  /// value of the mapping's key `word_for`. For example, with word_for = "name", `policy: resident` means
  /// `policy: {name: resident}`.
  std::string word_for = {};
};

/// A mapping with known keys.
struct Record {
  /// The name of the mapping in messages, such as "link" or "policy streamed".
  std::string name;
  std::string summary;  ///< one sentence
  std::vector<Field> fields = {};
  /// Whether a mapping may have keys that are not in `fields`, such as the parameters of a model in scenario.model. The
  /// caller of Reader reads these keys.
  bool open = false;
};

/// Returns the record of the field of `parent` that is called `field`. Throws InternalError if the field has no record.
const Record& record_of(const Record& parent, std::string_view field);

/// Reads the values of one map, whose keys a record declares. The constructor checks the map. All required keys must be
/// present, and all keys must be known. Each value must have the declared type, unit and range. Throws InputError at
/// the position of the wrong key or value.
class Reader {
 public:
  /// Messages call the map `word`, such as "link 'host'". If `word` is empty, messages call the map by the name of the
  /// record.
  Reader(const Value& map, const Record& record, std::string word = {});

  /// Returns true if the document has the key. If the value comes from the default, returns false.
  bool has(std::string_view name) const;
  /// These functions return the value of the field `name` of the record. If the field may be absent, call has()
  /// first.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  double quantity(std::string_view name) const;     ///< in SI units
  std::int64_t bytes(std::string_view name) const;  ///< whole bytes
  /// Returns a field's value as text. The value is a text, a choice, or a word, such as "auto", that stands in the
  /// place of another scalar, such as a number.
  std::string text(std::string_view name) const;
  bool is_word(std::string_view name, std::string_view word) const;  ///< "auto", "unlimited"
  const Value* value(std::string_view name) const;                   ///< nullptr when absent
  const Value& map() const { return map_; }

  /// Throws InputError with the position of the value of `name`. If the map does not have this key,
  /// the position is that of the map.
  [[noreturn]] void fail(std::string_view name, const std::string& message) const;

 private:
  const Field& field(std::string_view name) const;
  /// Returns the text that the document gives for the field. If the document gives none, returns
  /// the default.
  std::string scalar(std::string_view name) const;
  void check_keys() const;
  const Value& map_;
  const Record& record_;
  std::string word_;
};

/// Throws InputError with this message at the position of `where`.
[[noreturn]] void fail_at(const Value& where, const std::string& message);

/// Runs `action` and returns its result. If `action` throws an InputError without a position, adds the position of
/// `where` to the error.
template <class Action>
decltype(auto) located(const Value& where, Action&& action);

}  // namespace sluice

#include "document/located.ipp"
