// The main() of the test program. Code under test may start this program again to do the work of a child process.
#define CATCH_CONFIG_RUNNER
#include "base/processes.hpp"

#include <catch2/catch.hpp>

int main(int count, char** words) {
  sluice::do_work_of_child(count, words);
  sluice::set_child_program("/proc/self/exe");
  return Catch::Session().run(count, words);
}
