// Finds the subcommand, runs it, and turns what it throws into a message and an exit code.
#include <exception>
#include <new>

#include "base/interrupt.hpp"
#include "base/version.hpp"
#include "command/command.hpp"
#include "command/terminal.hpp"
#include "execute/simgrid/engine.hpp"

namespace sluice {
namespace {

std::string version_text() {
  return "sluice " + std::string(program_version()) + " (" + std::string(git_sha()) +
         "), SimGrid " + simgrid_version() + "\n";
}

const Command& find_command(const std::string& name) {
  if (const Command* command = command_catalog().find_or_null(name)) return *command;
  std::vector<std::string> known = command_catalog().names();
  known.emplace_back("help");
  known.emplace_back("version");
  const std::string what = !name.empty() && name.front() == '-' ? "option" : "command";
  if (what == "option") known = {"--help", "--version"};
  throw UsageError("unknown " + what + " '" + name + "'" + did_you_mean(name, known) +
                   "; known: " + join(known) + "\nSee 'sluice help'.");
}

int help(const std::vector<std::string>& words) {
  if (words.size() > 2)
    throw UsageError("unexpected '" + words[2] + "'; expected one command\nSee 'sluice help'.");
  const bool whole = words.size() < 2 || words[1] == "help" || words[1] == "--help";
  print(whole ? help_of_program() : help_of(find_command(words[1])));
  return 0;
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty())
    throw UsageError("no command is given; known: " + join(command_catalog().names()) +
                     "\nSee 'sluice help'.");
  const std::string& name = words.front();
  if (name == "help" || name == "--help" || name == "-h") return help(words);
  if (name == "--version" || name == "-V" || name == "version") {
    print(version_text());
    return 0;
  }
  const Command& command = find_command(name);
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  const bool asks_for_help = rest.size() == 1 && (rest[0] == "--help" || rest[0] == "-h");
  if (command.verbatim && !asks_for_help) {
    Arguments arguments;
    arguments.positionals = rest;
    return command.run(arguments);
  }
  const Arguments arguments = parse_arguments(command, rest);
  if (arguments.has("help")) {
    print(help_of(command));
    return 0;
  }
  return command.run(arguments);
}

/// "FILE:L:C: error: ..." stands for itself (also where it comes from a child process, as text
/// alone); everything else begins with our name.
void complain(const Error& error) {
  const std::string text = error.what();
  const bool stands_alone = error.exit_code() == 3 &&
                            text.substr(0, text.find('\n')).find(": error: ") != std::string::npos;
  message(stands_alone ? text : "sluice: " + text);
}

}  // namespace

int run_command_line(const std::vector<std::string>& words) {
  install_interrupt_handlers();
  try {
    return dispatch(words);
  } catch (const Error& error) {
    complain(error);
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    message("sluice: out of memory (of this computer, not of the simulated one)");
  } catch (const std::exception& error) {
    message("sluice: internal error: " + std::string(error.what()));
  }
  return 70;
}

}  // namespace sluice
