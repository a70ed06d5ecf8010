// Finds the files that a document names. After symbolic links are resolved, such a file must lie inside the document's
// root (see root_of), or among the files that come with Sluice. A path that a person types on the command line may lie
// in any folder.
#pragma once

#include <filesystem>
#include <string>

#include "document/record.hpp"

namespace sluice {

/// Returns the absolute path. In the part of the path that exists, symbolic links are resolved.
std::filesystem::path true_path(const std::filesystem::path& path);

/// Returns the root of a document: the nearest folder above `file` that holds .git or .sluice-root. If there is no such
/// folder, returns the parent of the file's folder.
std::filesystem::path root_of(const std::filesystem::path& file);

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& root);

/// Returns the path of the file that `file` names. The name is relative to the folder of the document in which `file`
/// is written. The named file must lie inside the root of this document or among the files that come with Sluice.
/// Otherwise throws InputError. If an override or the program gives the name, the file may lie in any folder. The name
/// is then relative to `folder`, which is the folder of the whole document. If that folder does not have the file, the
/// name is relative to the working folder.
std::string named_file(const Value& file, const std::string& folder);
/// Like named_file, but returns a bare word unchanged, because a bare word is the name of a bundled document.
std::string named_file_or_word(const Value& file, const std::string& folder);

/// Calls `read`, which reads the file that `file` names, and returns the result of `read`. If the file is wrong or
/// cannot be read, throws InputError with the position of `file`.
template <class Read>
decltype(auto) read_named(const Value& file, Read&& read) {
  try {
    return located(file, read);
  } catch (const IoError& error) {
    throw InputError(file.position(), error.what());
  }
}

}  // namespace sluice
