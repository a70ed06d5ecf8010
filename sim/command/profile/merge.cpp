// The command `sluice profile merge` joins several profiles into one profile, or turns a table into a profile.
#include "profile/merge.hpp"
#include "command/output.hpp"
#include "command/profile/subcommands.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

int run_merge(const Arguments& arguments) {
  std::vector<Profile> profiles;
  std::size_t read = 0;
  for (const std::string& path : arguments.positionals) {
    profiles.push_back(read_profile(arguments, path));
    read += profiles.back().rows.size();
  }
  const Profile all = merged(profiles);
  if (!arguments.has("output")) {
    print(profile_text(all));
    return 0;
  }
  const std::string path = arguments.text("output");
  refuse_to_replace(arguments, path, Output::document);
  write_profile(all, path);
  message("sluice: wrote '" + path + "': " + std::to_string(all.rows.size()) + " rows of the " +
          std::to_string(read) + " that were read");
  return 0;
}

std::vector<Option> options() {
  std::vector<Option> all = reading_options();
  all.push_back({.name = "output",
                 .letter = 'o',
                 .value = "FILE",
                 .summary = "the file to write: HDF5 if its name ends in .h5, and CSV otherwise",
                 .absent = "printed as CSV"});
  all.push_back(force_option(Output::document));
  return all;
}

}  // namespace

extern const Command profile_merge_command = {
    .name = "profile merge",
    .summary = "Makes one profile from several profiles, or from tables of other programs.",
    .usage = {"PROFILE... [--map MAP] [--where COLUMN=VALUE] [-o FILE] [--force]"},
    .least = 1,
    .most = 1000,
    .positionals = "PROFILE...",
    .options = options(),
    .details =
        "Two rows for one operator become one row. A measured row replaces a planned or failed row. "
        "If each of the two rows was measured, their samples are pooled. If one of the rows has no samples, the "
        "numbers n, mean and standard deviation of the two rows are combined. The header has the keys of the first "
        "profile, and those keys of the other profiles that the first profile lacks.\n",
    .examples = {{"sluice profile merge monday.csv tuesday.csv -o both.csv",
                  "one profile from two"},
                 {"sluice profile merge gemm_a100_sxm_bf16.csv -o gemm.h5",
                  "a table of another program as a profile, in HDF5"}},
    .run = run_merge,
};

}  // namespace sluice
