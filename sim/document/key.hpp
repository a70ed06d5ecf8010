// Declares the keys of a record, and finds them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/record.hpp"

namespace sluice {

/// A key of a record, which is made step by step. For example:
/// Key::integer("steps", "the number of steps").by_default("1").at_least(1)
struct Key : Field {
  /// These functions return a required key with this name, type and summary. The functions after them return the key
  /// with one more property.
  static Key boolean(std::string name, std::string summary);
  static Key integer(std::string name, std::string summary);
  static Key number(std::string name, std::string summary);
  static Key quantity(std::string name, Dimension dimension, std::string summary);
  static Key text(std::string name, std::string summary);
  static Key choice(std::string name, std::vector<std::string> choices, std::string summary);
  static Key mapping(std::string name, std::string summary);
  static Key list(std::string name, std::string summary);
  static Key any(std::string name, std::string summary);

  Key by_default(std::string text) &&;
  Key or_absent() &&;
  Key or_words(std::vector<std::string> words) &&;
  Key or_word_for(std::string key) &&;
  Key at_least(double least) &&;
  Key at_most(double most) &&;
  Key between(double least, double most) &&;  ///< both limits are allowed values
  Key more_than(double limit) &&;
  /// These two functions set `record`, which must live as long as the key. The second one also sets `map_of`.
  Key with_keys(const Record& keys) &&;
  Key with_entries(const Record& entry) &&;
};

/// Returns the field of this name, or null if there is none.
const Field* find_field(const std::vector<Field>& fields, std::string_view name);

}  // namespace sluice
