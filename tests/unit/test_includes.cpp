// Tests every #include under sim/ against the rules in the two tables of docs/architecture.md. The files of a folder
// may include the folder's own headers, the headers of the folders in its row of the first table, and all headers that
// these folders may include, unless the third cell of the row begins with "only". The second table names, for each
// third-party header, the only folder that may include it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
#include "support/source_folder.hpp"

namespace {

namespace fs = std::filesystem;

/// The rules in the two tables of docs/architecture.md.
struct Law {
  // For each folder of sim/: the folders whose headers it may include, from the last cell of its row.
  std::map<std::string, std::vector<std::string>> below;
  /// The folders whose last cell begins with "only".
  std::set<std::string> only;
  /// For each third-party library: the common beginning of the paths of its headers, and the only folder that may
  /// include these headers.
  std::vector<std::pair<std::string, std::string>> owners;
};

/// Returns the words that are between backticks, without the backticks.
std::vector<std::string> quoted_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  std::string between, word;
  while (std::getline(in, between, '`') && std::getline(in, word, '`')) words.push_back(word);
  return words;
}

/// Returns the cells of a line like `| a | b |`, and no cells for any other line.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.rfind('|', 0) != 0) return cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
  return cells;
}

std::runtime_error bad_row(const std::string& line, const std::string& why) {
  return std::runtime_error("docs/architecture.md: " + line + " -- " + why);
}

/// Reads one row of the table with the columns "folder", "what it holds" and "may include".
void read_folder(Law& law, const std::vector<std::string>& cells, const std::string& line) {
  const auto folder = quoted_words(cells.at(0));
  if (folder.size() != 1) throw bad_row(line, "the first cell names one folder: `folder`");
  const auto below = quoted_words(cells.at(2));
  if (below.empty() && cells.at(2) != " nothing ")
    throw bad_row(line, "the last cell names folders, or is the word nothing");
  if (!law.below.emplace(folder.front(), below).second)
    throw bad_row(line, "this folder already has a row");
  if (cells.at(2).rfind(" only ", 0) == 0) law.only.insert(folder.front());
}

/// Reads one row of the table with the columns "header" and "only in".
void read_owner(Law& law, const std::vector<std::string>& cells, const std::string& line) {
  const auto header = quoted_words(cells.at(0));
  const auto owner = quoted_words(cells.at(1));
  if (header.size() != 1 || owner.size() != 1)
    throw bad_row(line, "a row names one header and one folder");
  law.owners.emplace_back(header.front(), owner.front());
}

void require_known_names(const Law& law) {
  for (const auto& [folder, below] : law.below)
    for (const std::string& next : below)
      if (law.below.count(next) == 0) throw bad_row(folder, "'" + next + "' has no row");
  for (const auto& [header, owner] : law.owners)
    if (law.below.count(owner) == 0) throw bad_row(header, "'" + owner + "' has no row");
}

/// Reads the rows of the two tables, and skips all other lines of the page.
Law read_law(std::istream& page) {
  Law law;
  void (*read)(Law&, const std::vector<std::string>&, const std::string&) = nullptr;
  for (std::string line; std::getline(page, line);) {
    const auto cells = cells_of(line);
    if (line == "| folder | what it holds | may include |") {
      read = read_folder;
    } else if (line == "| header | only in |") {
      read = read_owner;
    } else if (cells.empty()) {
      read = nullptr;
    } else if (read != nullptr && cells.front() != "---") {
      read(law, cells, line);
    }
  }
  require_known_names(law);
  return law;
}

const Law& law() {
  static const Law law = [] {
    std::ifstream page(fs::path(sluice::test::source_folder()) / "docs" / "architecture.md");
    return read_law(page);
  }();
  return law;
}

/// Returns the folder of the first table to which a file under sim/ belongs. The path of the file begins with the path
/// of this folder. If this holds for several folders, returns the longest path.
std::string folder_of(const std::string& path) {
  std::string folder = path.substr(0, path.find('/'));
  for (const auto& [entry, unused] : law().below)
    if (entry.size() > folder.size() && path.rfind(entry + "/", 0) == 0) folder = entry;
  return folder;
}

void add_reachable(const std::string& folder, std::set<std::string>& reached) {
  if (!reached.insert(folder).second) return;
  for (const std::string& next : law().below.at(folder)) add_reachable(next, reached);
}

