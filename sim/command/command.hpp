// A subcommand is a record (name, purpose, usage) and a function. Each subcommand has one file
// and one line in catalog.cpp. Help, parsing and the checks of the arguments all come from the
// record.
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

/// An option of a subcommand.
struct Option {
  std::string name;  ///< without the dashes
  char letter = 0;   ///< the letter of its short form, or 0 if it has none
  /// The placeholder for its value in the help; empty if the option takes no value.
  std::string value = {};
  std::string summary;                    ///< one phrase that says what it does
  std::string absent = {};                ///< its default, as the help shows it
  std::vector<std::string> choices = {};  ///< the allowed values, if the list is fixed
  /// Returns the allowed values, if a catalog has them.
  std::vector<std::string> (*names)() = nullptr;
  /// Returns values that shell completion suggests. Other values are allowed, too. Several values may be joined as
  /// A,B,C.
  std::vector<std::string> (*suggested)() = nullptr;
  bool repeated = false;  ///< whether it may be given several times
  bool changes = false;   ///< whether its value is a KEY=VALUE of the scenario

  std::vector<std::string> allowed() const { return names ? names() : choices; }
};

/// A command line, taken apart and checked against the record.
struct Arguments {
  std::vector<std::string> positionals;
  std::vector<std::string> overrides;  ///< KEY=VALUE, as given
  std::string line;                    ///< the whole command line, quoted for a shell

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

/// Two columns of help: a word, and its meaning.
using HelpRows = std::vector<std::pair<std::string, std::string>>;

struct Command {
  struct Example {
    std::string line, what;
  };
  std::string name;
  std::string summary;              ///< one sentence
  std::vector<std::string> usage;   ///< the arguments after the name
  std::size_t least = 0, most = 0;  ///< number of positionals, without overrides
  /// What messages call the positionals, such as "SCENARIO or PLAN".
  std::string positionals = {};
  std::string names_folder = {};  ///< folder of the bundled documents that a positional may name
  /// Other words that a positional may be, for shell completion.
  std::vector<std::string> (*names)() = nullptr;
  bool overrides = false;  ///< whether it takes KEY=VALUE
  /// Whether all words are positionals, so that no word is read as an option or an override.
  bool verbatim = false;
  std::vector<Option> options = {};
  std::string details = {};        ///< further text of the help, printed as it is
  HelpRows (*listed)() = nullptr;  ///< entries of a catalog, read when help is printed
  std::vector<Example> examples = {};
  int (*run)(const Arguments& arguments) = nullptr;  ///< returns the exit code
  /// Each subcommand of a command has a name like "profile compare". The first word after the command
  /// chooses among them, and the command itself has no `run`.
  const Catalog<Command>& (*subcommands)() = nullptr;
};

const Catalog<Command>& command_catalog();

/// Returns the subcommand that this word chooses, such as "compare". Throws UsageError if there is none.
const Command& subcommand_of(const Command& command, const std::string& word);
/// Returns the words that choose subcommands, such as "compare" for "profile compare".
std::vector<std::string> subcommand_words(const Command& command);

/// Takes apart the words after the subcommand's name. Options may come before or after other words. Throws UsageError
/// for these faults: an unknown option (did you mean), an option given twice, a value that is missing or not among the
/// choices, and too many or too few positionals.
Arguments parse_arguments(const Command& command, const std::vector<std::string>& words);

/// Returns a word of a command line, quoted for a shell if that is necessary.
std::string shell_word(const std::string& word);

/// Return the help of one subcommand, and of the whole program.
std::string help_of(const Command& command);
std::string help_of_program();

/// Runs the whole program. It finds the command, prints errors, and returns the exit code. `words` does not contain
/// argv[0].
int run_command_line(const std::vector<std::string>& words);

}  // namespace sluice
