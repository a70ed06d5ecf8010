// Finds the files that a document may name. After links are resolved, such a file must lie within the document's root,
// or come with Sluice. A path that a person types on the command line may lie in any folder.
#pragma once

#include <filesystem>
#include <string>

#include "document/record.hpp"

namespace sluice {

/// Returns the absolute path, with links resolved in the part of the path that exists.
std::filesystem::path true_path(const std::filesystem::path& path);

/// Returns the nearest folder above a file that holds .git or .sluice-root. If there is no such folder, returns the
/// parent of the file's folder.
std::filesystem::path root_of(const std::filesystem::path& file);

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& root);

/// Returns the path of the file that `file` names. The name is relative to the folder of the document with `file`. The
/// named file must lie inside the root of this document. Files named by an override or by the program may lie in any
/// folder. Their names may be relative to the working folder. `folder` is the folder of the whole document. Throws
/// InputError.
std::string named_file(const Value& file, const std::string& folder);
/// Like named_file, but returns a bare word unchanged: it is the name of a bundled document.
std::string named_file_or_word(const Value& file, const std::string& folder);

/// `read` reads the file that a value names. Returns its result. If the file is wrong or cannot be read, throws
/// InputError with the position of the value.
template <class Read>
decltype(auto) read_named(const Value& file, Read&& read) {
  try {
    return located(file, read);
  } catch (const IoError& error) {
    throw InputError(file.position(), error.what());
  }
}

}  // namespace sluice
