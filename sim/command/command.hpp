// A subcommand: its record (name, what it is for, how it is called) and its function. One file a
// subcommand, one line in catalog.cpp. Help, parsing and the check of what was given all come from
// the record.
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
  std::string name;                       ///< without the dashes
  char letter = 0;                        ///< the short form; 0: none
  std::string value = {};                 ///< what stands for its value in the help; empty: a flag
  std::string summary;                    ///< a phrase
  std::string absent = {};                ///< what counts when it is not given, for the help
  std::vector<std::string> choices = {};  ///< the values it takes, where they are fixed
  std::vector<std::string> (*names)() = nullptr;  ///< … where a catalog has them
  /// Values that a shell offers, where others are allowed, too; several may stand as A,B,C.
  std::vector<std::string> (*suggested)() = nullptr;
  bool repeated = false;  ///< may be given several times
  bool changes = false;   ///< its value is a KEY=VALUE of the scenario

  std::vector<std::string> allowed() const { return names ? names() : choices; }
};

/// A command line, taken apart and checked against the record.
struct Arguments {
  std::vector<std::string> positionals;
  std::vector<std::string> overrides;  ///< KEY=VALUE, as given
  std::string line;                    ///< the whole command line, quoted for a shell

  bool has(std::string_view option) const { return find(option) != nullptr; }
  /// The option's value, or `absent`.
  std::string text(std::string_view option, std::string absent = {}) const;
  /// All values of an option that may be given several times.
  std::vector<std::string> texts(std::string_view option) const;
  /// Throws UsageError when the value is not an integer in minimum..maximum.
  std::int64_t integer(std::string_view option, std::int64_t absent, std::int64_t minimum,
                       std::int64_t maximum) const;

  struct Given {
    std::string option, value;
  };
  std::vector<Given> given;

 private:
  const Given* find(std::string_view option) const;
};

/// Two columns of help: a word, and what it means.
using HelpRows = std::vector<std::pair<std::string, std::string>>;

struct Command {
  struct Example {
    std::string line, what;
  };
  std::string name;
  std::string summary;              ///< one sentence
  std::vector<std::string> usage;   ///< what follows the name
  std::size_t least = 0, most = 0;  ///< positionals, beside overrides
  std::string positionals = {};     ///< what they are, for messages: "SCENARIO or PLAN"
  std::string names_folder = {};    ///< bundled documents that a positional may be a name of
  std::vector<std::string> (*names)() = nullptr;  ///< other words that it may be, for a shell
  bool overrides = false;                         ///< takes KEY=VALUE
  bool verbatim = false;                          ///< takes all words as positionals, as they are
  std::vector<Option> options = {};
  std::string details = {};        ///< more of the help, as it is printed
  HelpRows (*listed)() = nullptr;  ///< … and what a catalog has, asked for when help is printed
  std::vector<Example> examples = {};
  int (*run)(const Arguments& arguments) = nullptr;  ///< returns the exit code
  /// Where it has some, each named "profile compare": the first word says which of them is meant,
  /// and there is no `run`.
  const Catalog<Command>& (*subcommands)() = nullptr;
};

const Catalog<Command>& command_catalog();

/// The subcommand of that word ("compare"). Throws UsageError: there is none.
const Command& subcommand_of(const Command& command, const std::string& word);
/// "compare", of "profile compare".
std::vector<std::string> subcommand_words(const Command& command);

/// Takes apart what follows the subcommand's name. Options stand before or after what they are not.
/// Throws UsageError: unknown option (did you mean), one given twice, a value that is missing or
/// not one of the choices, too many or too few positionals.
Arguments parse_arguments(const Command& command, const std::vector<std::string>& words);

/// A word of a command line, quoted for a shell where it has to be.
std::string shell_word(const std::string& word);

/// The help of one subcommand, and of the whole program.
std::string help_of(const Command& command);
std::string help_of_program();

/// The whole program: dispatches, prints errors, returns the exit code. `words` without argv[0].
int run_command_line(const std::vector<std::string>& words);

}  // namespace sluice
