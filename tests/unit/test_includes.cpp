// Who may include whom. The table is the architecture: a folder may include itself and,
// transitively, what stands beside it here. Third-party headers have one user each.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Table = std::map<std::string, std::vector<std::string>>;

const Table& below() {
  static const Table table = {
      {"base", {}},
      {"document", {"base"}},
      {"model", {"document"}},
      {"platform", {"document"}},
      {"trace", {"document"}},
      {"trace/hdf5", {"trace"}},
      {"trace/export", {"trace/hdf5"}},
      {"profile", {"model"}},
      {"cost", {"profile", "platform"}},
      {"stage", {"cost"}},
      {"workload", {"document"}},
      {"plan", {"document"}},
      {"execute", {"plan", "trace"}},
      {"execute/simgrid", {"execute"}},
      {"fates", {"execute"}},
      {"planning", {"stage", "workload", "fates"}},
      {"policy", {"planning"}},
      {"metrics", {"plan", "trace"}},
      {"scenario", {"policy"}},
      {"run", {"scenario", "execute/simgrid", "metrics", "trace/hdf5"}},
      {"study", {"run", "trace/export"}},
      {"command", {"study"}},
      {"python", {"study"}},
      {"main.cpp", {"command"}},
  };
  return table;
}

/// The start of a third-party header's path, and the only folder that may include it.
const std::vector<std::pair<std::string, std::string>>& owners() {
  static const std::vector<std::pair<std::string, std::string>> list = {
      {"yaml-cpp/", "document"},
      {"nlohmann/", "document"},
      {"H5", "trace/hdf5"},
      {"hdf5", "trace/hdf5"},
      {"simgrid/", "execute/simgrid"},
      {"boost/program_options", "command"},
      {"onnx/", "model"},
      {"google/protobuf", "model"},
      {"sqlite3", "study"},
      {"coin/", "base"},
      {"Cbc", "base"},
      {"pybind11/", "python"},
  };
  return list;
}

/// The entry of the table that a file under sim/ belongs to: the longest that its path begins with.
std::string folder_of(const std::string& path) {
  std::string folder = path.substr(0, path.find('/'));
  for (const auto& [entry, unused] : below())
    if (entry.size() > folder.size() && path.rfind(entry + "/", 0) == 0) folder = entry;
  return folder;
}

void add_reachable(const std::string& folder, std::set<std::string>& reached) {
  if (!reached.insert(folder).second) return;
  for (const std::string& next : below().at(folder)) add_reachable(next, reached);
}

std::string list_of(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// What is wrong with one include of a file in `folder`; empty when nothing is.
std::string fault(const std::string& folder, const std::string& header, bool quoted,
                  const std::set<std::string>& known_files) {
  if (below().count(folder) == 0) return "folder '" + folder + "' is not in the include table";
  for (const auto& [prefix, owner] : owners())
    if (header.rfind(prefix, 0) == 0 && folder != owner)
      return "only sim/" + owner + " may include it";
  if (!quoted) return "";
  if (known_files.count(header) == 0) return "no such file; includes are written from sim/";
  std::set<std::string> allowed;
  add_reachable(folder, allowed);
  const std::string target = folder_of(header);
  if (allowed.count(target) != 0) return "";
  return "sim/" + folder + " may include " + list_of(allowed);
}

/// Reads `#include "x"` or `#include <x>`; an empty header for any other line.
std::pair<std::string, bool> include_of(const std::string& line) {
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return {};
  const auto word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return {};
  const auto open = line.find_first_of("\"<", word);
  if (open == std::string::npos) return {};
  const bool quoted = line[open] == '"';
  const auto close = line.find(quoted ? '"' : '>', open + 1);
  return {line.substr(open + 1, close - open - 1), quoted};
}

std::set<std::string> source_files(const fs::path& root) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file()) files.insert(fs::relative(entry.path(), root).string());
  return files;
}

}  // namespace

TEST_CASE("every include under sim/ goes down the arrow", "[includes]") {
  const fs::path root = fs::path(SLUICE_SOURCE_DIR) / "sim";
  const std::set<std::string> files = source_files(root);
  int includes = 0;
  for (const std::string& file : files) {
    std::ifstream in(root / file);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      const auto [header, quoted] = include_of(line);
      if (header.empty()) continue;
      ++includes;
      const std::string wrong = fault(folder_of(file), header, quoted, files);
      if (!wrong.empty())
        FAIL_CHECK("sim/" << file << ":" << number << ": " << line << " -- " << wrong);
    }
  }
  CHECK(includes > 50);  // else nothing was read
}

TEST_CASE("the include check itself knows right from wrong", "[includes]") {
  const std::set<std::string> files = {
      "plan/plan.hpp",  "execute/check.hpp",  "execute/simgrid/engine.hpp",
      "base/error.hpp", "document/value.hpp", "trace/span.hpp",
      "model/model.hpp"};
  CHECK(fault("policy", "plan/plan.hpp", true, files).empty());
  CHECK(fault("policy", "base/error.hpp", true, files).empty());
  CHECK(fault("policy", "execute/check.hpp", true, files).empty());
  CHECK_FALSE(fault("plan", "execute/check.hpp", true, files).empty());
  CHECK_FALSE(fault("execute", "simgrid/s4u.hpp", false, files).empty());
  CHECK_FALSE(fault("policy", "execute/simgrid/engine.hpp", true, files).empty());
  CHECK_FALSE(fault("execute/simgrid", "policy/policy.hpp", true, files).empty());
  CHECK_FALSE(fault("trace", "plan/plan.hpp", true, files).empty());
  CHECK_FALSE(fault("model", "platform/platform.hpp", true, files).empty());
  CHECK_FALSE(fault("base", "document/value.hpp", true, files).empty());
  CHECK_FALSE(fault("new_folder", "base/error.hpp", true, files).empty());
  CHECK_FALSE(fault("plan", "plan.hpp", true, files).empty());
  CHECK_FALSE(fault("metrics", "simgrid/s4u.hpp", false, files).empty());
  CHECK_FALSE(fault("run", "yaml-cpp/yaml.h", false, files).empty());
  CHECK(fault("execute/simgrid", "simgrid/s4u.hpp", false, files).empty());
  CHECK(fault("execute/simgrid", "vector", false, files).empty());
  CHECK(include_of("#include <a/b.h>") == std::pair<std::string, bool>("a/b.h", false));
  CHECK(include_of("  #  include \"a/b.h\"  // why") ==
        std::pair<std::string, bool>("a/b.h", true));
  CHECK(include_of("// #include \"a/b.h\"").first.empty());
}
