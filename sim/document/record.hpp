// Records: what a mapping in a document may contain. One declaration serves reading (typed, with
// defaults), errors (unknown key, wrong type, wrong unit, out of range), `sluice list` and help,
// and the JSON Schema for editors.
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
  choice,   ///< one of `choices`
  mapping,  ///< read further by its owner (`record` describes it, where it is fixed)
  list,
  any
};

/// One key of a record.
struct Field {
  std::string name;
  Type type = Type::text;
  std::string summary;  ///< one sentence, with the unit where there is one
  /// As it would be written. None, and not `optional`: the key is required.
  std::optional<std::string> default_text = {};
  bool optional = false;  ///< may be absent without a default
  Dimension dimension = Dimension::none;
  /// For `choice`; for the others: words allowed besides (auto, unlimited).
  std::vector<std::string> choices = {};
  double minimum = 0;
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_excluded = false;
  /// Of a mapping, of each element (list) or value (map_of); or of what may be names instead (any).
  const struct Record* record = nullptr;
  bool map_of = false;  ///< a mapping with free keys whose values are `record`
  /// Of a mapping at the top of a document: the key that a word alone gives (`policy: resident` is
  /// `policy: {name: resident}`).
  std::string word_for = {};
};

/// A mapping with known keys.
struct Record {
  std::string name;     ///< the word for messages: "link", "policy streamed"
  std::string summary;  ///< one sentence
  std::vector<Field> fields = {};
  bool open = false;  ///< other keys are left to the owner (scenario.model's parameters)
};

/// The record of a field: of the mapping, of each element or of each value. Throws InternalError
/// where there is none.
const Record& record_of(const Record& parent, std::string_view field);

/// Reads one map against its record. The constructor checks everything that a record can tell:
/// it is a map, no unknown keys, required keys present, each value of its type, unit and range.
/// Throws InputError with the position of the offending key or value.
class Reader {
 public:
  /// `word` stands for the map in messages ("link 'host'"); the record's name otherwise.
  Reader(const Value& map, const Record& record, std::string word = {});

  bool has(std::string_view name) const;  ///< written (not defaulted)
  /// Absent optional fields: ask has() first. `name` must be a field of the record.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  double quantity(std::string_view name) const;     ///< in SI units
  std::int64_t bytes(std::string_view name) const;  ///< whole bytes
  std::string text(std::string_view name) const;    ///< text, choice, or the word of any scalar
  bool is_word(std::string_view name, std::string_view word) const;  ///< "auto", "unlimited"
  const Value* value(std::string_view name) const;                   ///< nullptr when absent
  const Value& map() const { return map_; }

  /// Throws InputError at the value of `name` (or at the map when absent).
  [[noreturn]] void fail(std::string_view name, const std::string& message) const;

 private:
  const Field& field(std::string_view name) const;
  std::string scalar(std::string_view name) const;  ///< written or default text
  void check_keys() const;
  const Value& map_;
  const Record& record_;
  std::string word_;
};

/// Throws InputError at `where`.
[[noreturn]] void fail_at(const Value& where, const std::string& message);

/// Runs `action`; an InputError without a position leaves with that of `where`.
template <class Action>
decltype(auto) located(const Value& where, Action&& action);

}  // namespace sluice

#include "document/located.ipp"
