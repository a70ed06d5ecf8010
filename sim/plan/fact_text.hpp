// Writes and reads facts as lines of a plan's text. Examples of such lines: `fact chosen_s 6.57 unit=s`, `fact chosen
// "in_flight: 2" replica=gpu0`, `fact devices list=gpu0,gpu1`, `fact weight_passes 2 of=0`.
#pragma once

#include <string>
#include <vector>

#include "plan/fact.hpp"
#include "plan/words.hpp"

namespace sluice {

/// Returns the fact as one line of text, without a line break at its end. If the value is a number, it is written
/// without quotes. If the value is a text that looks like a number, it is written in quotes.
std::string fact_line(const Fact& fact);

/// Reads a fact from the words of its line. Throws InputError at a faulty word.
Fact read_fact(const PlanLine& line, const std::vector<Word>& words);

}  // namespace sluice
