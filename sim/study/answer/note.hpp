// Notes: what an answer should not leave unsaid, because its reader would draw the wrong
// conclusion. One file a note under notes/; catalog.cpp lists them.
#pragma once

#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "plan/plan.hpp"
#include "scenario/scenario.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// A question with its answer. The plan is lowered.
struct Answered {
  const Scenario& scenario;
  const Plan& plan;
  const Summary& summary;
};

struct Note {
  std::string name;
  std::string summary;  ///< one sentence: what it tells, and when
  std::string source;   ///< what shows that it is worth telling
  /// Full sentences, with what to do; empty: there is nothing to tell.
  std::string (*text)(const Answered& answered);
};

const Catalog<Note>& note_catalog();

struct Told {
  std::string name, text;
};
/// Those that have something to tell, in the order of the catalog.
std::vector<Told> notes_of(const Answered& answered);

}  // namespace sluice
