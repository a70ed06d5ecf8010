// One KEY=VALUE of the command line, taken apart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct Record;

struct Override {
  std::vector<std::string> path;
  Value value;  ///< its source is the whole "KEY=VALUE"
};

/// What is known of a document's mappings at the top.
struct Layout {
  /// Those that an override may begin (`stages.cut=per_layer` where there is no `stages`).
  std::vector<std::string> may_be_absent = {};
  /// Those that a word alone stands for, with the key that it is the value of: {policy, name} reads
  /// `policy: resident` as `policy: {name: resident}`.
  std::vector<std::pair<std::string, std::string>> words = {};
};

/// As its record has it: optional mappings, and `word_for`.
Layout layout_of(const Record& record);

/// Writes out what is said by a word alone.
void expand_words(Value& document, const Layout& layout);

/// Throws UsageError when `text` is not KEY=VALUE, InputError when VALUE is not YAML.
Override parse_override(const std::string& text);

/// Throws InputError where the path leads nowhere.
void apply_override(Value& document, const Override& override, const Layout& layout = {});

}  // namespace sluice
