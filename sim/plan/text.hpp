// The text form of a plan. People and programs can write, read, compare and edit this text. It has one line of
// `key=value` words for each element of the plan. sim/plan/FORMAT.md describes these lines. If a plan is written as
// text and read again, the result is exactly the same plan.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the text of a plan. Throws InternalError when the plan is not lowered.
std::string to_text(const Plan& plan);

/// Returns the plan as CSV with one row per action, for spreadsheets (RFC 4180).
std::string to_csv(const Plan& plan);

/// Reads a plan without checking it (execute/feasibility.hpp checks plans). Throws InputError that names file, line,
/// column, the word, and the allowed words. `name` is the name of the file, for messages.
Plan plan_from_text(std::string_view text, const std::string& name);

/// Reads a plan like plan_from_text(), but without a copy of the text: the plan keeps `source`.
Plan plan_from_source(std::shared_ptr<const Source> source);

/// Returns whether this text begins like a plan (`format: sluice-plan/…`).
bool looks_like_plan(std::string_view text);

}  // namespace sluice
