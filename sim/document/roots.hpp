// Which files a document may name: those of its root, wherever links lead, and what comes with
// Sluice. What a person types may lie anywhere.
#pragma once

#include <filesystem>
#include <string>

#include "document/record.hpp"

namespace sluice {

/// Absolute, with links resolved as far as there is something.
std::filesystem::path true_path(const std::filesystem::path& path);

/// The nearest folder above a file that holds .git or .sluice-root, else the one above its own.
std::filesystem::path root_of(const std::filesystem::path& file);

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& root);

/// The file that `file` names: beside the document that it was written in, within its root; of an
/// override, or of a value that was made, also from the working folder, anywhere. `folder` is that
/// of the whole document. Throws InputError.
std::string named_file(const Value& file, const std::string& folder);
/// The same where a word alone is the name of a document that comes with Sluice: it stays as it is.
std::string named_file_or_word(const Value& file, const std::string& folder);

/// What `read` makes of the file that a value names. What is wrong with the file, and that it
/// cannot be read, is told at that value. Throws InputError.
template <class Read>
decltype(auto) read_named(const Value& file, Read&& read) {
  try {
    return located(file, read);
  } catch (const IoError& error) {
    throw InputError(file.position(), error.what());
  }
}

}  // namespace sluice
