// The only user of NLopt: two of its methods that ask for numbers only, no derivatives, and whose
// path is the same every time.
// Sources: S. G. Johnson, The NLopt nonlinear-optimization package; J. M. Gablonsky and C. T.
// Kelley, A locally-biased form of the DIRECT algorithm, J. Global Optimization 21 (2001), 27-37;
// T. H. Rowan, Functional Stability Analysis of Numerical Algorithms (1990), which is Subplex.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace sluice {

/// A place in the unit cube: each number is from 0 to 1.
using CubePlace = std::vector<double>;
/// Less is better; infinity: there is no number here. What it throws ends the method, and is thrown
/// on.
using Score = std::function<double(const CubePlace& at)>;

/// DIRECT, biased to good regions: cuts the cube into ever smaller boxes, the promising ones first.
/// Ends after so many calls.
void divide_cube(std::size_t dimensions, std::size_t most_calls, const Score& score);

/// Subplex, as NLopt has it: walks downhill from a place, and stays in the cube. Only which of two
/// scores is less counts, so steps and cliffs do no harm. Ends where it moves less than
/// `tolerance`, or after so many calls.
void walk_downhill(const CubePlace& from, double first_step, double tolerance,
                   std::size_t most_calls, const Score& score);

}  // namespace sluice
