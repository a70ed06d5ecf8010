// Reads YAML and JSON documents with their includes and overrides, and writes documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/override.hpp"
#include "document/value.hpp"

namespace sluice {

/// Reads one YAML or JSON file: a regular file of at most 1 GiB. A file of another program (document/foreign.hpp)
/// becomes a Value that represents the file. Refuses empty and binary files, bad UTF-8, duplicate keys, more
/// than one YAML document in the file, tags, anchors, aliases and merge keys. Also refuses nesting deeper than 64
/// levels, integers with a leading zero, and numbers that are not finite or need more than 64 bits. Throws
/// InputError with a position, or IoError.
Value load_file(const std::string& path);
/// Parses a text in the same way as load_file parses a file. Messages call the text `name`.
Value parse_text(std::string text, std::string name);

/// Reads one file as load_file does. A document with `file:` at the top, such as `{file: base.yaml, …}`, is a variant
/// of another document, its base. For a variant, the function returns the base with the variant's other keys laid over
/// it at all levels. Instead of a path, the variant may give the name of a bundled document of `folder`.
Value load_document(const std::string& path, const std::string& folder = {});

/// Applies overrides and includes to a scenario that was read from `path`. There are three steps. The first step
/// applies the overrides that name files to include, such as `platform.file=`. The second step includes the files. The
/// third step applies all other overrides. A path in an override is relative to the folder of the scenario. If this
/// folder has no such file, the path is relative to the working folder. Files that overrides name may lie in any
/// folder, because a person typed these names.
Value resolve_with_overrides(Value document, const std::string& path,
                             const std::vector<std::string>& include_keys,
                             const std::vector<std::string>& overrides, const Layout& layout = {});

/// Checks that the value of `format` is sluice-KIND/VERSION. Throws InputError if the format is missing, names another
/// kind of document, or has another version.
void require_format(const Value& document, std::string_view kind, int version = 1);

/// Includes files in a document. `include_keys` lists keys of the document's root map. A mapping `{file: X, ...}` under
/// such a key is replaced by the content of X. The other keys of the mapping are laid over this content at all levels.
/// If an entry of `include_keys` ends with '*', such as `model*`, the mapping under this key (`model`) is not replaced.
/// The mapping keeps its other keys, and the content of X becomes the value of its key `definition`.
///
/// X is relative to the folder of `path`. After symbolic links are resolved, X must lie inside data_root() or inside
/// the root. The root is the nearest folder above `path` that holds `.sluice-root` or `.git`. If there is no such
/// folder, the root is the parent of the folder of `path`. If X is a bare name, a file X beside `path` is tried first.
/// If there is no such file, X means the bundled document of this name. Under the key `model`, bundled documents come
/// from the folder `models` in data_root(). An included document may itself have a base (see load_document). The path
/// of the base is relative to the included document. A chain of bases has at most 16 documents. A cycle of bases is an
/// error. The message of this error lists the chain. Throws InputError at the `file:` value.
void resolve_includes(Value& document, const std::string& path,
                      const std::vector<std::string>& include_keys);

/// Applies overrides such as "platform.links.host.bandwidth=64GB/s" in order. A value is parsed as YAML. The last key
/// of an override's path may be missing in the document. Then the override adds this key, and a Reader checks it later.
/// If any other key of the path is unknown, the error suggests a similar known key. An element of a list is addressed
/// by its index, counted from 0, or by its name. Throws UsageError if an override is not KEY=VALUE.
void apply_overrides(Value& document, const std::vector<std::string>& overrides);

/// Returns the document as YAML text. parse_text(to_yaml(d)) equals d.
std::string to_yaml(const Value& document);
/// Returns the same text, in which each scalar is followed by "# file:line".
std::string to_yaml_with_provenance(const Value& document);
/// Returns the document as JSON text. If `indent` is 0, the text has a single line.
std::string to_json(const Value& document, int indent = 2);

}  // namespace sluice
