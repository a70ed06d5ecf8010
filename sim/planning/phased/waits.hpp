// The actions that the policy `phased` lists for each phase (phases.hpp), and the waits between the
// phases. Only files of this folder include this header.
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
  /// The first and the last computation. An idle phase has no first computation, and ends when the phase before it ends.
  PlanBuilder::Ref first, last;
  /// The saves of this phase's results, which are listed in the next phase.
  std::vector<PlanBuilder::Ref> saves;
  /// For each copy engine: the first load of this phase, and the last load of this phase.
  std::vector<PlanBuilder::Ref> first_loads, last_loads;
  std::vector<Gate> saves_before;  ///< the saves that must have arrived before this phase starts

  bool is_idle() const { return !first; }
};

/// A window: the phases of one iteration of the body, or of the units after the body.
struct PhaseWindow {
  std::vector<Phase> phases;
  std::string suffix;               ///< the suffix of the names of this window's tensors
  std::vector<ListedPhase> listed;  ///< one per phase
  /// The saves that are listed in this window, for results of the previous window.
  std::vector<PlanBuilder::Ref> carried;

  /// Returns whether the next phase of the window needs the results of phase p. If so, each of
  /// these results is saved as soon as it has been made.
  bool followed_at_once(std::size_t p) const;
};

/// Adds the waits between phases. Each phase waits for the computations of the phase before, for
/// its own loads, and for earlier saves of its device. `before` is the window before `window`. In
/// the body, the two are the same object, because an iteration follows another iteration with the
/// same phases.
void add_phase_waits(PlanBuilder& builder, const PhaseRules& rules, PhaseWindow& window,
                     const PhaseWindow& before);

}  // namespace sluice
