// The seconds of a kernel whose operands may lie partly in slow memory, for linear programmes and
// prices: the greatest convex function that is nowhere above the seconds of any placement. For a
// roofline, this function is above the lines themselves. They would say that a third of an operand
// in slow memory is free because it hides behind the FLOP, although the whole operand would not be.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

struct KernelEnvelope {
  /// The operands whose place counts and that are in slow memory (bit i: operands[i]). Empty:
  /// either so many operands count that the lines stand for them, or one line says everything.
  std::vector<double> sets;
  std::vector<std::uint32_t> operands;
  std::vector<KernelTime::Line> lines;  ///< none is everywhere below another one

  static constexpr std::size_t most_operands = 6;  ///< of a roofline that has an entry for each set
};

KernelEnvelope envelope_of(const PlacementProblem::Kernel& kernel);

/// The highest line that is below all sets and charges this many seconds for each of the envelope's
/// operands in slow memory. `count`: the number of the kernel's operands.
KernelTime::Line line_below(const KernelEnvelope& envelope, std::size_t count,
                            const std::vector<double>& charges);

/// The weighted mean of lines. The weights are not negative and not all 0.
KernelTime::Line mean_of(const std::vector<KernelTime::Line>& lines,
                         const std::vector<double>& weights);

}  // namespace sluice
