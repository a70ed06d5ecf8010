#include "command/inputs.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "plan/text.hpp"
#include "study/zoo/zoo.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// The text of a regular file; nothing for anything else, which the document reader then refuses
/// in its own words.
std::string text_of_regular_file(const std::string& path, std::size_t most) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  std::ifstream in(path, std::ios::binary);
  std::string text(most, '\0');
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
  const std::string text = text_of_regular_file(path, size);
  if (text.size() != size) throw IoError("cannot read '" + path + "' to its end");
  return plan_from_text(text, path);
}

/// Every file that some value of the document was read from.
void collect_sources(const Value& value, std::set<std::string>& files) {
  if (value.source()) files.insert(value.source()->name);
  for (const Value& item : value.items()) collect_sources(item, files);
  for (const Value::Entry& entry : value.entries()) collect_sources(entry.value, files);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

}  // namespace

Question read_question(const Arguments& arguments) {
  Question question;
  question.path = find_document(arguments.positionals.front(), "scenarios");
  if (!is_plan(question.path)) {
    question.scenario = load_scenario(question.path, arguments.overrides);
    return question;
  }
  if (!arguments.overrides.empty())
    throw UsageError("'" + arguments.overrides.front() + "': a plan takes no KEY=VALUE; '" +
                     question.path + "' is a plan, which can be edited as text");
  question.plan = read_plan(question.path);
  return question;
}

Plan plan_of(Question& question) {
  if (question.plan) return std::move(*question.plan);
  PlannedScenario planned = plan_scenario(*question.scenario);
  question.cut = std::move(planned.cut);
  return std::move(planned.plan);
}

void refuse_to_overwrite(const Question& question, const std::string& output) {
  std::set<std::string> files = {question.path};
  if (question.scenario) collect_sources(question.scenario->document, files);
  for (const std::string& file : files)
    if (same_file(file, output))
      throw UsageError("'" + output + "' for '--output' is an input of this run ('" + file + "')");
}

}  // namespace sluice
