// The actions that the policy `phased` lists for each phase, and the waits between phases
// (phases.hpp). Only files of this folder include this header.
#pragma once

#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/phased/phases.hpp"

namespace sluice {

/// The actions that are listed for one phase.
struct ListedPhase {
  struct Gate {  ///< an action of `distance` iterations ago that must have ended
    PlanBuilder::Ref ref;
    std::uint32_t distance;
  };
  PlanBuilder::Ref first, last;  ///< the first and the last computation
  /// The saves of this phase's results, which are listed in the next phase.
  std::vector<PlanBuilder::Ref> saves;
  /// The first load and the last load of this phase on each copy engine.
  std::vector<PlanBuilder::Ref> first_loads, last_loads;
  std::vector<Gate> saves_before;  ///< the saves that must have arrived before this phase starts
};

/// The phases of one window: of an iteration of the body, or of the units after the body.
struct PhaseWindow {
  std::vector<Phase> phases;
  std::string suffix;               ///< the suffix of the names of this window's tensors
  std::vector<ListedPhase> listed;  ///< one per phase
  /// The saves that this window lists for results of the previous window.
  std::vector<PlanBuilder::Ref> carried;

  /// Returns whether the next phase needs the results of phase p. If so, each result is saved as soon as it is made.
  bool followed_at_once(std::size_t p) const;
};

/// Makes each phase wait for the computations of the previous phase, its own loads, and the earlier saves of its
/// device. `before` is the previous window. In the body, `before` and `window` are the same: the previous iteration
/// comes before this iteration.
void add_phase_waits(PlanBuilder& builder, const PhaseRules& rules, PhaseWindow& window,
                     const PhaseWindow& before);

}  // namespace sluice
