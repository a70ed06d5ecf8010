// Notes say what an answer should not leave unsaid, because its reader would draw a wrong
// conclusion. Each note has one file under notes/; catalog.cpp lists them.
#pragma once

#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "plan/plan.hpp"
#include "scenario/scenario.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// A question with its answer. The plan must be lowered.
struct Answered {
  const Scenario& scenario;
  const Plan& plan;
  const Summary& summary;
};

struct Note {
  std::string name;
  std::string summary;  ///< one sentence: what it tells, and when
  std::string source;   ///< what shows that it is worth telling
  /// Returns full sentences that say what to do; empty: there is nothing to say.
  std::string (*text)(const Answered& answered);
};

const Catalog<Note>& note_catalog();

struct GivenNote {
  std::string name, text;
};
/// The notes that have something to say, in the order of the catalog.
std::vector<GivenNote> notes_of(const Answered& answered);

}  // namespace sluice
