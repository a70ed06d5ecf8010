// Parses the words of a command line into Arguments. Only this file uses Boost.Program_options.
#include <boost/program_options.hpp>

#include <cstdio>

#include "base/number_in.hpp"
#include "base/processes.hpp"
#include "command/command.hpp"

namespace sluice {
namespace {

namespace po = boost::program_options;

const Option& help_option() {
  static const Option option = {.name = "help", .letter = 'h', .summary = "print this help"};
  return option;
}

std::vector<const Option*> options_of(const Command& command) {
  std::vector<const Option*> all;
  for (const Option& option : command.options) all.push_back(&option);
  all.push_back(&help_option());
  return all;
}

[[noreturn]] void refuse(const Command& command, const std::string& message) {
  throw UsageError(message + "\nSee 'sluice help " + command.name + "'.");
}

po::options_description description_of(const Command& command) {
  po::options_description description;
  for (const Option* option : options_of(command)) {
    const std::string names =
        option->name + (option->letter ? std::string{',', option->letter} : "");
    if (option->value.empty())
      description.add_options()(names.c_str(), "");
    else
      description.add_options()(names.c_str(), po::value<std::string>(), "");
  }
  return description;
}

std::vector<po::option> parse(const Command& command, const std::vector<std::string>& words) {
  using namespace po::command_line_style;
  const po::options_description description = description_of(command);
  try {
    // The style allow_guessing is off. With it, `--js` would mean `--json`, until a later version has a second option
    // that begins with `--js`.
    return po::command_line_parser(words)
        .options(description)
        .style(allow_long | long_allow_adjacent | long_allow_next | allow_short |
               allow_dash_for_short | short_allow_adjacent | short_allow_next)
        .run()
        .options;
  } catch (const po::unknown_option& error) {
    std::vector<std::string> known;
    for (const Option* option : options_of(command)) known.push_back("--" + option->name);
    const std::string name = error.get_option_name();
    refuse(command,
           "unknown option '" + name + "'" + did_you_mean(name, known) + "; known: " + join(known));
  } catch (const po::error& error) {
    refuse(command, error.what());
  }
}

/// Returns whether a word has a '=' that stands before every '/'. The result is true for "steps=5", and false for
/// "./a=b.yaml".
bool is_override(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && word.find('/') > equals;
}

void add_option(Arguments& arguments, const Command& command, const po::option& parsed) {
  for (const Option* option : options_of(command)) {
    if (option->name != parsed.string_key) continue;
    if (arguments.has(option->name) && !option->repeated)
      refuse(command, "'--" + option->name + "' is given twice; give this option only once");
    const std::string value = parsed.value.empty() ? "" : parsed.value.front();
    if (!option->value.empty() && value.empty())
      refuse(command, "'--" + option->name + "' needs a value: " + option->value);
    const std::vector<std::string> choices = option->allowed();
    bool allowed = choices.empty();
    for (const std::string& choice : choices) allowed = allowed || choice == value;
    if (!allowed)
      refuse(command, "'" + value + "' for '--" + option->name + "'" +
                          did_you_mean(value, choices) + "; expected one of " + join(choices));
    arguments.given.push_back({option->name, value});
    return;
  }
}

void add_positional(Arguments& arguments, const Command& command, const std::string& word) {
  if (command.overrides && is_override(word)) {
    arguments.overrides.push_back(word);
    return;
  }
  if (arguments.positionals.size() == command.most)
    refuse(command, "unexpected '" + word + "'; " +
                        (command.most == 0 ? "no argument is expected"
                                           : "expected " + command.positionals +
                                                 (command.overrides ? " and KEY=VALUE" : "")));
  arguments.positionals.push_back(word);
}

}  // namespace

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./=:,+@%") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

const Arguments::Given* Arguments::find(std::string_view option) const {
  for (const Given& one : given)
    if (one.option == option) return &one;
  return nullptr;
}

std::string Arguments::text(std::string_view option, std::string absent) const {
  const Given* found = find(option);
  return found ? found->value : std::move(absent);
}

std::vector<std::string> Arguments::texts(std::string_view option) const {
  std::vector<std::string> all;
  for (const Given& one : given)
    if (one.option == option) all.push_back(one.value);
  return all;
}

std::int64_t Arguments::integer(std::string_view option, std::int64_t absent, std::int64_t minimum,
                                std::int64_t maximum) const {
  const Given* found = find(option);
  if (!found) return absent;
  const std::optional<std::int64_t> value = number_in<std::int64_t>(found->value);
  if (!value || *value < minimum || *value > maximum)
    throw UsageError("'" + found->value + "' for '--" + found->option +
                     "': expected an integer from " + std::to_string(minimum) + " to " +
                     std::to_string(maximum));
  return *value;
}

void refuse_together(const Arguments& arguments, std::initializer_list<const char*> options) {
  std::string first;
  for (const char* option : options) {
    if (!arguments.has(option)) continue;
    if (!first.empty())
      throw UsageError("'--" + first + "' and '--" + option +
                       "' exclude each other; give only one of these options");
    first = option;
  }
}

Option jobs_option(const std::string& things) {
  return {.name = "jobs",
          .letter = 'j',
          .value = "N",
          .summary = "how many " + things +
                     " run at the same time. The answer is the same for every number",
          .absent = "as many as processors"};
}

std::size_t jobs_of(const Arguments& arguments) {
  const auto usual = static_cast<std::int64_t>(processors());
  return static_cast<std::size_t>(arguments.integer("jobs", usual, 1, 1024));
}

Arguments parse_arguments(const Command& command, const std::vector<std::string>& words) {
  Arguments arguments;
  arguments.line = "sluice " + command.name;
  for (const std::string& word : words) arguments.line += " " + shell_word(word);
  for (const po::option& parsed : parse(command, words)) {
    if (parsed.position_key >= 0)
      for (const std::string& word : parsed.value) add_positional(arguments, command, word);
    else
      add_option(arguments, command, parsed);
  }
  if (arguments.positionals.size() < command.least && !arguments.has("help"))
    refuse(command, "missing " + command.positionals);
  return arguments;
}

}  // namespace sluice
