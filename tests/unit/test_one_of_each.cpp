// Tests that only one file of sim/ starts processes, and that only one file of sim/ renames files.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>
#include "support/source_folder.hpp"

namespace {

namespace fs = std::filesystem;

/// Returns the files of sim/ in which at least one line matches the pattern. The paths are relative
/// to sim/.
std::vector<std::string> files_with(const std::string& pattern) {
  const fs::path root = fs::path(sluice::test::source_folder()) / "sim";
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);)
      if (line.find("//") == std::string::npos && std::regex_search(line, wanted)) {
        found.push_back(fs::relative(entry.path(), root).string());
        break;
      }
  }
  return found;
}

using Files = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "only one file forks processes, only one file starts programs, and only one file renames a file into place",
    "[sizes]") {
  CHECK(files_with(R"(\b(fork|vfork|popen|system)\()") == Files{"base/processes.cpp"});
  CHECK(files_with(R"(\bposix_spawnp?\()") == Files{"base/child.cpp"});
  CHECK(files_with(R"(\brename\()") == Files{"base/part_file.cpp"});
}
