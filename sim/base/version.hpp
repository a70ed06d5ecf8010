// Says which version of Sluice this is, and which folder holds its models, platforms and scenarios.
// The definitions are in a file that the build generates (cmake/version.cmake).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

std::string_view program_version();  ///< "0.1.0"
/// Returns the commit of the build, with "-dirty" if files were changed since; "unknown" outside git.
std::string_view git_sha();
/// Returns the SHA-256, as 64 hexadecimal digits, of the libraries that were linked into this program and its engine on
/// SimGrid. The program, that engine, the Python module and its helper of one build all have the same digest. A build
/// of other code has another digest.
std::string_view library_digest();
/// Returns the folder that holds models/, platforms/ and scenarios/: $SLUICE_ROOT, or without it the source root.
std::string data_root();
/// Sets the folder that replaces the source root, for an installation elsewhere.
void set_data_root(const std::string& root);

}  // namespace sluice
