// The program `sluice`.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/freed_memory.hpp"
#include "base/interrupt.hpp"
#include "base/processes.hpp"
#include "base/version.hpp"
#include "command/command.hpp"
#include "profile/hdf5.hpp"

namespace {

/// If this program is installed, makes it use the models, platforms and scenarios of its installation. For example,
/// PREFIX/bin/sluice uses the folder PREFIX/share/sluice.
void know_installed_documents() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path documents = program.parent_path().parent_path() / "share/sluice";
  if (!error && fs::is_directory(documents / "models", error))
    sluice::set_data_root(documents.string());
}

/// Libraries run code of their own before main(), and may run out of memory in this code. So this function runs even
/// earlier: the functions in the section .preinit_array run before the code of the libraries.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)() = sluice::end_when_memory_is_out;

}  // namespace

int main(int count, char** words) {
  sluice::keep_freed_memory();
  know_installed_documents();
  sluice::know_hdf5_profiles();
  sluice::do_work_of_child(count, words);
  sluice::set_child_program("/proc/self/exe");
  return sluice::run_command_line(std::vector<std::string>(words + 1, words + count));
}
