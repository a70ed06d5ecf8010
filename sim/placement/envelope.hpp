// The seconds of a kernel where its operands may lie partly in slow memory, as linear programmes
// and prices see them: the greatest convex function that is nowhere above them. Of a roofline it is
// above the lines themselves: a third of an operand in slow memory is not free because all of it
// costs more than the FLOP take.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

struct KernelEnvelope {
  /// Of the operands whose place counts, in slow memory (bit i: operands[i]). Empty: so many
  /// operands count that the lines stand for them; or one line says all.
  std::vector<double> sets;
  std::vector<std::uint32_t> operands;
  std::vector<KernelTime::Line> lines;  ///< none is below another one everywhere

  static constexpr std::size_t most_operands = 6;  ///< of a roofline with an entry for each set
};

KernelEnvelope envelope_of(const PlacementProblem::Kernel& kernel);

/// The highest line below all sets that charges so many seconds for each of the envelope's operands
/// in slow memory. `count`: of the kernel's operands.
KernelTime::Line line_below(const KernelEnvelope& envelope, std::size_t count,
                            const std::vector<double>& charges);

/// The mean of lines: not negative, and the weights are not all 0.
KernelTime::Line mean_of(const std::vector<KernelTime::Line>& lines,
                         const std::vector<double>& weights);

}  // namespace sluice
