// The judge for a search whose result cannot take fewer seconds than a known number.
#pragma once

#include <vector>

#include "planning/candidate.hpp"

namespace sluice {

/// Does what judge() does. No way takes less than `at_least` seconds. So a way that takes these seconds is the fastest. The
/// function ends when it finds such a way, and then there may be no runner-up.
Judgement judge_until(std::vector<Candidate> candidates, double worth, double at_least);

}  // namespace sluice
