// Functions that the subcommands of `sluice profile` share. Each subcommand has a line in profile.cpp, and a file in
// this folder. The file has a record of the type Command.
#pragma once

#include <string>
#include <vector>

#include "command/command.hpp"
#include "profile/profile.hpp"

namespace sluice {

const Catalog<Command>& profile_subcommands();

/// Returns the options --map and --where. --map maps the columns of a table to columns of a profile. --where chooses
/// rows.
std::vector<Option> reading_options();
/// Reads a profile with the options of reading_options(). Throws InputError, IoError and UsageError.
Profile read_profile(const Arguments& arguments, const std::string& path);

/// Returns the options --batch, --dtype and --mode. These options select the batch, the dtype and the passes of a
/// model's operators.
std::vector<Option> operator_options(const std::string& batch_summary,
                                     const std::string& batch_absent,
                                     const std::string& dtype_absent = "float32");
/// Returns the passes that --mode selects.
std::vector<std::string> passes_of(const Arguments& arguments);

/// Returns the value of an option such as "5%". Throws UsageError if the value is not from 0 to 1.
double share_option(const Arguments& arguments, const std::string& option, double absent);

/// Returns the text of a table's cell: the quantity with its unit, or a dash if there is no quantity.
std::string seconds_cell(const std::optional<double>& seconds);
std::string joules_cell(const std::optional<double>& joules);

}  // namespace sluice
