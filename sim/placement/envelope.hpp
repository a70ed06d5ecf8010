// The envelope of a kernel gives its seconds when only parts of its operands are in slow memory. The linear programme
// and the search for prices of fast memory place parts of operands, so they need these seconds. The envelope is the
// greatest convex function that nowhere exceeds the kernel's seconds when whole operands are in slow memory. The
// seconds of a roofline are the maximum of its lines (KernelTime::Line). This maximum also gives seconds for parts of
// operands, and is also convex. But for parts, its seconds may be fewer than those of the envelope. For example, the
// FLOP of a kernel may take longer than its bytes. Then the lines may say that a third of an operand in slow memory
// costs no time, although the whole operand costs time. The envelope says that a third of this operand costs time, too.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

struct KernelEnvelope {
  /// The seconds of the kernel for each set of operands that are in slow memory. Bit i of the index says whether
  /// operands[i] is in slow memory. `sets` is empty if a roofline has more than `most_operands` operands, or if a
  /// single line gives the exact seconds. Then `lines` is used instead.
  std::vector<double> sets;
  std::vector<std::uint32_t> operands;
  std::vector<KernelTime::Line> lines;  ///< none of these lines is everywhere below another line

  /// The largest number of operands for which `sets` of a roofline is filled.
  static constexpr std::size_t most_operands = 6;
};

KernelEnvelope envelope_of(const PlacementProblem::Kernel& kernel);

/// Returns a line in which operands[i] adds charges[i] seconds if it is in slow memory. For each set of operands in
/// slow memory, the line gives at most the seconds that envelope.sets has for this set. Of all such lines, the returned
/// line has the highest base. `count` is the number of the kernel's operands.
KernelTime::Line line_below(const KernelEnvelope& envelope, std::size_t count,
                            const std::vector<double>& charges);

/// Returns the weighted mean of lines. No weight may be negative, and at least one weight must be above 0.
KernelTime::Line mean_of(const std::vector<KernelTime::Line>& lines,
                         const std::vector<double>& weights);

}  // namespace sluice
