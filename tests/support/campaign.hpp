// Property tests have the tag [property]. They try random cases from fixed seeds. A run of all tests tries a few cases.
// A longer run (./dev properties) sets SLUICE_CAMPAIGN=N and tries N times as many cases: first the same seeds, and
// then further seeds.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace sluice::test {

/// Returns the factor by which tests multiply their usual number of cases. This is the environment variable
/// SLUICE_CAMPAIGN, or 1 if the variable is not set. Throws runtime_error if the variable is not an integer from 1 to
/// 1000000.
inline int campaign_factor() {
  const char* const text = std::getenv("SLUICE_CAMPAIGN");
  if (!text) return 1;
  char* end = nullptr;
  const long factor = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || factor < 1 || factor > 1'000'000)
    throw std::runtime_error("SLUICE_CAMPAIGN is '" + std::string(text) +
                             "'; expected an integer from 1 to 1000000");
  return static_cast<int>(factor);
}

/// Returns the number of cases that a test tries: `usual`, times the factor of SLUICE_CAMPAIGN.
template <class Count>
Count cases_of(Count usual) {
  return usual * static_cast<Count>(campaign_factor());
}

/// Returns the number of cases of a test that takes long: `few` in a run of all tests, and otherwise `usual`, times the
/// factor of SLUICE_CAMPAIGN.
template <class Count>
Count cases_of(Count few, Count usual) {
  return campaign_factor() == 1 ? few : cases_of(usual);
}

}  // namespace sluice::test
