// The version of Sluice, and the folder that holds its models, platforms and scenarios. cmake/version.cmake generates
// the file that defines these functions.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

std::string_view program_version();  ///< such as "0.1.0"
/// Returns the commit of the build. If files differed from this commit when Sluice was built, the result ends with
/// "-dirty". Without a git repository, returns "unknown".
std::string_view git_sha();
/// Returns a SHA-256 as 64 hexadecimal digits. The digest covers the code that computes results: Sluice's library,
/// and SimGrid's engine if it is a separate archive. All programs and the Python module of one build return the same
/// digest. A build of different code returns a different digest.
std::string_view library_digest();
/// Returns the folder that holds models/, platforms/ and scenarios/. The folder is $SLUICE_ROOT, or the source root if
/// this variable is not set.
std::string data_root();
/// Sets the folder that data_root() returns instead of the source root. An installed Sluice calls this function,
/// because it has no source root.
void set_data_root(const std::string& root);

}  // namespace sluice
