// The program `sluice`.
#include <string>
#include <vector>

#include "command/command.hpp"

int main(int count, char** words) {
  return sluice::run_command_line(std::vector<std::string>(words + 1, words + count));
}
