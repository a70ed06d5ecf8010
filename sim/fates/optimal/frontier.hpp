// Decides which tensors of a chain to keep, recompute and offload. The result is a frontier: the least seconds for each
// number of bytes. The method is dynamic programming over segments, which are consecutive stages of the chain.
//
// Segment s … t has the stages from s to t. Its execution starts with boundary s on the device and ends after the
// backward pass of s. There are three ways to execute it, and a fourth in short chains (frontier_solver.hpp):
// 1. The forward pass of stage s keeps its inner tensors. Then segment s + 1 … t is executed, and then the backward
//    pass of s. Until this pass, boundary s and the inner tensors stay on the device or are in host memory.
// 2. The stages s … k - 1 run and keep nothing. Then segment k … t is executed. Then segment s … k - 1 is executed from
//    boundary s, which was kept or is loaded. In this way, a stage may run more than twice.
// 3. The third way is like the second way, but stage k - 1 keeps its inner tensors. So only the stages s … k - 2 run
//    again, to make the input of stage k - 1. If stage k - 1 has no inner tensors, the third way needs as little memory
//    as the second way, and one forward pass less.
//
// The sources are Rotor and, for offloading, POFO. Rotor is Beaumont et al. 2019, "Optimal checkpointing for
// heterogeneous chains", section 4. POFO is Beaumont, Eyraud-Dubois, Shilova 2021, "Efficient combination of
// rematerialization and offloading". The methods of these papers round bytes to units of memory. This code instead
// keeps for each segment all Pareto-optimal pairs of peak bytes and seconds. So the bytes are exact, and one search
// gives the schedules for all budgets.
//
// In a long chain, long segments split only at some boundaries. These boundaries are spread evenly over seconds and
// bytes. In spite of this limit, each stage may keep any of its tensors, and recomputation may start at any stage.
//
// If the chain branches, the search works on a view of the chain that does not branch (joint.hpp). In the view, several
// boundaries may contain the same tensor. Suppose that an earlier boundary keeps such a tensor on the device during a
// whole segment. Then the bytes of this tensor do not count in the first boundary of the segment.
//
// The search leaves out two kinds of schedules. In one kind, the second or the third way is changed: the execution of
// segment s … k - 1 begins before the execution of segment k … t has ended. In chains of up to 12 stages that do not
// branch, the search finds these schedules, too. In the other kind, a boundary is made again although host memory
// holds its copy.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/optimal/pareto.hpp"
#include "fates/tape.hpp"

namespace sluice {

struct FrontierSettings {
  /// The share of the seconds of each copy that is added to the seconds of the schedule. If copies and computation take
  /// turns, the share is 1, and the seconds are exact. If copies run during computation, the share is a guess between 0
  /// and 1. In this case, replays compare the resulting tapes.
  double copy_price = 1;
  bool copies = true;  ///< whether tensors that a stage makes may go to host memory
  /// Whether the search keeps only the first point of each segment, which is much faster. Then the frontier has a
  /// single point. If this setting is false, the search finds more points, but the first of them has the same peak as
  /// this single point, for every value of `cap`.
  bool only_least = false;
  /// The approximate number of points per segment. A segment with more points loses some of them (see thin() in
  /// pareto.hpp). The schedules of the remaining points are still feasible. If the value is 0, the number of stages
  /// decides. In a chain of up to 20 stages, a segment has up to 4096 points. In a chain of up to 64 stages, it has up
  /// to 256 points. In longer chains, it has fewer points.
  std::size_t cap = 0;
  /// The approximate number of boundaries at which segments may split. If the chain has fewer boundaries, segments may
  /// split at all of them.
  std::size_t splits = 64;
  /// A segment of up to this many stages may split at each of its boundaries.
  std::size_t free_length = 24;
};

class Frontier {
 public:
  struct Point {
    /// The peak of the point's tape, as memory_of() returns it, in bytes. But weights that take turns only count in
    /// passes of their own stage.
    std::int64_t peak = 0;
    /// The seconds of all operations. The seconds of copies are first multiplied by copy_price.
    double seconds = 0;
  };

  Frontier(const Chain& chain, const FrontierSettings& settings = {});

  /// Returns the points of the frontier. Their bytes rise and their seconds fall. The first point needs the least
  /// memory of all schedules that were found. The last point is the fastest schedule. A chain without stages has one
  /// point of 0 bytes.
  const std::vector<Point>& points() const { return points_; }

  /// Returns the index of the last point whose peak is within the budget. If there is no such point, returns
  /// points().size().
  std::size_t within(std::int64_t budget) const;

  /// Returns whether any segment lost points because it had more points than `cap` allows.
  bool thinned() const { return thinned_; }

  /// Returns the tape of a point. Its peak is the peak of the point.
  Tape tape(std::size_t point) const;

 private:
  /// Whether stage t has already run before the segment starts. If so, its inner tensors stay on the device (`here`) or
  /// in host memory (`away`) until its backward pass.
  enum class Ready : std::uint8_t { no, here, away };
  struct Segment {
    std::size_t s = 0, t = 0;
    bool copied = false;  ///< whether a copy of boundary s is in host memory
    bool needed = false;  ///< whether the backward pass of s - 1 needs boundary s
    Ready ready = Ready::no;
    /// Whether the carried part of boundary s (ChainCarried) takes no memory of its own during the whole segment,
    /// because an earlier boundary with the same tensors stays on the device.
    bool around = false;
  };
  class Solver;

  /// The segment that has all stages.
  Segment whole() const { return {.t = chain_.stages.size() - 1, .copied = true}; }

  /// Returns whether the carried part of boundary b (ChainCarried) is on the device already, because earlier boundaries
  /// with the same tensors stay there. `limit` says what stays there: of the boundaries before `limit`, the tensors
  /// that stage b or a later stage reads.
  bool is_around(std::size_t b, std::size_t limit) const;
  /// A segment begins with boundary s. Returns the value of `limit` in is_around() for all later boundaries of this
  /// segment. `stays` says whether boundary s stays on the device.
  static std::size_t limit(const Segment& segment, bool stays) {
    return stays ? segment.s + 1 : segment.around ? segment.s : 0;
  }

  bool has(std::size_t s, std::size_t t) const { return split_[t + 1] || t - s < free_length_; }
  void lay_out();
  std::size_t index(const Segment& segment) const;
  void write(const Segment& segment, std::uint32_t point, Tape& tape) const;

  Chain chain_;
  FrontierSettings settings_;
  std::vector<bool> split_;          ///< for each boundary, whether any segment may split here
  std::vector<std::size_t> column_;  ///< for each last stage, its column in `segments_`
  std::size_t columns_ = 0, free_length_ = 0;
  std::size_t states_ = 0;             ///< the number of ways in which a segment is solved
  std::vector<ChainCarried> carried_;  ///< indexed by boundary
  bool parts_all_ = true;              ///< whether stages with inner tensors may drop their input
  /// Indexed by first stage and column. Rows of other parts of segments follow (frontier_solver.hpp).
  std::vector<ParetoNodes> segments_;
  std::vector<Point> points_;
  bool thinned_ = false;
};

/// If weights take turns, returns a chain in which each pass takes longer by `copy_price` times the seconds to load its
/// weights. In truth, several passes of a stage may share one load.
Chain with_turns(Chain chain, double copy_price);

/// Returns the prices that the search tries for a byte of host memory, in seconds. If host memory is unlimited, the
/// only price is 0.
std::vector<double> host_prices(const Chain& chain);

/// Returns a chain in which each save takes longer by its bytes x `price`.
Chain with_host_price(Chain chain, double price);

}  // namespace sluice
