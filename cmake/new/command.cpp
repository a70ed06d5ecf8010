#include "command/command.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

int run(const Arguments& arguments) {
  for (const std::string& word : arguments.positionals) print(word + "\n");
  return 0;
}

}  // namespace

extern const Command example_command;
const Command example_command = {
    .name = "example",
    .summary = "",
    .usage = {"[WORD]"},
    .least = 0,
    .most = 1,
    .positionals = "WORD",
    .examples = {{"sluice example word", "prints the word"}},
    .run = run,
};

}  // namespace sluice
