// Describes how the time and energy of the computation are divided among operators.
#include "study/operators/operators.hpp"
#include <cmath>
#include "base/figures.hpp"

#include "command/run/report.hpp"
#include "command/terminal.hpp"
#include "document/object.hpp"

namespace sluice {
namespace {

constexpr std::size_t most_classes = 4;

OperatorSums sums_of(const Report& report) {
  return operator_sums(*report.question.scenario, report.question.cut, report.plan);
}

std::string shares_text(const OperatorSum& one, const OperatorSum& all) {
  return printable(one.name) + " " + percent(one.seconds / all.seconds) + " of the time and " +
         percent(one.joules / all.joules) + " of the energy";
}

/// Returns whether the energy of the computation differs from seconds x watts. There may be two reasons for a
/// difference: energy was measured, or operators that are limited by memory draw less power.
bool has_own_energy(const OperatorSums& sums) {
  if (!(sums.total.seconds > 0) || !(sums.total.joules > 0)) return false;
  for (const OperatorSum& one : sums.classes)
    if (std::abs(one.joules / sums.total.joules - one.seconds / sums.total.seconds) > 1e-9)
      return true;
  return sums.total.measured_j > 0;
}

Value sum_value(const OperatorSum& one) {
  return object({{"name", json_text(one.name)},
                 {"type", json_text(one.type)},
                 {"seconds", one.seconds},
                 {"joules", one.joules},
                 {"measured_s", one.measured_s},
                 {"measured_j", one.measured_j}});
}

}  // namespace

void add_operators(Rows& rows, const Report& report) {
  if (!report.question.scenario) return;
  const OperatorSums sums = sums_of(report);
  if (!has_own_energy(sums)) return;
  std::string text;
  for (std::size_t c = 0; c < std::min(most_classes, sums.classes.size()); ++c)
    text += (c == 0 ? "" : ", ") + shares_text(sums.classes[c], sums.total);
  if (sums.classes.size() > most_classes)
    text += ", " + std::to_string(sums.classes.size() - most_classes) + " more";
  rows.emplace_back("operators", text);
  if (sums.total.measured_j > 0)
    rows.emplace_back("", percent(sums.total.measured_j / sums.total.joules) +
                              " of the energy above the energy at rest was measured");
}

Value operators_value(const Report& report) {
  if (!report.question.scenario) return Value::make_null();
  const OperatorSums sums = sums_of(report);
  return object(
      {{"seconds", sums.total.seconds},
       {"joules_above_idle", sums.total.joules},
       {"measured_share_of_time",
        sums.total.seconds > 0 ? Item(sums.total.measured_s / sums.total.seconds) : Item(nullptr)},
       {"measured_share_of_energy",
        sums.total.joules > 0 ? Item(sums.total.measured_j / sums.total.joules) : Item(nullptr)},
       {"classes", list_of(sums.classes, sum_value)},
       {"layers", list_of(sums.layers, sum_value)}});
}

}  // namespace sluice
