// Splits an override KEY=VALUE of the command line into a path and a value. Applies overrides to documents.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct Record;

struct Override {
  std::vector<std::string> path;
  Value value;  ///< the value; its source text is the whole "KEY=VALUE"
};

/// Says which mappings at the top of a document may be absent, and which may be shortened to one word.
struct Layout {
  /// Mappings that an override may create. For example, `stages.cut=per_layer` may create `stages`.
  std::vector<std::string> may_be_absent = {};
  /// Mappings that may be shortened to one word. Each pair holds the key of a mapping, and a key inside this mapping.
  /// The word gives the value of this inner key. For example, the pair {policy, name} makes `policy: resident` mean
  /// `policy: {name: resident}`.
  std::vector<std::pair<std::string, std::string>> words = {};
};

/// Returns the layout that follows from the record: its optional mappings may be absent, and a field with a `word_for`
/// may be shortened.
Layout layout_of(const Record& record);

/// If the document has a word in the place of a mapping, replaces the word by the mapping that it stands for.
void expand_words(Value& document, const Layout& layout);

/// Splits KEY=VALUE at the `=`. If `text` is not KEY=VALUE, throws UsageError. If VALUE is not YAML, throws InputError.
Override parse_override(const std::string& text);

/// Sets the override's value in the document. The last key of the override's path may be new. If an earlier key is
/// absent, and `layout` does not allow the override to create it, throws InputError.
void apply_override(Value& document, const Override& override, const Layout& layout = {});

}  // namespace sluice
