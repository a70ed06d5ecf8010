// Notes tell what the reader of an answer must know to avoid a wrong conclusion. Each note has one file under notes/.
// catalog.cpp lists the notes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "plan/plan.hpp"
#include "scenario/scenario.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// A question with its answer. The actions of the plan must have seconds and routes.
struct AnsweredScenario {
  const Scenario& scenario;
  const Plan& plan;
  const Summary& summary;
  /// The cut of the plan, if the scenario leaves the cut open.
  const std::optional<Chosen<Cut>>& cut;
};

struct Note {
  std::string name;
  /// One or two sentences that say what the note tells, and which answers have the note.
  std::string summary;
  std::string source;  ///< the observation that shows why the note is needed
  /// Returns the note for this answer: full sentences that also say what to do. If the note does not apply, returns "".
  std::string (*text)(const AnsweredScenario& answered);
};

const Catalog<Note>& note_catalog();

struct GivenNote {
  std::string name, text;
};
/// Returns the notes that apply, in the order of the catalog.
std::vector<GivenNote> notes_of(const AnsweredScenario& answered);

}  // namespace sluice
