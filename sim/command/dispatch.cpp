// Finds the command, runs it, and turns exceptions into messages and exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>

#include "base/interrupt.hpp"
#include "base/version.hpp"
#include "command/command.hpp"
#include "command/terminal.hpp"
#include "execute/simgrid/engine.hpp"

namespace sluice {
namespace {

std::string version_text() {
  const std::string own =
      "sluice " + std::string(program_version()) + " (" + std::string(git_sha()) + ")";
  try {
    return own + ", SimGrid " + simgrid_version() + "\n";
  } catch (const IoError& error) {
    return own + "\n" + error.what() + "\n";
  }
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
  if (words.size() == 3 && find_command(words[1]).subcommands) {
    print(help_of(subcommand_of(find_command(words[1]), words[2])));
    return 0;
  }
  if (words.size() > 2)
    throw UsageError("unexpected '" + words[2] + "'; expected one command\nSee 'sluice help'.");
  const bool whole = words.size() < 2 || words[1] == "help" || words[1] == "--help";
  print(whole ? help_of_program() : help_of(find_command(words[1])));
  return 0;
}

/// Runs a command without subcommands. Parameter `rest` holds the words after the command's name.
int run_command(const Command& command, const std::vector<std::string>& rest) {
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

int run_subcommand(const Command& command, const std::vector<std::string>& rest) {
  if (!rest.empty() && (rest[0] == "--help" || rest[0] == "-h" || rest[0] == "help")) {
    print(help_of(command));
    return 0;
  }
  const Command& chosen = subcommand_of(command, rest.empty() ? "" : rest.front());
  return run_command(chosen, {rest.begin() + 1, rest.end()});
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
  return command.subcommands ? run_subcommand(command, rest) : run_command(command, rest);
}

/// Prints an error. A message with a place ("FILE:L:C: error: ...") is printed unchanged, even if the message comes
/// from a child process. Any message without a place is printed with "sluice: " in front.
void complain(const Error& error) {
  const std::string text = error.what();
  const bool stands_alone = error.exit_code() == 3 &&
                            text.substr(0, text.find('\n')).find(": error: ") != std::string::npos;
  message(stands_alone ? text : "sluice: " + text);
}

/// Opens /dev/null in the place of each closed standard stream. It is opened in the wrong direction: standard input for
/// writing, and the outputs for reading. So every use of the stream fails and is reported. Without this function, the
/// next opened file would get the number of the closed stream. An answer could then be written into this file.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      // The new file gets the lowest free number, which is the number of the closed stream.
      (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Prepares the process for signals, for limits that the system sets, and for closed standard streams. If a file would
/// grow beyond the limit of ulimit -f, the signal SIGXFSZ comes. This signal ends a program by default, but Sluice
/// ignores it. So the write fails, and the failure is reported like a full disk.
void prepare_process() {
  install_interrupt_handlers();
  end_at_once_when_interrupted();
  end_when_memory_is_out();
  std::signal(SIGXFSZ, SIG_IGN);
  open_standard_streams();
}

}  // namespace

std::vector<std::string> subcommand_words(const Command& command) {
  std::vector<std::string> words;
  for (const std::string& name : command.subcommands().names())
    words.push_back(name.substr(command.name.size() + 1));
  return words;
}

const Command& subcommand_of(const Command& command, const std::string& word) {
  const Catalog<Command>& all = command.subcommands();
  if (const Command* found = all.find_or_null(command.name + " " + word)) return *found;
  const std::vector<std::string> known = subcommand_words(command);
  throw UsageError((word.empty() ? "no subcommand of " + command.name + " is given"
                                 : "unknown subcommand '" + word + "' of " + command.name +
                                       did_you_mean(word, known)) +
                   "; known: " + join(known) + "\nSee 'sluice help " + command.name + "'.");
}

int run_command_line(const std::vector<std::string>& words) {
  prepare_process();
  try {
    return dispatch(words);
  } catch (const Error& error) {
    complain(error);
    return error.exit_code();
  } catch (const std::exception& error) {
    message("sluice: " + (says_out_of_memory(error)
                              ? std::string(out_of_memory)
                              : "internal error: " + std::string(error.what())));
  }
  return 70;
}

}  // namespace sluice
