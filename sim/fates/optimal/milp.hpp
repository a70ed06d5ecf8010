// Keep, recompute and offload on any graph of operations, by mixed-integer linear programming: the
// least seconds of everything one after the other, copies included, within a budget of bytes.
//
// Time is divided into one stage per operation, in the given order. In stage t operation t runs for
// the first time; before it, any operation that ran earlier may run again, in that order. The
// variables say which operations run in a stage, which tensors are on the device when it starts,
// which are loaded in it, which have a copy in host memory, and what is freed after an operation.
// Jain et al. 2020, "Checkmate", section 4 (there without copies). Here a load stands where the
// operation that makes the tensor would stand in its stage, and a save stands right after the
// tensor is first made.
//
// It takes up to `most_milp_stages` forward operations. Beyond small graphs the result depends on
// the time limit, so it comes with a bound and a gap. Throws Interrupted on a signal, and
// InternalError on a graph in which an operation reads a tensor that none before it makes.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "fates/tape.hpp"

namespace sluice {

struct FateGraph {
  struct Operation {
    double seconds = 0;
    std::vector<std::uint32_t> reads, makes;  ///< tensors
    /// Tensors that may be made or not, as needed: those that only the backward pass reads.
    std::vector<std::uint32_t> may_make;
    std::int64_t workspace = 0;         ///< bytes while it runs
    std::int64_t workspace_making = 0;  ///< … where it also makes what it may make
    bool repeats = true;                ///< may run again
  };
  /// Tensors that no operation makes are in host memory from the start.
  std::vector<ChainTensor> tensors;
  std::vector<char> copies;  ///< per tensor: may go to host memory
  std::vector<Operation> operations;
  std::size_t repeats_from = 0;  ///< the first stage in which operations may run again
};

struct GraphStep {
  enum class Kind : std::uint8_t { run, save, load };
  Kind kind = Kind::run;
  std::uint32_t number = 0;  ///< the operation, or the tensor
  bool makes_all = false;    ///< of a run: it also makes what it may make
};

struct GraphAnswer {
  bool feasible = false, proven = false;
  std::vector<GraphStep> steps;
  double seconds = 0, bound = 0;
};

/// Looks only for schedules of less than `at_most` seconds, for `time_limit_s` of wall clock time.
GraphAnswer solve(const FateGraph& graph, std::int64_t budget, double time_limit_s,
                  double at_most = std::numeric_limits<double>::infinity());

/// With more stages, setting up and relaxing the programme takes longer than anyone would wait.
constexpr std::size_t most_milp_stages = 64;

struct MilpAnswer {
  bool feasible = false;  ///< false: no schedule was found or, where `proven`, none exists
  bool proven = false;
  Tape tape;
  double seconds = 0;  ///< serial_seconds of the tape
  double bound = 0;    ///< no schedule within the search is faster
  double gap = 0;      ///< (seconds - bound) / seconds
};

/// The graph of a chain: stage s is operation s, its backward pass is operation 2 n - 1 - s. Unlike
/// Frontier it may drop a boundary beside a stage that keeps its inner tensors, and use one copy in
/// host memory several times; so its answer is never slower, and often not faster.
FateGraph graph_of(const Chain& chain);

/// `known`: a schedule within the budget that is to be improved, and the answer where nothing
/// faster is found; empty: there is none. Throws Interrupted on a signal.
MilpAnswer solve_milp(const Chain& chain, std::int64_t budget, double time_limit_s,
                      const Tape& known = {});

}  // namespace sluice
