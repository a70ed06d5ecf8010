// The actions that policy phased lists for each phase, and the waits between phases. Internal to
// it.
#pragma once

#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "policy/phased/phases.hpp"

namespace sluice {

/// What is listed for one phase.
struct ListedPhase {
  struct Gate {  ///< something to wait for, as of `distance` iterations ago
    PlanBuilder::Ref ref;
    std::uint32_t distance;
  };
  PlanBuilder::Ref first, last;                           ///< computations
  std::vector<PlanBuilder::Ref> saves;                    ///< the device's I/O in the next phase
  std::vector<PlanBuilder::Ref> first_loads, last_loads;  ///< before it: one a copy engine
  std::vector<Gate> saves_before;                         ///< what must be saved before it
};

/// The phases of a section: an iteration of the body, or the steps that remain after it.
struct PhaseWindow {
  std::vector<Phase> phases;
  std::string suffix;                     ///< of its tensors' names
  std::vector<ListedPhase> listed;        ///< of each phase
  std::vector<PlanBuilder::Ref> carried;  ///< saves of the window before, in this one

  /// Whether the next phase needs what phase p makes. Then its activations are saved as they are
  /// made.
  bool followed_at_once(std::size_t p) const;
};

/// Phase p starts after everything of the phase before has been computed and after its own I/O,
/// which is its loads and what its device still had to save. `before` is the window before: in the
/// body it is the window itself, an iteration ago.
void add_phase_waits(PlanBuilder& builder, const PhaseRules& rules, PhaseWindow& window,
                     const PhaseWindow& before);

}  // namespace sluice
