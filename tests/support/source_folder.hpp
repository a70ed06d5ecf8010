// Where the sources are. Only one file of the tests is compiled with this path, so that a compiler cache serves the
// other files in every folder that holds a copy of the sources.
#pragma once

#include <string>

namespace sluice::test {

/// Returns the absolute path of the folder that holds the top-level CMakeLists.txt, without a slash at its end.
const std::string& source_folder();

}  // namespace sluice::test
