// The strategy that takes the place of `optimal` if the question is only whether a plan fits.
#pragma once

#include "fates/strategy.hpp"

namespace sluice {

/// Has the same keys as `optimal`, and searches for any fates that fit, however long the run with them takes. It is not
/// in the catalog: no scenario can name it.
extern const FateStrategy fitting_fates;

}  // namespace sluice
