// What is said about a run beside its numbers, as JSON: what was asked, how certain the answer is,
// and what it should not leave unsaid. `sluice run --json`, traces and Python take it from here.
#pragma once

#include <string>
#include <vector>

#include "document/value.hpp"
#include "study/answer/asked.hpp"
#include "study/answer/note.hpp"

namespace sluice {

/// {measured, sourced, assumed, figures, text}.
Value certainty_value(const Certainty& certainty);
/// [{name, text}].
Value notes_value(const std::vector<GivenNote>& notes);

/// {asked, certainty, notes} in one line.
std::string answer_json(const Scenario& scenario, const Summary& summary,
                        const std::vector<GivenNote>& notes);

}  // namespace sluice
