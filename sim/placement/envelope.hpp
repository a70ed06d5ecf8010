// The envelope gives the seconds of a kernel when parts of its operands are in slow memory. Linear programmes and
// prices need this function. The envelope is the greatest convex function that does not exceed the kernel's seconds
// for any placement. The lines of a roofline alone would be too low. For example, the FLOP of a kernel may take
// longer than its bytes. By the lines, a third of an operand in slow memory may then cost no time. The whole operand
// costs time. The envelope lies above these lines.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

struct KernelEnvelope {
  /// The seconds of the kernel for each set of operands in slow memory. Bit i of the index stands for operands[i].
  /// `sets` is empty if there are more than `most_operands` operands, or if one line is exact. Then `lines` is used.
  std::vector<double> sets;
  std::vector<std::uint32_t> operands;
  std::vector<KernelTime::Line> lines;  ///< none of these lines is everywhere below another line

  /// The most operands of a roofline for which `sets` is filled.
  static constexpr std::size_t most_operands = 6;
};

KernelEnvelope envelope_of(const PlacementProblem::Kernel& kernel);

/// Returns a line in which operands[i] adds charges[i] seconds in slow memory. The line is as high as the seconds of
/// all sets allow. Parameter `count` is the kernel's number of operands.
KernelTime::Line line_below(const KernelEnvelope& envelope, std::size_t count,
                            const std::vector<double>& charges);

/// Returns the weighted mean of lines. No weight is negative, and at least one is above 0.
KernelTime::Line mean_of(const std::vector<KernelTime::Line>& lines,
                         const std::vector<double>& weights);

}  // namespace sluice
