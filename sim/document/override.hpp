// One override, KEY=VALUE of the command line, taken apart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct Record;

struct Override {
  std::vector<std::string> path;
  Value value;  ///< its source text is the whole "KEY=VALUE"
};

/// What is known of the mappings at the top of a document.
struct Layout {
  /// Mappings that an override may begin (`stages.cut=per_layer` where there is no `stages`).
  std::vector<std::string> may_be_absent = {};
  /// Mappings that may be written as a word alone, each with the key whose value that word is: with
  /// {policy, name}, `policy: resident` is read as `policy: {name: resident}`.
  std::vector<std::pair<std::string, std::string>> words = {};
};

/// The layout that the record declares: its optional mappings, and each field's `word_for`.
Layout layout_of(const Record& record);

/// Replaces each word that stands for a mapping by that mapping.
void expand_words(Value& document, const Layout& layout);

/// Throws UsageError when `text` is not KEY=VALUE, InputError when VALUE is not YAML.
Override parse_override(const std::string& text);

/// Throws InputError where the path does not lead to anything.
void apply_override(Value& document, const Override& override, const Layout& layout = {});

}  // namespace sluice
