// Tests the limits of sizes. A file may have up to 400 lines, a file of a policy up to 120 lines, and a function of
// sim/ up to 60 lines. Functions that only list entries may be longer. A folder of sim/ may have up to 20 .cpp files of
// its own. Folders with one file per entry of a catalog may have more files.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>
#include "support/source_folder.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_lines_of_a_file = 400;
constexpr std::size_t most_files_of_a_folder = 20;
constexpr std::size_t most_lines_of_a_function = 60;

constexpr std::size_t most_lines_of_a_policy = 120;

/// The folders that have one file per entry of a catalog.
const std::set<std::string> folders_of_entries = {"sim/model/layers", "sim/metrics/kinds",
                                                  "sim/policy",       "sim/stage",
                                                  "sim/cost",         "sim/workload/optimizers"};

bool is_source(const fs::path& path) {
  return path.extension() == ".cpp" || path.extension() == ".hpp" || path.extension() == ".ipp";
}

std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Calls `visit(path, lines)` for each source file below `folder`. The path is relative to the root of the repository.
template <class Visit>
void each_source(const std::string& folder, const Visit& visit) {
  const fs::path root = sluice::test::source_folder();
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    std::ifstream in(entry.path());
    visit(fs::relative(entry.path(), root), lines_of(in));
  }
}

struct Function {
  std::size_t line, lines;
  std::string text;  ///< its first line
};

/// Returns the index of the line on which the statement of line `i` begins.
std::size_t begin_of(const std::vector<std::string>& lines, std::size_t i) {
  const auto ends = [](const std::string& line) {
    const std::size_t indent = line.find_first_not_of(' ');
    return indent == std::string::npos || line[indent] == '/' || line[indent] == '#' ||
           std::string(";{}:").find(line.back()) != std::string::npos ||
           line.find("  //") != std::string::npos;
  };
  while (i > 0 && !ends(lines[i - 1])) --i;
  return i;
}

/// Returns the functions of a file. Because clang-format has laid out the code, a block ends with the first line that
/// begins with a closing brace and has the same indentation as the block's first line. Blocks of types, of namespaces
/// and of initialiser lists are left out.
std::vector<Function> blocks_of(const std::vector<std::string>& lines) {
  static const std::regex other(
      R"(^\s*(inline )?(namespace|class|struct|enum|union|extern "C"|//|\{).*|.*= \{$)");
  std::vector<Function> blocks;
  // For each indentation, the index of the line that opens the current block of this indentation.
  std::map<std::size_t, std::size_t> open;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) continue;
    if (line[indent] == '}') {
      const auto opened = open.find(indent);
      if (opened != open.end())
        blocks.push_back({opened->second + 1, i - opened->second + 1, lines[opened->second]});
      open.erase(open.lower_bound(indent), open.end());
    }
    if (line.back() != '{' || std::regex_match(line, other)) continue;
    const std::size_t begin = begin_of(lines, i);
    if (!std::regex_match(lines[begin], other))
      open.emplace(lines[begin].find_first_not_of(' '), begin);
  }
  return blocks;
}

/// Returns whether a function only lists entries. Such a function returns a record or a catalog.
bool is_list(const Function& function) {
  return function.text.find("record()") != std::string::npos ||
         function.text.find("_catalog") != std::string::npos;
}

}  // namespace

TEST_CASE("no file is longer than 400 lines", "[sizes]") {
  std::size_t files = 0;
  for (const char* folder : {"sim", "tests"})
    each_source(folder, [&](const fs::path& path, const std::vector<std::string>& lines) {
      ++files;
      if (lines.size() > most_lines_of_a_file)
        FAIL_CHECK(path.string() << " has " << lines.size() << " lines");
    });
  CHECK(files > 300);  // with fewer files, the test has not read all
}

TEST_CASE("no file of a policy is longer than 120 lines", "[sizes]") {
  std::size_t files = 0;
  each_source("sim/policy", [&](const fs::path& path, const std::vector<std::string>& lines) {
    if (path.parent_path() != "sim/policy" || path.extension() != ".cpp") return;
    ++files;
    if (lines.size() > most_lines_of_a_policy)
      FAIL_CHECK(
          path.string() << " has " << lines.size()
                        << " lines; move code that other policies could use to sim/planning");
  });
  CHECK(files > 5);  // with fewer files, the test has not read all
}

TEST_CASE("no folder of sim/ has more than 20 .cpp files of its own", "[sizes]") {
  std::map<std::string, std::size_t> counts;
  each_source("sim", [&](const fs::path& path, const std::vector<std::string>&) {
    counts[path.parent_path().string()] += path.extension() == ".cpp" ? 1 : 0;
  });
  CHECK(counts.size() > 20);
  for (const auto& [folder, count] : counts)
    if (count > most_files_of_a_folder && folders_of_entries.count(folder) == 0)
      FAIL_CHECK(folder << " has " << count << " .cpp files of its own");
  for (const std::string& folder : folders_of_entries) {
    INFO(folder);
    CHECK(counts.count(folder) == 1);
  }
}

TEST_CASE("no function of sim/ is longer than 60 lines, except lists of entries", "[sizes]") {
  std::size_t blocks = 0, longest = 0;
  each_source("sim", [&](const fs::path& path, const std::vector<std::string>& lines) {
    for (const Function& function : blocks_of(lines)) {
      ++blocks;
      if (is_list(function)) continue;
      longest = std::max(longest, function.lines);
      if (function.lines > most_lines_of_a_function)
        FAIL_CHECK(path.string() << ":" << function.line << " has " << function.lines
                                 << " lines: " << function.text);
    }
  });
  CHECK(blocks > 3000);
  CHECK(longest > 30);  // with fewer lines, the functions were not found
}

TEST_CASE("the size of a function is the number of its lines", "[sizes]") {
  std::istringstream text(
      "namespace a {\n"
      "struct B {\n"
      "  int c() const {\n"
      "    if (d) {\n"
      "      return 1;\n"
      "    }\n"
      "    return 2;\n"
      "  }\n"
      "};\n"
      "const Record record = {\n"
      "    .name = 1,\n"
      "};\n"
      "void e(int f,\n"
      "       int g) {\n"
      "  h();\n"
      "}\n"
      "}  // namespace a\n");
  const std::vector<Function> blocks = blocks_of(lines_of(text));
  REQUIRE(blocks.size() == 3);
  CHECK((blocks[0].line == 4 && blocks[0].lines == 3));
  CHECK((blocks[1].line == 3 && blocks[1].lines == 6));
  CHECK((blocks[2].line == 13 && blocks[2].lines == 4));
  CHECK(is_list({1, 90, "const Record& workload_record() {"}));
  CHECK_FALSE(is_list({1, 90, "void run() {"}));
}
