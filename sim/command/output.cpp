#include "command/output.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.hpp"
#include "plan/text.hpp"

namespace sluice {
namespace {

std::string words_of(Output output) {
  switch (output) {
    case Output::trace:
      return "not a trace";
    case Output::plan:
      return "not a plan";
    case Output::table:
      return "not a table of a plan";
    case Output::exported:
      return "a trace, a store or a document of Sluice";
    case Output::junit:
      return "not a report in JUnit's XML";
    case Output::document:
      break;
  }
  return "there already";
}

std::string head_of(const std::string& path) {
  std::string head(std::size_t{1} << 20, '\0');  // in JSON, the key `format` may come late
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

/// Returns whether a file is the store of a sweep. Stores are SQLite databases.
bool is_store(const std::string& head) {
  return head.compare(0, 16, std::string("SQLite format 3\0", 16)) == 0;
}

bool is_trace(const std::string& head) {
  return head.compare(0, 8, "\x89HDF\r\n\x1a\n") == 0;
}

/// Returns whether the file is a document, in YAML or JSON: whether it has the key `format` with the name of one of
/// Sluice's formats.
bool is_document(const std::string& head) {
  constexpr std::string_view name = "sluice-", between = " \t\r\n:\"'";
  for (std::size_t at = head.find(name); at != std::string::npos; at = head.find(name, at + 1)) {
    const std::string_view before(head.data(), at);
    const std::size_t key = before.find_last_not_of(between);
    if (key == std::string_view::npos || !before.substr(0, key + 1).ends_with("format")) continue;
    const std::size_t start = key + 1 - std::string_view("format").size();
    if (start == 0 ||
        !(std::isalnum(static_cast<unsigned char>(head[start - 1])) || head[start - 1] == '_'))
      return true;
  }
  return false;
}

/// Returns whether a file that begins with `head` may be replaced by a file of the kind `output`.
bool is_alike(const std::string& head, Output output) {
  switch (output) {
    case Output::trace:
      return is_trace(head);
    case Output::plan:
      return looks_like_plan(head);
    case Output::table:
      return head.compare(0, 8, "section,") == 0;
    case Output::exported:
      return !is_trace(head) && !is_store(head) && !is_document(head);
    case Output::junit:
      return head.compare(0, 5, "<?xml") == 0 && head.find("<testsuite") != std::string::npos;
    case Output::document:
      break;
  }
  return false;
}

/// Refuses the path `-`. In many programs, the path `-` means standard output, but Sluice would write a file of this
/// name.
void refuse_dash(const std::string& path, Output output, const std::string& option) {
  if (path != "-") return;
  const bool needs_a_file = output == Output::trace || output == Output::junit;
  const std::string name = output == Output::trace ? "trace.h5" : "report.xml";
  throw UsageError("'-' for '--" + option + "' is not the name of a file: " +
                   (needs_a_file ? "give a name such as " + name
                                 : "leave the option out to write to standard output") +
                   ", or write './-' for a file called '-'");
}

/// Refuses to write a trace under a name with the ending of another format, such as .json. The user probably wants the
/// answer or an export in that format.
void refuse_ending(const std::string& path, Output output, const std::string& option) {
  constexpr std::array others = {".json", ".csv", ".yaml", ".yml",     ".plan",
                                 ".db",   ".xml", ".txt",  ".pftrace", ".onnx"};
  std::filesystem::path name(path);
  const std::string ending = name.extension().string();
  if (output != Output::trace || std::find(others.begin(), others.end(), ending) == others.end())
    return;
  throw UsageError(
      "'" + path + "' for '--" + option + "' would be a trace, which is HDF5 and not " +
      ending.substr(1) + ": name it '" + name.replace_extension(".h5").string() +
      "', or add --force. --json prints the answer, and 'sluice export' writes a trace for other programs");
}

}  // namespace

Option force_option(Output output) {
  return {.name = "force", .summary = "replace a file that is " + words_of(output)};
}

void refuse_to_replace(const Arguments& arguments, const std::string& path, Output output,
                       const char* option) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  refuse_dash(path, output, option);
  if (path.empty() || arguments.has("force")) return;
  const bool is_file = fs::is_regular_file(path, ignored);
  if (is_file && is_alike(head_of(path), output)) return;
  if (!fs::exists(path, ignored) || (is_file && fs::file_size(path, ignored) == 0))
    return refuse_ending(path, output, option);
  if (!is_file)
    return;  // An attempt to write to a folder or a device fails later, with its own message.
  throw UsageError("'" + path + "' for '--" + option + "' is " + words_of(output) +
                   ": give another name, or --force to replace it");
}

}  // namespace sluice
