// Reading documents: YAML or JSON by content and extension, includes, overrides, and the way back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

/// Reads one file (regular, <= 1 GiB), YAML or JSON. Refuses empty and binary files, bad UTF-8,
/// duplicate keys, second documents, tags, anchors and aliases, merge keys, nesting over 64, and
/// octal-looking integers. Throws InputError with position, or IoError.
Value load_file(const std::string& path);
/// The same for text that is at hand; `name` is for messages.
Value parse_text(std::string text, std::string name);

/// Checks `format: sluice-KIND/1` at the top and throws otherwise (missing, another kind, a newer version).
void require_format(const Value& document, std::string_view kind, int version = 1);

/// `{file: X, ...}` under the keys named in `include_keys` of the root map is replaced by the content
/// of X, over which the other keys are laid (deep). X is relative to the including file and must lie
/// inside `root` after resolving links. A key listed with a trailing '*' (model*) is not merged: the
/// content becomes the child `definition` beside the other keys. Nested includes are refused with a cycle message.
void resolve_includes(Value& document, const std::string& path,
                      const std::vector<std::string>& include_keys);

/// "platform.links.host.bandwidth=64GB/s" in order. The value is parsed as YAML. Unknown intermediate
/// paths are errors that name the nearest known key; a new leaf is allowed (its reader checks it).
/// List elements are addressed by number.
void apply_overrides(Value& document, const std::vector<std::string>& overrides);

/// The document as YAML text; `provenance` appends "# file:line" to each scalar.
std::string to_yaml(const Value& document, bool provenance);
std::string to_json(const Value& document, int indent = 2);

}  // namespace sluice
