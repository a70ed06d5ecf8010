// sluice profile merge: several profiles as one, or a table as a profile.
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
                 .summary = "where it goes: CSV, or HDF5 where the name ends in .h5",
                 .absent = "printed as CSV"});
  all.push_back(force_option(Output::document));
  return all;
}

}  // namespace

extern const Command profile_merge_command;
const Command profile_merge_command = {
    .name = "profile merge",
    .summary = "Makes one profile of several, or of tables of other programs.",
    .usage = {"PROFILE... [--map MAP] [--where COLUMN=VALUE] [-o FILE] [--force]"},
    .least = 1,
    .most = 1000,
    .positionals = "PROFILE...",
    .options = options(),
    .details =
        "Rows of the same operator become one: what was measured stands before what is planned or "
        "failed, and of what was measured twice the samples are pooled (where a row has none, n, "
        "mean and standard deviation of both together). The header is the first one's, with the "
        "keys that only others have.\n",
    .examples = {{"sluice profile merge monday.csv tuesday.csv -o both.csv", "one of two"},
                 {"sluice profile merge gemm_a100_sxm_bf16.csv -o gemm.h5",
                  "a table of another program as a profile, in HDF5"}},
    .run = run_merge,
};

}  // namespace sluice
