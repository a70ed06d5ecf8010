// Makes tapes that are similar to the solution of the relaxation (relaxation.hpp). The solution is only certain to fit
// into memory at the turning point, but these tapes fit at every moment. The tapes are candidates of a search.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

struct FateWeights;

/// Says how the weights and the choices of a relaxation are changed before a tape is made from them.
struct Rounding {
  /// FateWeights has one weight for the saves of each stage's tensors, and one weight for the loads. For the stages
  /// before stage `early`, these two weights are divided by `factor`. For all other stages, they are multiplied by
  /// `factor`. The backward half reads the tensors of early stages last. Therefore a long time passes between the save
  /// and the load of such a tensor, and its copies are cheap.
  std::size_t early = 0;
  double factor = 1;
  /// Consecutive stages may run again together. This number is the most bytes that such stages may make, as a share of
  /// the budget.
  double segment = 1;
  /// A view of the chain (memory_views.hpp) to whose relaxation the tape is similar. If null, it is the chain itself.
  const Chain* view = nullptr;
};

/// Returns the fate at this place of the choices of n stages. Places 0 to n - 1 are the inner tensors, and places n to
/// 2n are the boundaries.
Fate& fate_at(Choices& choices, std::size_t place);

/// Gives the fate `keep` to each dropped boundary that cannot be made again. These are the input of the model, the
/// output of the model, and each boundary that is the output of a stage whose inner tensors are not recomputed.
void keep_what_nobody_makes(Choices& choices);

/// The tapes of choices of a chain that fit into a budget. Different roundings often lead to the same choices. So the
/// tape of each choices is made only once.
class FittingTapes {
 public:
  /// The chain must outlive this object.
  FittingTapes(const Chain& chain, std::int64_t budget) : chain_(chain), budget_(budget) {}

  const Chain& chain() const { return chain_; }
  std::int64_t budget() const { return budget_; }
  /// Returns the tape of these choices. If it does not fit, returns an empty tape. The reference stays valid.
  const Tape& of(const Choices& choices);

 private:
  const Chain& chain_;
  std::int64_t budget_;
  std::unordered_map<std::string, Tape> known_;  ///< the key stands for choices
};

/// Returns a tape that fits into the budget. If no tape was found that fits, returns an empty tape.
Tape rounded_tape(FittingTapes& tapes, const FateWeights& weights, const Rounding& rounding);

}  // namespace sluice