std::string list_of(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// The quotes around the path of an include: "" or <>.
enum class Quotes : bool { straight, angle };

/// Returns what is wrong if a file of `folder` includes `header`. Returns an empty text if the include is allowed.
std::string fault(const std::string& folder, const std::string& header, Quotes quotes,
                  const std::set<std::string>& known_files) {
  if (law().below.count(folder) == 0)
    return "docs/architecture.md has no row for folder '" + folder + "'";
  for (const auto& [prefix, owner] : law().owners)
    if (header.rfind(prefix, 0) == 0 && folder != owner)
      return "only sim/" + owner + " may include it";
  if (quotes == Quotes::angle) return "";
  if (known_files.count(header) == 0)
    return "there is no such file; write the path of an include relative to sim/";
  std::set<std::string> allowed = {folder};
  if (law().only.count(folder) != 0)
    allowed.insert(law().below.at(folder).begin(), law().below.at(folder).end());
  else
    for (const std::string& next : law().below.at(folder)) add_reachable(next, allowed);
  const std::string target = folder_of(header);
  if (allowed.count(target) != 0) return "";
  return "sim/" + folder + " may include " + list_of(allowed);
}

/// For a line `#include "x"` or `#include <x>`, returns x and its quotes. Returns an empty header for any other line.
std::pair<std::string, Quotes> include_of(const std::string& line) {
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return {};
  const auto word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return {};
  const auto open = line.find_first_of("\"<", word);
  if (open == std::string::npos) return {};
  const Quotes quotes = line[open] == '"' ? Quotes::straight : Quotes::angle;
  const auto close = line.find(quotes == Quotes::straight ? '"' : '>', open + 1);
  return {line.substr(open + 1, close - open - 1), quotes};
}

std::set<std::string> source_files(const fs::path& root) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file()) files.insert(fs::relative(entry.path(), root).string());
  return files;
}

/// Reads every include under `root`, and adds the number of these includes to `includes`. Returns the includes that
/// break a rule.
std::vector<std::string> violations(const fs::path& root, int& includes) {
  const std::set<std::string> files = source_files(root);
  std::vector<std::string> found;
  for (const std::string& file : files) {
    std::ifstream in(root / file);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      const auto [header, quotes] = include_of(line);
      if (header.empty()) continue;
      ++includes;
      const std::string wrong = fault(folder_of(file), header, quotes, files);
      if (!wrong.empty())
        found.push_back("sim/" + file + ":" + std::to_string(number) + ": " + line + " -- " +
                        wrong);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("every include under sim/ follows the rules", "[includes]") {
  int includes = 0;
  for (const std::string& wrong : violations(fs::path(sluice::test::source_folder()) / "sim", includes))
    FAIL_CHECK(wrong);
  CHECK(includes > 50);  // with fewer includes, the test has not read the files
}

TEST_CASE("each kind of broken rule is reported with its own message", "[includes]") {
  const fs::path root = fs::temp_directory_path() / "sluice_planted_includes";
  fs::remove_all(root);
  const auto plant = [&](const std::string& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  };
  for (const char* header : {"platform/platform.hpp", "execute/grants.hpp", "planning/builder.hpp",
                             "plan/plan.hpp", "execute/simgrid/engine.hpp", "document/value.hpp"})
    plant(header, "// nothing\n");
  plant("execute/right.cpp", "#include <vector>\n#include \"plan/plan.hpp\"\n");
  int includes = 0;
  CHECK(violations(root, includes).empty());
  CHECK(includes == 2);

  struct Planted {
    const char *file, *include, *says;
  };
  for (const auto& [file, include, says] :
       {Planted{"execute/arithmetic/x.cpp", "\"platform/platform.hpp\"",
                "sim/execute may include base, execute, plan, trace"},
        Planted{"execute/x.cpp", "\"document/value.hpp\"",
                "sim/execute may include base, execute, plan, trace"},
        Planted{"execute/simgrid/x.cpp", "\"document/value.hpp\"",
                "sim/execute/simgrid may include base, execute, execute/simgrid, plan, trace"},
        Planted{"plan/passes/x.cpp", "\"execute/grants.hpp\"",
                "sim/plan may include base, document, plan"},
        Planted{"fates/optimal/x.cpp", "\"planning/builder.hpp\"", "sim/fates may include base"},
        Planted{"execute/x.hpp", "\"execute/simgrid/engine.hpp\"", "sim/execute may include base"},
        Planted{"planning/x.cpp", "<simgrid/s4u.hpp>", "only sim/execute/simgrid may include it"},
        Planted{"plan/x.cpp", "<yaml-cpp/yaml.h>", "only sim/document may include it"},
        Planted{"trace/x.cpp", "<hdf5.h>", "only sim/trace/hdf5 may include it"},
        Planted{"plan/x.cpp", "\"plan.hpp\"",
                "there is no such file; write the path of an include relative to sim/"},
        Planted{"extra/x.cpp", "\"plan/plan.hpp\"",
                "docs/architecture.md has no row for folder 'extra'"}}) {
    const std::string line = std::string("#include ") + include;
    plant(file, "\n" + line + "\n");
    const std::vector<std::string> wrong = violations(root, includes);
    INFO(file << ": " << line);
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].rfind("sim/" + std::string(file) + ":2: " + line + " -- " + says, 0) == 0);
    fs::remove(root / file);
  }
  fs::remove_all(root);
}

