// A document as a tree of values. Each value knows where it was written. A YAML document and an equal JSON document
// become equal trees.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace sluice {

class Value;
/// A text from which values were read: the text of a file or of an override. All values of this text share one Source.
struct Source {
  std::string name;  ///< the path as the user gave it, or "KEY=VALUE"
  std::string text;
};

/// A null, a boolean, an integer, a number, a string, a list, or a map. The keys of a map are unique. They stand in the
/// order in which they were inserted.
class Value {
 public:
  enum class Kind { null, boolean, integer, number, string, list, map };
  struct Entry;  ///< an entry of a map: a key, the position of the key, and a value

  Value() = default;
  static Value make_null();
  static Value make(bool value);
  static Value make(std::int64_t value);
  static Value make(double value);
  static Value make(std::string value);
  static Value make_list();
  static Value make_map();

  Kind kind() const { return kind_; }
  /// Returns the name of the kind, such as "an integer", "a mapping" or "null".
  std::string_view kind_name() const;
  bool is_map() const { return kind_ == Kind::map; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_scalar() const { return kind_ != Kind::list && kind_ != Kind::map; }

  /// Returns the scalar's text as the document has it, such as "61TFLOP/s", "3" or "true".
  const std::string& text() const { return text_; }
  bool as_bool() const { return boolean_; }  ///< only for a boolean
  /// Returns the integer. Call this function only for an integer.
  std::int64_t as_integer() const { return integer_; }
  /// Returns the number. Call this function only for an integer or a number.
  double as_number() const { return number_; }

  const std::vector<Value>& items() const { return items_; }  ///< the items of a list
  std::vector<Value>& items() { return items_; }
  const std::vector<Entry>& entries() const { return entries_; }  ///< the entries of a map
  std::vector<Entry>& entries() { return entries_; }
  /// Returns the value of this key. Returns nullptr if there is no such key, or if this object is not a map.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  /// Replaces the entry with this key. If there is no such entry, appends one.
  void set(std::string key, Value value);
  /// Sets the text of a scalar to the text in the document, such as "1e3" for 1000.
  void set_text(std::string text);

  Position position() const;
  void place(std::shared_ptr<const Source> source, int line, int column);
  int line() const { return line_; }
  const std::shared_ptr<const Source>& source() const { return source_; }

 private:
  Kind kind_ = Kind::null;
  bool boolean_ = false;
  std::int64_t integer_ = 0;
  double number_ = 0;
  std::string text_;
  std::vector<Value> items_;
  std::vector<Entry> entries_;
  std::shared_ptr<const Source> source_;
  int line_ = 0, column_ = 0;
};

struct Value::Entry {
  std::string key;
  int line = 0, column = 0;  ///< position of the key in the value's source
  Value value;

  Position position() const;  ///< the position of the key
};

/// Returns the position of `line` and `column` in `source`, with the text of the line.
Position position_in(const Source& source, int line, int column);

}  // namespace sluice
