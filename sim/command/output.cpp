#include "command/output.hpp"

#include <filesystem>
#include <fstream>

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
      return "not a report as JUnit's XML";
    case Output::document:
      break;
  }
  return "there already";
}

std::string head_of(const std::string& path) {
  std::string head(4096, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

/// True for the store of a sweep, which is an SQLite database.
bool is_store(const std::string& head) {
  return head.compare(0, 16, std::string("SQLite format 3\0", 16)) == 0;
}

bool is_trace(const std::string& head) {
  return head.compare(0, 8, "\x89HDF\r\n\x1a\n") == 0;
}

/// Whether the file begins like what the command writes.
bool is_alike(const std::string& head, Output output) {
  switch (output) {
    case Output::trace:
      return is_trace(head);
    case Output::plan:
      return looks_like_plan(head);
    case Output::table:
      return head.compare(0, 8, "section,") == 0;
    case Output::exported:
      return !is_trace(head) && !is_store(head) &&
             head.find("format: sluice-") == std::string::npos;
    case Output::junit:
      return head.compare(0, 5, "<?xml") == 0 && head.find("<testsuite") != std::string::npos;
    case Output::document:
      break;
  }
  return false;
}

}  // namespace

Option force_option(Output output) {
  return {.name = "force", .summary = "replace a file that is " + words_of(output)};
}

void refuse_to_replace(const Arguments& arguments, const std::string& path, Output output,
                       const char* option) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (path.empty() || arguments.has("force") || !fs::is_regular_file(path, ignored)) return;
  if (fs::file_size(path, ignored) == 0 || is_alike(head_of(path), output)) return;
  throw UsageError("'" + path + "' for '--" + option + "' is " + words_of(output) +
                   ": give another name, or --force to replace it");
}

}  // namespace sluice
