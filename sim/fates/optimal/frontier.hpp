// Which tensors of a chain to keep, recompute and offload: the whole curve of time against memory,
// by a dynamic programme over segments of the chain.
//
// A segment s … t starts with boundary s on the device and ends after backward s. There are three
// ways to do it:
//   the forward pass of stage s keeps its inner tensors, then s + 1 … t is solved, then backward s;
//   boundary s and the inner tensors meanwhile stay on the device or are in host memory; or
//   stages s … k - 1 pass without keeping anything, then k … t is solved, then s … k - 1 from
//   boundary s, which stayed or comes back. So a stage may run two times and more. Or
//   the last of those, k - 1, keeps its inner tensors, so that only s … k - 2 need to run again, to
//   make its input. (Where the inner tensors are empty, that would be a forward pass saved for
//   nothing.)
// Rotor: Beaumont et al. 2019, "Optimal checkpointing for heterogeneous chains", section 4; with
// offloading POFO: Beaumont, Eyraud-Dubois, Shilova 2021, "Efficient combination of
// rematerialization and offloading". Where those divide memory into slots, this keeps for each
// segment all pairs of peak bytes and seconds of which no other is better in both: bytes are exact,
// and one run answers every budget.
//
// In a long chain, long segments split only at some boundaries (k above), which are spread evenly
// over seconds and bytes; what each stage keeps and where recomputation starts remain free
// everywhere.
//
// The search leaves out two things: work of an earlier segment before the last backward pass of a
// later one, and a copy in host memory of a boundary that is made again.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/optimal/pareto.hpp"
#include "fates/tape.hpp"

namespace sluice {

struct FrontierSettings {
  /// A copy counts with this share of its seconds: 1 where copies and computation take turns
  /// (exact), less where copies run beside computation (a guess, from 0 to 1, to be judged by a
  /// replay).
  double copy_price = 1;
  bool copies = true;  ///< false: nothing that is made goes to host memory
  /// Whether to keep only the first point of each segment. The frontier then has one point, with
  /// the same peak as the first point of the whole frontier, whatever the cap, and it is found much
  /// sooner.
  bool only_least = false;
  /// The approximate number of points per segment; where there are more, see `thin`. Nothing is
  /// lost below the cap, and no schedule that is not feasible becomes feasible. 0: 4096 for up to
  /// 20 stages, 256 for up to 64, then fewer.
  std::size_t cap = 0;
  /// The approximate number of boundaries at which any segment may split; all of them where the
  /// chain has no more.
  std::size_t splits = 64;
  /// Segments of up to this many stages may split anywhere.
  std::size_t free_length = 24;
};

class Frontier {
 public:
  struct Point {
    std::int64_t peak = 0;  ///< bytes: memory_of its tape
    double seconds = 0;     ///< of everything one after the other, copies at their price
  };

  Frontier(const Chain& chain, const FrontierSettings& settings = {});

  /// The points rise in bytes and fall in seconds. The first needs the least memory of all
  /// schedules that were found, the last is the fastest schedule. Where the chain has no stages,
  /// there is one point of 0 bytes.
  const std::vector<Point>& points() const { return points_; }

  /// The last point within a budget; size() where there is no such point.
  std::size_t within(std::int64_t budget) const;

  /// Whether a segment had more points than the cap.
  bool thinned() const { return thinned_; }

  /// The schedule of a point; its peak is that of the point.
  Tape tape(std::size_t point) const;

 private:
  /// Whether stage t has already run, and where the tensors that it keeps are until backward t: on
  /// the device or in host memory.
  enum class Ready : std::uint8_t { no, here, away };
  struct Segment {
    std::size_t s = 0, t = 0;
    bool copied = false;  ///< boundary s has a copy in host memory
    bool needed = false;  ///< boundary s is needed afterwards, by backward s - 1
    Ready ready = Ready::no;
  };
  class Solver;

  bool has(std::size_t s, std::size_t t) const { return split_[t + 1] || t - s < free_length_; }
  void lay_out();
  std::size_t index(const Segment& segment) const;
  void write(const Segment& segment, std::uint32_t point, Tape& tape) const;

  Chain chain_;
  FrontierSettings settings_;
  std::vector<bool> split_;          ///< per boundary: whether any segment may split there
  std::vector<std::size_t> column_;  ///< by last stage, of the table of segments
  std::size_t columns_ = 0, free_length_ = 0;
  bool parts_all_ = true;              ///< also stages with inner tensors may part with their input
  std::vector<ParetoNodes> segments_;  ///< by first stage and column
  std::vector<Point> points_;
  bool thinned_ = false;
};

/// The chain in which the seconds of each pass include the load of weights that take turns: a
/// frontier does not know runs of several passes of a stage.
Chain with_turns(Chain chain, double copy_price);

/// The prices of a byte of host memory that are tried, in seconds; a single price of 0 where host
/// memory is not limited.
std::vector<double> host_prices(const Chain& chain);

/// The chain in which saves take longer, by the price of the bytes of the copy.
Chain with_host_price(Chain chain, double price);

}  // namespace sluice
