// A command is a record with a name, a summary, a usage and a function. Each command has one file and one line in
// catalog.cpp. The help of a command is made from its record. The arguments are parsed and checked against the record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/catalog.hpp"

namespace sluice {

/// An option of a command.
struct Option {
  std::string name;  ///< without the dashes
  char letter = 0;   ///< the letter of the short form, or 0
  /// The placeholder for the option's value in the help. Empty if the option takes no value.
  std::string value = {};
  std::string summary;                    ///< one phrase that says what the option does
  std::string absent = {};                ///< the default, as the help shows it
  std::vector<std::string> choices = {};  ///< the allowed values, if the list of values is fixed
  /// A function that returns the allowed values, if they are the names of a catalog's entries. Otherwise null.
  std::vector<std::string> (*names)() = nullptr;
  /// Returns the values that shell completion suggests. Values that are not suggested are allowed, too. Several values
  /// may be joined as A,B,C.
  std::vector<std::string> (*suggested)() = nullptr;
  bool repeated = false;  ///< whether the option may be given several times
  bool changes = false;   ///< whether the option's value is a KEY=VALUE that changes the scenario

  std::vector<std::string> allowed() const { return names ? names() : choices; }
};

/// A command line that was parsed and checked against the record of its command.
struct Arguments {
  std::vector<std::string> positionals;  ///< words that are neither options nor overrides
  std::vector<std::string> overrides;    ///< words KEY=VALUE, as the user gave them
  std::string line;                      ///< the whole command line, quoted for a shell

  bool has(std::string_view option) const { return find(option) != nullptr; }
  /// Returns the value of the option, or `absent` if the option is not given.
  std::string text(std::string_view option, std::string absent = {}) const;
  /// Returns all values of an option that may be given several times.
  std::vector<std::string> texts(std::string_view option) const;
  /// Returns the value of the option, or `absent` if the option is not given. Throws UsageError if the value is not an
  /// integer from `minimum` to `maximum`.
  std::int64_t integer(std::string_view option, std::int64_t absent, std::int64_t minimum,
                       std::int64_t maximum) const;

  struct Given {
    std::string option, value;
  };
  std::vector<Given> given;

 private:
  const Given* find(std::string_view option) const;
};

/// The rows of a table with two columns in the help. The first column has words, and the second column has their
/// meanings.
using HelpRows = std::vector<std::pair<std::string, std::string>>;

struct Command {
  struct Example {
    std::string line, what;
  };
  std::string name;
  std::string summary;  ///< one sentence
  /// The arguments after the command's name, one line for each way to use the command.
  std::vector<std::string> usage;
  std::size_t least = 0, most = 0;  ///< least and largest number of positionals, without overrides
  /// The name of the positionals in messages, such as "SCENARIO or PLAN".
  std::string positionals = {};
  std::string names_folder = {};  ///< folder of the bundled documents that a positional may name
  /// Returns the words that shell completion offers as positionals, in addition to names of documents.
  std::vector<std::string> (*names)() = nullptr;
  bool overrides = false;  ///< whether words KEY=VALUE are overrides of the command
  /// Whether all words are positionals. Then no word is read as an option or an override.
  bool verbatim = false;
  std::vector<Option> options = {};
  std::string details = {};  ///< text of the help before the options
  /// Returns rows about the entries of a catalog. The function is called when the help is printed.
  HelpRows (*listed)() = nullptr;
  std::vector<Example> examples = {};
  int (*run)(const Arguments& arguments) = nullptr;  ///< returns the exit code
  /// Returns the subcommands of the command. Their names are like "profile compare". The first word
  /// after the command chooses a subcommand, and the command itself has no `run`.
  const Catalog<Command>& (*subcommands)() = nullptr;
};

const Catalog<Command>& command_catalog();

/// Returns the subcommand that a word such as "compare" chooses. Throws UsageError if there is no such subcommand.
const Command& subcommand_of(const Command& command, const std::string& word);
/// Returns the words that choose subcommands. For example, "compare" chooses "profile compare".
std::vector<std::string> subcommand_words(const Command& command);

/// Parses the words after the command's name. Options may come before or after other words. Throws UsageError in three
/// cases. An option is unknown or appears twice. A value is missing or is not among the choices. There are too many or
/// too few positionals.
Arguments parse_arguments(const Command& command, const std::vector<std::string>& words);

/// Throws UsageError if two of these options are given.
void refuse_together(const Arguments& arguments, std::initializer_list<const char*> options);

/// Returns the option --jobs of a command that runs many `things`, such as "points". jobs_of() returns its value.
Option jobs_option(const std::string& things);
std::size_t jobs_of(const Arguments& arguments);

/// Returns a word of a command line. If necessary, it is quoted for a shell.
std::string shell_word(const std::string& word);

/// These functions return the help of one command, and the help of the whole program.
std::string help_of(const Command& command);
std::string help_of_program();

/// Runs the whole program: finds and runs the command, prints errors, and returns the exit code. Parameter `words` does
/// not contain argv[0].
int run_command_line(const std::vector<std::string>& words);

}  // namespace sluice
