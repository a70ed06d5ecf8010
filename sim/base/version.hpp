// Which Sluice this is, and where its models, platforms and scenarios stand.
// Defined in a file that the build generates (cmake/version.cmake).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

std::string_view program_version();  ///< "0.1.0"
/// The commit it was built from, with "-dirty" for uncommitted changes; "unknown" outside git.
std::string_view git_sha();
/// sha256, as 64 hexadecimal digits, of the libraries that this program and its engine on SimGrid
/// are linked from: the same for the program, that engine, the Python module and its helper, and
/// another one for other code.
std::string_view library_digest();
/// The folder that holds models/, platforms/ and scenarios/: $SLUICE_ROOT, else the source root.
std::string data_root();
/// What takes the place of the source root, where the folders were installed elsewhere.
void set_data_root(const std::string& root);

}  // namespace sluice
