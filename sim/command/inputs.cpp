#include "command/inputs.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/interrupt.hpp"
#include "base/large_pages.hpp"
#include "command/terminal.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "plan/text.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Returns the text of a regular file, and an empty text for any other path. A message about any other path comes
/// later, from the code that reads documents.
std::string text_of_regular_file(const std::string& path, std::size_t most) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  std::ifstream in(path, std::ios::binary);
  std::string text;
  text.reserve(most);
  prefer_large_pages(text.data(), most);
  text.resize(most);
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

bool is_plan(const std::string& path) {
  return looks_like_plan(text_of_regular_file(path, 4096));
}

Plan read_plan(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw IoError("cannot read '" + path + "': " + error.message());
  std::string text = text_of_regular_file(path, size);
  if (text.size() != size) throw IoError("cannot read '" + path + "' to its end");
  return plan_from_source(std::make_shared<const Source>(Source{path, std::move(text)}));
}

/// Collects every file from which a value of the document was read.
void collect_sources(const Value& value, std::set<std::string>& files) {
  if (value.source()) files.insert(value.source()->name);
  for (const Value& item : value.items()) collect_sources(item, files);
  for (const Value::Entry& entry : value.entries()) collect_sources(entry.value, files);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

/// Reads standard input. The size of standard input is limited like the size of a file.
std::string text_of_standard_input() {
  constexpr std::size_t most = std::size_t{1} << 30;
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    check_interrupt();
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw IoError(std::string("cannot read standard input: ") + std::strerror(errno));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > most)
      throw IoError("standard input is larger than 1 GiB; give a smaller document");
  }
}

[[noreturn]] void refuse_overrides(const std::string& override, const std::string& path) {
  throw UsageError("'" + override + "': a plan takes no KEY=VALUE; edit the plan '" + path +
                   "' as text instead");
}

bool is_standard_input(const std::string& given) {
  return given == "-" || given == "/dev/stdin";
}

/// Returns the text of standard input. If standard input is a terminal, a message first says that `what` is read from
/// the terminal.
std::string typed_or_piped(const std::string& what) {
  if (isatty(STDIN_FILENO) != 0)
    message("sluice: reading " + what + " from the terminal; Ctrl-D ends it");
  return text_of_standard_input();
}

/// Returns the path that stands for standard input, `stdin` in the working folder. So the files that a document names
/// are relative to the working folder.
std::string path_of_standard_input() {
  return (fs::current_path() / "stdin").string();
}

[[noreturn]] void refuse_plan(const std::string& path) {
  throw UsageError(
      "'" + path +
      "' is a plan, which has no keys to vary; give the scenario from which it was made");
}

Question question_of_standard_input(const Arguments& arguments) {
  const std::string text = typed_or_piped("a scenario or a plan");
  Question question;
  question.path = "<stdin>";
  if (looks_like_plan(text)) {
    if (!arguments.overrides.empty()) refuse_overrides(arguments.overrides.front(), question.path);
    question.plan = plan_from_text(text, question.path);
    return question;
  }
  question.scenario =
      scenario_from(parse_text(text, question.path), path_of_standard_input(), arguments.overrides);
  return question;
}

}  // namespace

Question read_question(const Arguments& arguments) {
  const std::string& given = arguments.positionals.front();
  if (is_standard_input(given)) return question_of_standard_input(arguments);
  Question question;
  question.path = find_document(given, "scenarios");
  if (!is_plan(question.path)) {
    question.scenario = load_scenario(question.path, arguments.overrides);
    return question;
  }
  if (!arguments.overrides.empty()) refuse_overrides(arguments.overrides.front(), question.path);
  question.plan = read_plan(question.path);
  return question;
}

ScenarioDocument read_scenario_document(const std::string& given) {
  if (is_standard_input(given)) {
    const std::string text = typed_or_piped("a scenario");
    if (looks_like_plan(text)) refuse_plan("<stdin>");
    return {parse_text(text, "<stdin>"), path_of_standard_input()};
  }
  const std::string path = find_document(given, "scenarios");
  if (is_plan(path)) refuse_plan(path);
  return {load_file(path), path};
}

Position place_of(const Question& question) {
  if (!question.scenario) return Position{question.path, 0, 0, {}};
  const Value& document = question.scenario->document;
  const Value* const workload = document.find("workload");
  return (workload ? *workload : document).position();
}

Plan plan_of(Question& question) {
  if (question.plan) return std::move(*question.plan);
  PlannedScenario planned =
      in_plan_file(question, [&] { return plan_scenario(*question.scenario); });
  question.cut = std::move(planned.cut);
  return std::move(planned.plan);
}

void refuse_to_overwrite(const Question& question, const std::string& output) {
  std::set<std::string> files = {question.path};
  if (question.scenario) collect_sources(question.scenario->document, files);
  for (const std::string& file : files)
    if (same_file(file, output))
      throw UsageError("'" + output + "' for '--output' is an input of this run ('" + file +
                       "'): give another name");
}

}  // namespace sluice
