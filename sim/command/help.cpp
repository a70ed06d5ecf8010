// Help, made from the records of the subcommands.
#include "command/command.hpp"
#include "command/table.hpp"

namespace sluice {
namespace {

constexpr std::string_view exit_codes =
    "Exit codes:\n"
    "  0 ok   1 a check failed   2 usage   3 invalid input   4 infeasible: it does not fit, or\n"
    "  blocks for ever   5 input/output   70 a fault of Sluice   130, 143 interrupted\n";

/// What does not fit in 100 columns goes on below.
std::string rows(const HelpRows& entries) {
  return rows_text(entries, {.indent = "  ", .page = 100});
}

std::string option_words(const Option& option) {
  return (option.letter ? std::string("-") + option.letter + ", " : std::string("    ")) + "--" +
         option.name + (option.value.empty() ? "" : " " + option.value);
}

std::string option_help(const Option& option) {
  std::string text = option.summary;
  const std::vector<std::string> choices = option.allowed();
  if (!choices.empty()) text += " (" + join(choices) + ")";
  if (!option.absent.empty()) text += " [" + option.absent + "]";
  return text;
}

}  // namespace

std::string help_of(const Command& command) {
  std::string text = "sluice " + command.name + ": " + command.summary + "\n\nUsage:\n";
  for (const std::string& usage : command.usage)
    text += "  sluice " + command.name + (usage.empty() ? "" : " " + usage) + "\n";
  if (!command.details.empty()) text += "\n" + command.details;
  if (command.listed) text += rows(command.listed());
  HelpRows options;
  for (const Option& option : command.options)
    options.emplace_back(option_words(option), option_help(option));
  options.emplace_back("-h, --help", "print this");
  text += "\nOptions:\n" + rows(options);
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const Command::Example& example : command.examples)
    text += "  " + example.line + "\n      " + example.what + "\n";
  return text + "\n" + std::string(exit_codes);
}

std::string help_of_program() {
  HelpRows commands;
  for (const Command* command : command_catalog().entries())
    commands.emplace_back(command->name, command->summary);
  commands.emplace_back("help", "Prints the help of a command: sluice help run.");
  return "sluice simulates neural networks on machines whose memory is too small: does it fit, "
         "what\n"
         "should stay on the device, and where do the time, the bytes and the joules go?\n\n"
         "Usage:\n  sluice COMMAND [ARGUMENT...]\n\nCommands:\n" +
         rows(commands) + "\nOptions:\n" +
         rows({{"-h, --help", "print this"}, {"    --version", "print the version"}}) +
         "\nExamples:\n"
         "  sluice run scenarios/alexnet_x200.yaml\n"
         "  sluice run scenarios/alexnet_x200.yaml policy.overlap=false -o trace.h5\n"
         "  sluice show trace.h5\n\n" +
         std::string(exit_codes);
}

}  // namespace sluice
