// Makes the help from the records of the commands.
#include <algorithm>

#include "command/command.hpp"
#include "command/table.hpp"

namespace sluice {
namespace {

constexpr std::string_view exit_codes =
    "Exit codes:\n"
    "  0  ok                    1  a check failed          2  usage\n"
    "  3  invalid input         5  input/output            70  a fault of Sluice\n"
    "  4  infeasible: too little memory, or a deadlock     130, 143  interrupted\n";

constexpr std::size_t widest = 80;

std::size_t page() {
  const std::size_t width = page_width();
  return width == 0 ? widest : std::min(width, widest);
}

/// Formats two columns. A text that does not fit into one line continues in the next line.
std::string rows(const HelpRows& entries) {
  return rows_text(entries, {.indent = "  ", .page = page()});
}

/// Replaces each sequence of blanks and ends of lines by a single blank.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (blank && !line.empty() && line.back() == ' ') continue;
    line += blank ? ' ' : c;
  }
  return line;
}

/// Formats a line of usage. Words that do not fit are put into the next line, which is indented by the width of the
/// command's name. Words in brackets stay together.
std::string usage_line(const std::string& command, const std::string& usage) {
  const std::string head = "  sluice " + command + (usage.empty() ? "" : " ");
  constexpr char unbroken = '\1';
  std::string line = in_one_line(usage);
  int depth = 0;
  for (char& c : line) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ' ' && depth > 0) c = unbroken;
  }
  std::string text, begin = head;
  for (std::string part : broken(line, page() - head.size())) {
    std::replace(part.begin(), part.end(), unbroken, ' ');
    text += begin + part + "\n";
    begin = std::string(head.size(), ' ');
  }
  return text;
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

HelpRows subcommand_rows(const Command& command) {
  HelpRows rows;
  for (const std::string& word : subcommand_words(command))
    rows.emplace_back(word, subcommand_of(command, word).summary);
  return rows;
}

}  // namespace

std::string help_of(const Command& command) {
  std::string text =
      folded("sluice " + command.name + ": " + command.summary, page()) + "\nUsage:\n";
  for (const std::string& usage : command.usage) text += usage_line(command.name, usage);
  if (command.subcommands) text += "\nSubcommands:\n" + rows(subcommand_rows(command));
  if (!command.details.empty()) text += "\n" + reflowed(command.details, page());
  if (command.listed) text += rows(command.listed());
  HelpRows options;
  for (const Option& option : command.options)
    options.emplace_back(option_words(option), option_help(option));
  options.emplace_back("-h, --help", "print this help");
  text += "\nOptions:\n" + rows(options);
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const Command::Example& example : command.examples)
    text += folded("  " + example.line, page()) + folded("      " + example.what, page());
  return text + "\n" + folded(exit_codes, page());
}

std::string help_of_program() {
  HelpRows commands;
  for (const Command* command : command_catalog().entries())
    commands.emplace_back(command->name, command->summary);
  commands.emplace_back("help", "Prints the help of a command: sluice help run.");
  return folded(
             "Sluice simulates neural networks on machines whose memory is too small: does the network fit, what "
             "should stay on the device, and where do the time, the bytes and the joules go?\n",
             page()) +
         "\nUsage:\n  sluice COMMAND [ARGUMENT...]\n\nCommands:\n" + rows(commands) +
         "\nOptions:\n" +
         rows({{"-h, --help", "print this help"}, {"-V, --version", "print the version"}}) +
         "\nExamples:\n"
         "  sluice run alexnet_x200\n"
         "  sluice run alexnet_x200 policy.overlap=false -o trace.h5\n"
         "  sluice show trace.h5\n\n" +
         folded(exit_codes, page());
}

}  // namespace sluice
