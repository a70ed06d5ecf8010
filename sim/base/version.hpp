// Which Sluice this is, and which folder holds its models, platforms and scenarios. The definitions
// are in a file that the build generates (cmake/version.cmake).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

std::string_view program_version();  ///< "0.1.0"
/// The commit it was built from, with "-dirty" for uncommitted changes; "unknown" outside git.
std::string_view git_sha();
/// sha256, as 64 hexadecimal digits, of the libraries from which this program and its engine on
/// SimGrid are linked. The program, that engine, the Python module and its helper have the same
/// digest; other code has another one.
std::string_view library_digest();
/// The folder that holds models/, platforms/ and scenarios/: $SLUICE_ROOT, else the source root.
std::string data_root();
/// Sets the folder that replaces the source root, for an installation elsewhere.
void set_data_root(const std::string& root);

}  // namespace sluice
