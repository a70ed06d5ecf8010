// Reads documents: YAML or JSON by content and extension, includes, overrides; and writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/override.hpp"
#include "document/value.hpp"

namespace sluice {

/// Reads one file (regular, at most 1 GiB), YAML or JSON. Refuses empty and binary files, bad
/// UTF-8, duplicate keys, second documents, tags, anchors and aliases, merge keys, nesting deeper
/// than 64, integers with a leading zero, and numbers that are not finite or do not fit. A file of
/// another program (document/foreign.hpp) becomes a Value that stands for it. Throws InputError
/// with a position, or IoError.
Value load_file(const std::string& path);
/// Reads a text in memory in the same way; messages call it `name`.
Value parse_text(std::string text, std::string name);

/// load_file. Where the document itself has a `file:` at the top (a variant of another document:
/// `{file: base.yaml, …}`), the result is the base with the other keys laid over it, deeply. A base
/// may be one of the bundled documents of `folder`, by its name.
Value load_document(const std::string& path, const std::string& folder = {});

/// All steps for a scenario that was read from `path`: first the overrides that say what is
/// included (`platform.file=`), then the includes, then the other overrides. Paths in overrides are
/// relative to the scenario, or where no such file exists to the working folder. They may lie
/// anywhere, because a person typed them.
Value resolve_with_overrides(Value document, const std::string& path,
                             const std::vector<std::string>& include_keys,
                             const std::vector<std::string>& overrides, const Layout& layout = {});

/// Checks `format: sluice-KIND/1`. Throws where it is missing, of another kind, or of a newer
/// version.
void require_format(const Value& document, std::string_view kind, int version = 1);

/// `{file: X, ...}` under the keys of the root map that `include_keys` lists is replaced by the
/// content of X, over which the other keys are laid, deeply. A key listed with a trailing '*'
/// (model*) is not merged: the content becomes the child `definition` beside the other keys. X is
/// relative to the file at `path`. With links resolved it must lie inside the root, which is the
/// nearest folder above `path` that holds `.sluice-root` or `.git`, else the parent of the folder
/// of `path`; or inside data_root(). Where X is a bare name and not a file beside `path`, it is the
/// bundled document of that name, in the folder that is called like the key with an s (models,
/// platforms). An included document may have a base of its own (see load_document), relative to
/// itself, at most 16 in a row; a cycle is an error that names the chain. Throws InputError at the
/// `file:` value.
void resolve_includes(Value& document, const std::string& path,
                      const std::vector<std::string>& include_keys);

/// Applies overrides like "platform.links.host.bandwidth=64GB/s" in order. The value is parsed as
/// YAML. An unknown intermediate path is an error that names the nearest known key; a new leaf is
/// allowed (its reader checks it). An element of a list is addressed by its index, counted from 0,
/// or by its name. Throws UsageError where an override is not KEY=VALUE.
void apply_overrides(Value& document, const std::vector<std::string>& overrides);

/// The document as YAML text; with `provenance` each scalar is followed by "# file:line".
/// parse_text(to_yaml(d)) equals d.
std::string to_yaml(const Value& document, bool provenance);
/// The document as JSON text; with `indent` 0 it is on one line.
std::string to_json(const Value& document, int indent = 2);

}  // namespace sluice
