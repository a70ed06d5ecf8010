// Two methods of NLopt that look for the point with the smallest score. Both methods need only the scores of points,
// and no derivatives. Both are deterministic. The sources are: S. G. Johnson, The NLopt nonlinear-optimization package;
// J. M. Gablonsky and C. T. Kelley, A locally-biased form of the DIRECT algorithm, J. Global Optimization 21 (2001),
// 27-37; T. H. Rowan, Functional Stability Analysis of Numerical Algorithms (1990), which introduces Subplex.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace sluice {

/// A point of the unit cube: each number is between 0 and 1.
using CubePlace = std::vector<double>;
/// Returns the score of a point. A smaller score is better, and a score may be infinite. If this function throws an
/// exception, the method ends and throws the same exception.
using Score = std::function<double(const CubePlace& at)>;

/// Runs the locally biased form of DIRECT. DIRECT divides the cube into smaller and smaller boxes, and divides
/// promising boxes first. It ends after `most_calls` calls of the score.
void divide_cube(std::size_t dimensions, std::size_t most_calls, const Score& score);

/// Runs Subplex as NLopt implements it. Subplex walks downhill from a point and stays in the cube. Subplex only
/// compares scores. So it also works with functions that are not continuous. The walk ends when its steps have become
/// shorter than `tolerance`, or after `most_calls` calls of the score.
void walk_downhill(const CubePlace& from, double first_step, double tolerance,
                   std::size_t most_calls, const Score& score);

}  // namespace sluice
