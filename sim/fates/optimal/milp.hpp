// Keep, recompute and offload on any graph of operations, by mixed-integer linear programming: the
// least seconds of everything one after the other, copies included, within a budget of bytes.
//
// Time is divided into one stage an operation, in the order given: in stage t operation t runs for
// the first time, and before it any that ran earlier may run again, in that order. Variables: which
// operations run in a stage, which tensors are on the device when it starts, which are loaded in
// it, which have a copy in host memory, and what is freed after an operation. Jain et al. 2020,
// "Checkmate", section 4 (there without copies). Here a load stands where the tensor's own
// operation would stand in its stage, and a save right after its first making.
//
// Up to `most_milp_stages` forward operations; beyond small graphs what is found depends on the
// time limit, so a bound and a gap come with it. Throws Interrupted on a signal, InternalError on a
// graph whose operations read what none before them makes.
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
    /// Made or not, as is wanted: what the backward pass alone reads.
    std::vector<std::uint32_t> may_make;
    std::int64_t workspace = 0;         ///< bytes while it runs
    std::int64_t workspace_making = 0;  ///< … where it makes what it may make
    bool repeats = true;                ///< may run again
  };
  /// Those that no operation makes are in host memory from the start.
  std::vector<ChainTensor> tensors;
  std::vector<char> copies;  ///< by tensor: may go to host memory
  std::vector<Operation> operations;
  std::size_t repeats_from = 0;  ///< the first stage in which operations may run again
};

struct GraphStep {
  enum class Kind : std::uint8_t { run, save, load };
  Kind kind = Kind::run;
  std::uint32_t number = 0;  ///< the operation, or the tensor
  bool makes_all = false;    ///< run: with what it may make
};

struct GraphAnswer {
  bool feasible = false, proven = false;
  std::vector<GraphStep> steps;
  double seconds = 0, bound = 0;
};

/// Looks only for what takes less than `at_most` seconds, within `time_limit_s` of wall clock.
GraphAnswer solve(const FateGraph& graph, std::int64_t budget, double time_limit_s,
                  double at_most = std::numeric_limits<double>::infinity());

/// Beyond, the programme alone takes longer to set up and relax than anyone would wait.
constexpr std::size_t most_milp_stages = 64;

struct MilpAnswer {
  bool feasible = false;  ///< else: none was found, or, where proven, there is none
  bool proven = false;
  Tape tape;
  double seconds = 0;  ///< serial_seconds of the tape
  double bound = 0;    ///< no schedule of the search is faster
  double gap = 0;      ///< (seconds - bound) / seconds
};

/// The graph of a chain: stage s is operation s, its backward pass operation 2 n - 1 - s. Beyond
/// what Frontier searches it may drop a boundary beside a stage that keeps its inner tensors, and
/// reuse one copy in host memory wherever it likes; so it is never slower, and often no faster.
FateGraph graph_of(const Chain& chain);

/// `known`: a schedule within the budget to improve on, which is the answer where nothing faster is
/// found; empty: none. Throws Interrupted on a signal.
MilpAnswer solve_milp(const Chain& chain, std::int64_t budget, double time_limit_s,
                      const Tape& known = {});

}  // namespace sluice
