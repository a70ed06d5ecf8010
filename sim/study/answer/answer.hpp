// The parts of an answer that are not numbers, as JSON. These parts are the question, the certainty of the answer, and
// notes that warn of wrong conclusions. `sluice run --json` prints them, traces store them, and Python reads them.
#pragma once

#include <string>
#include <vector>

#include "document/value.hpp"
#include "study/answer/asked.hpp"
#include "study/answer/note.hpp"

namespace sluice {

/// Returns a mapping with the keys measured, sourced, assumed, figures and text.
Value certainty_value(const Certainty& certainty);
/// Returns a list with one mapping {name, text} per note.
Value notes_value(const std::vector<GivenNote>& notes);

/// Returns a mapping with the keys asked, certainty and notes, as JSON in one line.
std::string answer_json(const Scenario& scenario, const Summary& summary,
                        const std::vector<GivenNote>& notes);

}  // namespace sluice
