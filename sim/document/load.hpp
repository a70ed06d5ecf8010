// Reads YAML and JSON documents with their includes and overrides, and writes documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/override.hpp"
#include "document/value.hpp"

namespace sluice {

/// Reads one YAML or JSON file (a regular file of at most 1 GiB). A file of another program (document/foreign.hpp)
/// becomes a Value that represents the file. The function refuses empty and binary files, bad UTF-8, duplicate keys,
/// second documents, tags, anchors and aliases, and merge keys. The function also refuses nesting deeper than 64
/// levels, integers with a leading zero, and numbers that are not finite or do not fit in 64 bits. Throws InputError
/// with a position, or IoError.
Value load_file(const std::string& path);
/// Reads a text in memory as load_file reads a file. Messages call the text `name`.
Value parse_text(std::string text, std::string name);

/// Reads one file as load_file does. If the document has a `file:` at the top, the document is a variant of another
/// document, its base (`{file: base.yaml, …}`). For a variant, the result is the base with the variant's other keys
/// laid over it at all levels. Instead of a path, the variant may give the name of a bundled document of `folder`.
Value load_document(const std::string& path, const std::string& folder = {});

/// Applies overrides and includes to a scenario that was read from `path`. The function first applies the overrides
/// that say which file is included (`platform.file=`). After these overrides, the function resolves the includes. At
/// the end the function applies all other overrides. Paths in overrides are relative to the folder of the scenario or,
/// if this folder has no such file, to the working folder. Files named by overrides may lie in any folder, because a
/// person typed their names.
Value resolve_with_overrides(Value document, const std::string& path,
                             const std::vector<std::string>& include_keys,
                             const std::vector<std::string>& overrides, const Layout& layout = {});

/// Checks that the value of `format` is sluice-KIND/VERSION. Throws InputError if the format is missing, names another
/// kind of document, or has another version.
void require_format(const Value& document, std::string_view kind, int version = 1);

/// Includes files in a document. `include_keys` lists keys of the document's root map. A mapping `{file: X, ...}` under
/// such a key is replaced by the content of X, and the other keys of the mapping are laid over this content at all
/// levels. If `include_keys` lists the key with a trailing '*' (model*), nothing is merged: the mapping keeps its other
/// keys, and the content of X becomes its key `definition`.
///
/// X is relative to the folder of `path`. After links are resolved, X must lie inside data_root() or inside the root.
/// The root is the nearest folder above `path` that holds `.sluice-root` or `.git`. If there is no such folder, the
/// root is the parent of the folder of `path`. If X is a bare name and no file of that name lies beside `path`, X means
/// the bundled document of that name. The folder of bundled documents has the name of the key with an s appended
/// (models, platforms). An included document may itself have a base (see load_document). The path of this base is
/// relative to the included document. A chain of bases has at most 16 documents. A cycle of bases is an error. The
/// message of this error lists the chain. Throws InputError at the `file:` value.
void resolve_includes(Value& document, const std::string& path,
                      const std::vector<std::string>& include_keys);

/// Applies overrides like "platform.links.host.bandwidth=64GB/s" in order. A value is parsed as YAML. If a key before
/// the last key of the path is unknown, the error suggests a similar known key. The last key may be
/// new, because the reader of its mapping checks this key later. An element of a list is addressed by its index,
/// counted from 0, or by its name. Throws UsageError if an override is not KEY=VALUE.
void apply_overrides(Value& document, const std::vector<std::string>& overrides);

/// Returns the document as YAML text. parse_text(to_yaml(d)) equals d. If `provenance` is true, each scalar is followed
/// by "# file:line".
std::string to_yaml(const Value& document, bool provenance);
/// Returns the document as JSON text. If `indent` is 0, the text has a single line.
std::string to_json(const Value& document, int indent = 2);

}  // namespace sluice
