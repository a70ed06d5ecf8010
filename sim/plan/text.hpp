// The text form of a plan. People and programs can write, read, compare and edit this text. The text has a line for
// each element of the plan. A line consists mostly of `key=value` words. sim/plan/FORMAT.md describes the lines. If a
// plan is written as text and read again, the result is exactly the same plan.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the text of a plan. Throws InternalError if the plan's actions have no seconds and routes yet: lower() must
/// have added them (planning/lower.hpp).
std::string to_text(const Plan& plan);

/// Returns the plan as CSV (RFC 4180), for spreadsheets. Each action has a row.
std::string to_csv(const Plan& plan);

/// Reads a plan. Does not check it: execute/feasibility.hpp checks plans. At a fault, throws InputError: the message
/// names the file, the line, the column, the word, and the allowed words. `name` is the name of the file, for messages.
Plan plan_from_text(std::string_view text, const std::string& name);

/// Reads a plan in the same way as plan_from_text(), but does not copy the text: the plan keeps `source`.
Plan plan_from_source(std::shared_ptr<const Source> source);

/// Returns whether this text begins like the text of a plan: with `format: sluice-plan`.
bool looks_like_plan(std::string_view text);

}  // namespace sluice
