// The program `sluice`.
#include <string>
#include <vector>

#include "command/command.hpp"
#include "profile/hdf5.hpp"

int main(int count, char** words) {
  sluice::know_hdf5_profiles();
  return sluice::run_command_line(std::vector<std::string>(words + 1, words + count));
}
