// The passes of a long batch that the program of a training step leaves out, because they equal passes in its middle
// (StepShape::more_passes).
#pragma once

#include <cstdint>
#include <vector>

#include "planning/program.hpp"
#include "planning/slots/load_places.hpp"

namespace sluice {

struct LeftOutPasses {
  std::int64_t pass = 0;            ///< the number of operations of a pass
  std::int64_t begin = 0, end = 0;  ///< the equal passes are the operations from `begin` to `end`
  std::int64_t times = 0;  ///< how many times as many passes are left out; 0 if none is left out

  /// An operation depends only on operations of its own pass and of this many passes before it.
  static constexpr std::int64_t reach = 2;

  /// Returns whether a load with this place must wait for the operation LoadPlace::after. If this operation is earlier,
  /// the plan does not say so.
  bool waits(const Program::Load& load, const LoadPlace& place) const {
    return times == 0 || place.after >= load.needed - reach * pass;
  }
  /// Returns whether only two passes are equal, and a load of them waits for an operation before both. Then their plans
  /// differ, even if the load has the same place in both.
  bool waits_too_long(const std::vector<Program::Load>& loads) const;
  /// Returns whether the plans of all equal passes are certainly alike, and list loads at these places. For this, the
  /// loads of all equal passes must have the same places in their passes, and each comes less than a pass early. This
  /// must also hold for each load of later operations that is listed before the end of the equal passes. Otherwise, such
  /// as for an optimizer state that is loaded early, it would occupy its stream only once, but count each time that the
  /// passes are repeated. `loads` are in the order in which operations need them.
  bool repeat(const std::vector<Program::Load>& loads, const std::vector<LoadPlace>& places) const;
};

LeftOutPasses left_out_passes(const Program& step);

/// Returns the index of the first of these loads that operation `operation` or a later one needs.
std::size_t first_needed_from(const std::vector<Program::Load>& loads, std::int64_t operation);

}  // namespace sluice
