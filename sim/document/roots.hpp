// Which files a document may name: those within its root, after links are resolved, and those that
// come with Sluice. A path that a person types may lie anywhere.
#pragma once

#include <filesystem>
#include <string>

#include "document/record.hpp"

namespace sluice {

/// The absolute path, with links resolved as far as the path exists.
std::filesystem::path true_path(const std::filesystem::path& path);

/// The nearest folder above a file that holds .git or .sluice-root, else the parent of the file's
/// folder.
std::filesystem::path root_of(const std::filesystem::path& file);

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& root);

/// The path of the file that `file` names: beside the document in which it was written, and within
/// its root. In an override, or in a value that the program made, it may also be relative to the
/// working folder, and lie anywhere. `folder` is the folder of the whole document. Throws
/// InputError.
std::string named_file(const Value& file, const std::string& folder);
/// The same, but a word alone is the name of a document that comes with Sluice, and stays as it is.
std::string named_file_or_word(const Value& file, const std::string& folder);

/// Returns read() for the file that a value names. Where the file is wrong or cannot be read, the
/// error has the position of that value. Throws InputError.
template <class Read>
decltype(auto) read_named(const Value& file, Read&& read) {
  try {
    return located(file, read);
  } catch (const IoError& error) {
    throw InputError(file.position(), error.what());
  }
}

}  // namespace sluice
