// What `sluice sweep` answers: a table with its findings, CSV, or JSON.
#pragma once

#include <string>
#include <vector>

#include "study/sweep/sweep.hpp"

namespace sluice {

struct SweepReport {
  const std::string& scenario;  ///< its name
  const Points& points;
  const SweepResult& result;
  std::vector<std::string> metrics;  ///< the columns of the table; the first names the best point
};

std::string sweep_text(const SweepReport& report);
/// Prints all points with all numbers; piece by piece, since they may be many.
void print_sweep_csv(const SweepReport& report);
void print_sweep_json(const SweepReport& report);

}  // namespace sluice
