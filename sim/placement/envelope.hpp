// The envelope gives the seconds of a kernel whose operands may be partly in slow memory, for linear programmes and
// prices. It is the greatest convex function that nowhere exceeds the seconds of any placement. For a roofline, this
// function lies above the lines themselves. With the lines alone, a third of an operand in slow memory would be free
// because the FLOP hide it, although the whole operand would not be free.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

struct KernelEnvelope {
  /// The seconds of each set of operands in slow memory (bit i: operands[i]). It is empty if so many operands matter
  /// that the lines are used instead, or if one line is exact.
  std::vector<double> sets;
  std::vector<std::uint32_t> operands;
  std::vector<KernelTime::Line> lines;  ///< no line is below another one everywhere

  /// The most operands of a roofline for which `sets` is filled.
  static constexpr std::size_t most_operands = 6;
};

KernelEnvelope envelope_of(const PlacementProblem::Kernel& kernel);

/// Returns the highest line that lies below all sets and adds these seconds for each of the envelope's operands in slow
/// memory. `count`: the number of the kernel's operands.
KernelTime::Line line_below(const KernelEnvelope& envelope, std::size_t count,
                            const std::vector<double>& charges);

/// The weighted mean of lines. The weights are not negative and not all 0.
KernelTime::Line mean_of(const std::vector<KernelTime::Line>& lines,
                         const std::vector<double>& weights);

}  // namespace sluice
