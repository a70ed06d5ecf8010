// Chooses between keep, recompute and offload in any graph of operations, by mixed-integer linear programming. The
// programme minimises the seconds of all operations and copies within a budget of bytes.
//
// Time is divided into stages (which are not the stages of a chain), one per operation, in the order of the operations.
// In stage t, operation t runs for the first time. Before it, operations of earlier stages may run again, in their
// order. For each stage, variables say which operations run, which tensors are on the device at the start of the stage,
// and which tensors are loaded. Further variables say which tensors are saved to host memory, and which tensors are
// freed after an operation. The formulation follows Jain et al. 2020, "Checkmate", section 4. Checkmate has no copies
// to host memory. In the programme of this file, a tensor may also be loaded instead of being made again. In the order
// of a stage, such a load comes where the operation that makes the tensor would come. A save directly follows the
// operation that makes the tensor for the first time.
//
// For a large graph, the result depends on the time limit. So the answer has a lower bound, too. The functions throw
// Interrupted on a signal. They throw InternalError if an operation reads a tensor that no earlier operation makes and
// that cannot be loaded from host memory.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "fates/tape.hpp"

namespace sluice {

struct FateGraph {
  struct Operation {
    double seconds = 0;
    std::vector<std::uint32_t> reads, makes;  ///< indices of tensors
    /// Tensors that the operation makes only if a backward pass will read them. No forward pass reads these tensors.
    std::vector<std::uint32_t> may_make;
    std::int64_t workspace = 0;  ///< the bytes of workspace while the operation runs
    /// The bytes of workspace if the operation also makes the tensors of `may_make`.
    std::int64_t workspace_making = 0;
    bool repeats = true;  ///< whether the operation may run again
  };
  /// All tensors of the graph. If no operation makes a tensor, it is in host memory from the start.
  std::vector<ChainTensor> tensors;
  std::vector<char> copies;  ///< for each tensor, whether it may be copied to host memory
  std::vector<Operation> operations;
  std::size_t repeats_from = 0;  ///< the first stage in which operations may run again
};

struct GraphStep {
  enum class Kind : std::uint8_t { run, save, load };
  Kind kind = Kind::run;
  std::uint32_t number = 0;  ///< the index of the operation or of the tensor
  bool makes_all = false;    ///< whether the operation also makes the tensors of `may_make`
};

struct GraphAnswer {
  bool feasible = false, proven = false;
  std::vector<GraphStep> steps;
  double seconds = 0, bound = 0;
};

/// Solves the programme of a graph in at most `time_limit_s` seconds of wall-clock time. Looks only for schedules that
/// take less than `at_most` seconds.
GraphAnswer solve(const FateGraph& graph, std::int64_t budget, double time_limit_s,
                  double at_most = std::numeric_limits<double>::infinity());

/// The greatest number of stages that a chain may have for solve_milp(), as the caller checks. With more stages, it
/// takes too long to build the programme and to solve its relaxation.
constexpr std::size_t most_milp_stages = 64;

struct MilpAnswer {
  /// Whether a schedule was found. If `feasible` is false and `proven` is true, no schedule exists.
  bool feasible = false;
  bool proven = false;
  Tape tape;
  double seconds = 0;  ///< the result of serial_seconds() for the tape
  double bound = 0;    ///< no schedule that the programme can express is faster than this
  double gap = 0;      ///< (seconds - bound) / seconds
};

/// Returns the graph of a chain of n stages. Operation s is the forward pass of stage s. Operation 2 n - 1 - s is its
/// backward pass. The programme allows two things that Frontier does not allow. A boundary may be dropped even if the
/// stage that makes it keeps its inner tensors. A saved tensor may be loaded several times. So the best schedule of the
/// programme never takes longer than the schedule of Frontier. Often both take equally long.
FateGraph graph_of(const Chain& chain);

/// Solves the programme of a chain. `known` is a schedule within the budget. If no schedule is known, `known` is empty.
/// If no faster schedule is found, the answer is `known`. Throws Interrupted on a signal.
MilpAnswer solve_milp(const Chain& chain, std::int64_t budget, double time_limit_s,
                      const Tape& known = {});

}  // namespace sluice
