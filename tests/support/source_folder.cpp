#include "support/source_folder.hpp"

namespace sluice::test {

const std::string& source_folder() {
  static const std::string folder = SLUICE_SOURCE_DIR;
  return folder;
}

}  // namespace sluice::test