TEST_CASE("every folder of sim/ has a row in the architecture, and every row has a folder",
          "[includes]") {
  const fs::path root = fs::path(sluice::test::source_folder()) / "sim";
  for (const auto& [folder, unused] : law().below) {
    INFO(folder);
    CHECK(fs::exists(root / folder));
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    INFO(entry.path());
    CHECK(law().below.count(entry.path().filename().string()) == 1);
  }
}

TEST_CASE("a page whose tables cannot be read is an error, and not a page without rules",
          "[includes]") {
  const auto read = [](const std::string& rows) {
    std::istringstream page("| folder | what it holds | may include |\n|---|---|---|\n" + rows);
    return read_law(page);
  };
  CHECK(read("| `a` | x | nothing |\n| `b` | y | `a` |\n").below.at("b") ==
        std::vector<std::string>{"a"});
  CHECK_THROWS(read("| a | x | nothing |\n"));
  CHECK_THROWS(read("| `a` | x |\n"));
  CHECK_THROWS(read("| `a` | x | all |\n"));
  CHECK_THROWS(read("| `a` | x | `b` |\n"));
  CHECK_THROWS(read("| `a` | x | nothing |\n| `a` | y | nothing |\n"));
}

TEST_CASE("the include check itself accepts good includes and refuses bad ones", "[includes]") {
  const std::set<std::string> files = {
      "plan/plan.hpp",  "execute/feasibility.hpp", "execute/simgrid/engine.hpp",
      "base/error.hpp", "document/value.hpp",      "trace/span.hpp",
      "model/model.hpp"};
  CHECK(fault("policy", "plan/plan.hpp", Quotes::straight, files).empty());
  CHECK(fault("policy", "base/error.hpp", Quotes::straight, files).empty());
  CHECK(fault("policy", "execute/feasibility.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("plan", "execute/feasibility.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("execute", "simgrid/s4u.hpp", Quotes::angle, files).empty());
  CHECK_FALSE(fault("policy", "execute/simgrid/engine.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("execute/simgrid", "policy/policy.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("trace", "plan/plan.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("model", "platform/platform.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("base", "document/value.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("new_folder", "base/error.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("plan", "plan.hpp", Quotes::straight, files).empty());
  CHECK_FALSE(fault("metrics", "simgrid/s4u.hpp", Quotes::angle, files).empty());
  CHECK_FALSE(fault("run", "yaml-cpp/yaml.h", Quotes::angle, files).empty());
  CHECK(fault("execute/simgrid", "simgrid/s4u.hpp", Quotes::angle, files).empty());
  CHECK(fault("execute/simgrid", "vector", Quotes::angle, files).empty());
  CHECK((include_of("#include <a/b.h>") == std::pair<std::string, Quotes>("a/b.h", Quotes::angle)));
  CHECK((include_of("  #  include \"a/b.h\"  // why") ==
         std::pair<std::string, Quotes>("a/b.h", Quotes::straight)));
  CHECK(include_of("// #include \"a/b.h\"").first.empty());
}
