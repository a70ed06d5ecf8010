// The actions that policy phased lists for each phase, and the waits between phases. Only this
// folder includes it.
#pragma once

#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/phased/phases.hpp"

namespace sluice {

/// The actions that are listed for one phase.
struct ListedPhase {
  struct Gate {  ///< an action to wait for, `distance` iterations ago
    PlanBuilder::Ref ref;
    std::uint32_t distance;
  };
  PlanBuilder::Ref first, last;                           ///< computations
  std::vector<PlanBuilder::Ref> saves;                    ///< its device's I/O in the next phase
  std::vector<PlanBuilder::Ref> first_loads, last_loads;  ///< before it: one per copy engine
  std::vector<Gate> saves_before;                         ///< must be saved before it
};

/// The phases of a section: an iteration of the body, or the steps that remain after the body.
struct PhaseWindow {
  std::vector<Phase> phases;
  std::string suffix;                     ///< of the names of its tensors
  std::vector<ListedPhase> listed;        ///< one per phase
  std::vector<PlanBuilder::Ref> carried;  ///< saves of the previous window in this window

  /// Whether the next phase needs what phase p makes. Then each activation is saved as soon as it
  /// is made.
  bool followed_at_once(std::size_t p) const;
};

/// Makes phase p start after all computations of the previous phase and after its own I/O. This I/O is its loads, and
/// the saves that its device still has to make. `before` is the previous window. In the body, it is the same window,
/// one iteration ago.
void add_phase_waits(PlanBuilder& builder, const PhaseRules& rules, PhaseWindow& window,
                     const PhaseWindow& before);

}  // namespace sluice
