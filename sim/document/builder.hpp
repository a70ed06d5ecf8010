// The YAML reader and the JSON reader share this builder. The readers send events with positions. The builder makes a
// Value from the events. It finds errors such as duplicate keys, deep nesting, and numbers out of range. So both
// readers report these errors in the same words.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "document/value.hpp"

namespace sluice {

/// Line and column, both counted from 1.
struct Place {
  int line = 1, column = 1;
};

/// Builds a Value from events.
class Builder {
 public:
  static constexpr std::size_t deepest = 64;

  explicit Builder(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  /// Sets the key to which the next scalar or container belongs. Throws InputError if the mapping already has this key.
  void key(Place place, std::string key);
  void scalar(Place place, Value value);
  void begin(Place place, Value container);
  void end();

  bool in_map() const { return !open_.empty() && open_.back().value.is_map(); }
  bool has_key() const { return !open_.empty() && open_.back().has_key; }
  bool done() const { return done_; }
  Value take() { return std::move(root_); }

  [[noreturn]] void fail(Place place, const std::string& message) const;
  /// Returns a text such as " for 'batch'". If the next value has no key, returns "".
  std::string for_key() const { return has_key() ? " for '" + open_.back().key + "'" : ""; }

 private:
  struct Open {
    Value value;
    bool has_key = false;
    std::string key;
    Place key_place;
    /// The keys of the map. The set is empty until the map is too large for a linear search.
    std::unordered_set<std::string> keys;
  };
  void add(Value value);
  void refuse_nul(Place place, const std::string& text) const;

  std::shared_ptr<const Source> source_;
  std::vector<Open> open_;
  Value root_;
  bool done_ = false;
};

/// Reads a JSON number, or a YAML plain scalar that looks like a number. If the number is not finite or does not fit in
/// 64 bits, throws an error with the position.
Value number_value(const Builder& builder, Place place, std::string_view text);

/// Reads a plain scalar by the YAML core schema: null, true, false, an integer, a number, or else a
/// string.
Value plain_value(const Builder& builder, Place place, const std::string& text);

/// Reads `source.text` from byte `begin`. The text may be empty, as in an override without a value. If `allow_empty` is
/// true, the result is then null. Otherwise throws InputError.
Value read_yaml(std::shared_ptr<const Source> source, std::size_t begin, bool allow_empty);
Value read_json(std::shared_ptr<const Source> source);

/// Returns true for a mapping in braces with its first key in quotes. Such a text is probably JSON: mappings of YAML in
/// braces seldom have keys in quotes. A JSON text for which the result is false is also read correctly by the YAML
/// reader.
bool looks_like_json(std::string_view text);

/// Throws InputError if the text of `source` has control characters or is not valid UTF-8. Overlong forms and
/// surrogates are not valid.
void require_text(const Source& source);

}  // namespace sluice
