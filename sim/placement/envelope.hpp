// The envelope gives the seconds of a kernel whose operands may be partly in slow memory. Linear programmes and prices
// need such a function. It is the greatest convex function that nowhere exceeds the seconds of any placement. For a
// roofline, the envelope lies above the lines of the roofline. With these lines alone, a third of an operand in slow
// memory would cost no time because the FLOP hide it, although the whole operand would cost time.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

struct KernelEnvelope {
  /// The seconds of the kernel for each set of operands in slow memory (bit i stands for operands[i]). It is empty if
  /// the lines are used instead, because there are more than `most_operands` operands or because one line is exact.
  std::vector<double> sets;
  std::vector<std::uint32_t> operands;
  std::vector<KernelTime::Line> lines;  ///< no line is everywhere below another line

  /// The most operands of a roofline for which `sets` is filled.
  static constexpr std::size_t most_operands = 6;
};

KernelEnvelope envelope_of(const PlacementProblem::Kernel& kernel);

/// Returns the highest line that lies below all sets, if an operand of the envelope in slow memory adds its seconds in
/// `charges`. Parameter `count` is the number of the kernel's operands.
KernelTime::Line line_below(const KernelEnvelope& envelope, std::size_t count,
                            const std::vector<double>& charges);

/// The weighted mean of lines. The weights are not negative and not all 0.
KernelTime::Line mean_of(const std::vector<KernelTime::Line>& lines,
                         const std::vector<double>& weights);

}  // namespace sluice
