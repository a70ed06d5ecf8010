// Reading documents: YAML or JSON by content and extension, includes, overrides, and the way back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/override.hpp"
#include "document/value.hpp"

namespace sluice {

/// Reads one file (regular, <= 1 GiB), YAML or JSON. Refuses empty and binary files, bad UTF-8,
/// duplicate keys, second documents, tags, anchors and aliases, merge keys, nesting over 64,
/// integers with a leading zero, and numbers that are not finite or do not fit.
/// A file of another program (document/foreign.hpp) gives a Value that stands for it.
/// Throws InputError with position, or IoError.
Value load_file(const std::string& path);
/// The same for text that is at hand; `name` is for messages.
Value parse_text(std::string text, std::string name);

/// load_file, and where the document has a `file:` of its own at the top (a variant of another
/// document: `{file: base.yaml, …}`), the base with the other keys laid over it, deeply. A base may
/// be one of the bundled documents of `folder`, by its name.
Value load_document(const std::string& path, const std::string& folder = {});

/// The whole way of a scenario that was read from `path`: overrides of what is included
/// (`platform.file=`), includes, the other overrides. Paths in overrides are relative to the
/// scenario, or where nothing is there to the working folder, and may lie anywhere: a person typed
/// them.
Value resolve_with_overrides(Value document, const std::string& path,
                             const std::vector<std::string>& include_keys,
                             const std::vector<std::string>& overrides, const Layout& layout = {});

/// Checks `format: sluice-KIND/1` and throws otherwise (missing, another kind, a newer version).
void require_format(const Value& document, std::string_view kind, int version = 1);

/// `{file: X, ...}` under the keys of the root map named in `include_keys` is replaced by the
/// content of X, over which the other keys are laid, deeply. A key listed with a trailing '*'
/// (model*) is not merged: the content becomes the child `definition` beside the other keys. X is
/// relative to the file at `path` and must lie, links resolved, inside the root: the nearest folder
/// above `path` that holds `.sluice-root` or `.git`, else the parent of the folder of `path`; or
/// inside data_root(). Where X is a bare name and no file beside `path`, it is the bundled document
/// of that name, in the folder of the key with an s (models, platforms). An
/// included document may have a base itself (see load_document), relative to itself, at most 16 in
/// a row; a cycle is an error that names the chain. Throws InputError at the `file:` value.
void resolve_includes(Value& document, const std::string& path,
                      const std::vector<std::string>& include_keys);

/// "platform.links.host.bandwidth=64GB/s" in order. The value is parsed as YAML. Unknown
/// intermediate paths are errors that name the nearest known key; a new leaf is allowed (its reader
/// checks it). An element of a list has its place, from 0, or its name. UsageError when one is not
/// KEY=VALUE.
void apply_overrides(Value& document, const std::vector<std::string>& overrides);

/// The document as YAML text; `provenance` appends "# file:line" to each scalar.
/// parse_text(to_yaml(d)) equals d.
std::string to_yaml(const Value& document, bool provenance);
/// The document as JSON text; `indent` 0: on one line.
std::string to_json(const Value& document, int indent = 2);

}  // namespace sluice
