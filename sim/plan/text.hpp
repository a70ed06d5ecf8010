// The text form of a plan. It can be written, read, compared and edited. Each thing has one line of
// `key=value` words, which sim/plan/FORMAT.md describes. A text that is written and read again gives exactly
// the same plan.
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

/// Reads a plan without checking it (execute/feasibility.hpp checks it). Throws InputError with file, line, column, the
/// word, and what was allowed. `name` is the name of the file, for messages.
Plan plan_from_text(std::string_view text, const std::string& name);

/// Does the same as plan_from_text for a text that is in memory already. The plan keeps the text.
Plan plan_from_source(std::shared_ptr<const Source> source);

/// Whether this text begins like a plan (`format: sluice-plan/…`).
bool looks_like_plan(std::string_view text);

}  // namespace sluice
