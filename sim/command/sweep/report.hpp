// Makes the answer of `sluice sweep`: a table with findings below it, CSV, or JSON.
#pragma once

#include <string>
#include <vector>

#include "command/table.hpp"
#include "document/value.hpp"
#include "study/sweep/sweep.hpp"

namespace sluice {

struct SweepReport {
  const std::string& scenario;  ///< name of the scenario
  const Points& points;
  const SweepResult& result;
  /// The names of the table's columns, as NumberName::text() gives them. The first column decides which point is best.
  std::vector<std::string> metrics;
};

std::string sweep_text(const SweepReport& report);
/// Prints all points with all numbers as CSV. The text is printed in pieces, because the whole text may not fit into
/// memory.
void print_sweep_csv(const SweepReport& report);
void print_sweep_json(const SweepReport& report);
/// Prints all points with all numbers as JSON. The entries of `head` come before "units" and "points".
void print_points_json(const SweepReport& report, const Value& head);

/// Adds a line for each reason why points have no numbers.
void add_refusals(LabelledRows& rows, const SweepReport& report);
std::string plural(std::size_t count, const std::string& word);

}  // namespace sluice
