// Tests the inputs that the fuzzer has kept for each of its targets. A target is code that reads a document. It must
// read or refuse its inputs without a crash.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "fuzz/targets.hpp"
#include "support/source_folder.hpp"

using namespace sluice;
namespace fs = std::filesystem;

namespace {

const fs::path root = test::source_folder();

std::vector<fs::path> corpus_of(const std::string& target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root / "tests/fuzz/corpus" / target))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("inputs that fuzzing found are read or refused", "[fuzz]") {
  for (const test::FuzzTarget& target : test::fuzz_targets()) {
    const std::vector<fs::path> files = corpus_of(target.name);
    CHECK(files.size() >= 5);
    for (const fs::path& file : files) {
      INFO(file);
      std::ifstream in(file, std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      try {
        target.read(text.str(), (root / target.path).string());
      } catch (const Error& error) {
        CHECK(error.exit_code() != 70);
      } catch (const std::exception& error) {
        FAIL_CHECK(error.what());
      }
    }
  }
}
