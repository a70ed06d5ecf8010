// The dynamic programme that fills a frontier: solves all segments of the chain, from short to long. frontier.hpp has
// three ways to execute a segment s … t. In a short chain, there is a fourth way: like the second way or the third
// way, but boundary k leaves the device early. From boundary k, only the backward passes t … m are executed, for some
// m > k. This is a partial segment. Then segment s … m - 1 is executed from boundary s, and makes boundary k again.
// So the backward passes after boundary k has left have more memory.
//
// A partial segment s … t begins with boundary s on the device, executes the backward passes t … m, and ends without
// boundary s. Like every segment that splits, it begins with an opening: the stages s … k - 1 run, and then the
// backward passes t … l are executed from boundary k, for some l. If l > m, boundary s stays on the device during the
// opening, and then the passes l - 1 … m are executed in the same manner. If l = m, boundary s leaves the device in
// the opening. A partial segment never copies boundary s, and leaves no inner tensors in host memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fates/optimal/frontier.hpp"

namespace sluice {

class Frontier::Solver {
 public:
  explicit Solver(Frontier& frontier);

  void solve();

  /// A partial segment.
  struct Partial {
    std::size_t s = 0, m = 0, t = 0;
    Ready ready = Ready::no;  ///< as for a segment
    /// Whether stage m - 1 has already run at the end, and its inner tensors are on the device until its backward pass.
    bool leaves = false;
  };
  /// An opening that executes the same backward passes as the partial segment `passes`.
  struct Opening {
    Partial passes;
    bool stays = false;  ///< whether boundary s stays on the device during the opening
  };

  /// Returns how many rows there are for partial segments and openings. They follow the rows of the segments. If the
  /// chain branches, or has too many stages, there are none.
  static std::size_t count_partial_rows(const Frontier& frontier);
  static bool has_partials(const Frontier& frontier) {
    return frontier.segments_.size() > count_segments(frontier);
  }
  static void write_opening(const Frontier& frontier, const Opening& opening, std::uint32_t point,
                            Tape& tape);
  /// Writes the forward passes of the stages s … k - 1. `keeps` says whether stage k - 1 keeps its inner tensors.
  static void write_passes(std::size_t s, std::size_t k, bool keeps, Tape& tape) {
    for (std::size_t j = s; j < k; ++j)
      tape.push_back({TapeOp::Kind::forward, static_cast<std::uint32_t>(j), keeps && j + 1 == k});
  }

 private:
  static std::size_t count_segments(const Frontier& frontier) {
    return frontier.chain_.stages.size() * (frontier.columns_ + frontier.free_length_) *
           frontier.states_;
  }
  /// The indices of rows in Frontier::segments_.
  static std::size_t partial_row(const Frontier& frontier, const Partial& partial);
  static std::size_t opening_row(const Frontier& frontier, const Opening& opening);
  static void write_partial(const Frontier& frontier, const Partial& partial, std::uint32_t point,
                            Tape& tape);

  /// The functions row_of() and opening_row() return indices of rows in Frontier::segments_.
  std::size_t row_of(const Partial& partial) const { return partial_row(frontier_, partial); }
  std::size_t row_of(const Segment& segment) const { return frontier_.index(segment); }
  std::size_t opening_row(const Opening& opening) const { return opening_row(frontier_, opening); }

  /// The forward passes of the stages s … k - 1 if these stages keep no tensors.
  struct Passes {
    double seconds = 0;
    /// The most bytes of any pass except the first and the last, without the bytes that are on the device during all
    /// passes. There is one number for each limit of is_around(): 0, s and s + 1.
    std::array<std::int64_t, 3> between = {};
  };

  /// The first part of a segment that splits, before the segment is executed again from its first boundary. A point
  /// of the first part has the peak and the seconds of `node` and of a point of a row, which has the index `row`. While
  /// the operations of this point run, the device also holds `held` other bytes.
  struct FirstPart {
    ParetoNode node;
    std::size_t row;
    std::int64_t held = 0;
  };

  /// The peak of the first point of a row, and the seconds of its last point. Many rows need not be read, because these
  /// numbers are enough.
  struct RowEnds {
    std::int64_t least = 0;
    double fastest = 0;
  };

  std::int64_t boundary(std::size_t b) const { return chain_.boundary(b).bytes; }
  const ChainCarried& carried(std::size_t b) const { return frontier_.carried_[b]; }
  /// Returns the bytes of boundary b without its carried part (ChainCarried).
  std::int64_t own(std::size_t b) const { return boundary(b) - carried(b).tensor.bytes; }

  /// Returns the bytes of boundary b, without the part that an earlier boundary keeps on the device (is_around).
  std::int64_t added_by(std::size_t b, std::size_t limit) const {
    return frontier_.is_around(b, limit) ? own(b) : boundary(b);
  }
  /// Returns the bytes of a segment's first boundary, without the part that an earlier boundary keeps on the device.
  std::int64_t first_boundary(const Segment& segment) const {
    return segment.around ? own(segment.s) : boundary(segment.s);
  }

  std::int64_t gradient(std::size_t b) const {
    return b == 0 || b == count_ ? 0 : chain_.stages[b - 1].gradient;
  }
  double price(double seconds) const { return seconds * frontier_.settings_.copy_price; }

  /// Returns whether stage s may keep its inner tensors even if its input is dropped.
  bool may_part(std::size_t s) const {
    return s > 0 && chain_.stages[s].reads_input && s + 1 < count_ &&
           (frontier_.parts_all_ || chain_.stages[s].inner.bytes == 0);
  }

  bool may_go(const ChainTensor& tensor) const {
    return frontier_.settings_.copies && tensor.bytes > 0;
  }

  bool may_be(std::size_t t, Ready ready) const {
    if (ready != Ready::no && !may_part(t)) return false;
    return ready != Ready::away || may_go(chain_.stages[t].inner);
  }

  /// Returns whether a stage has nothing to keep. If it may drop its input, running it twice would save no bytes.
  bool keeps_nothing(std::size_t s) const {
    return chain_.stages[s].inner.bytes == 0 && !chain_.stages[s].reads_output;
  }

  /// Returns the index in `passes_` of the segment from s to t.
  std::size_t place(std::size_t s, std::size_t t) const {
    return frontier_.index(Segment{.s = s, .t = t}) / frontier_.states_;
  }

  bool is_part(std::size_t s, std::size_t t, Ready ready) const;
  std::int64_t ready_bytes(const Segment& segment) const;
  double copies(const Segment& segment) const;
  void add_passes_from(std::size_t s);
  ParetoNode passes_before(const Segment& segment, std::size_t k, bool keeps, bool stays) const;

  void solve(std::size_t s, std::size_t t);
  void solve(const Segment& segment);
  void keep(const Segment& segment, bool boundary_goes, bool inner_goes);
  void pass(const Segment& segment, bool boundary_goes);
  void split_at(const Segment& segment, bool boundary_goes, std::size_t k);
  FirstPart first_part(const Segment& segment, bool boundary_goes, std::size_t k, Ready kept) const;
  FirstPart whole_first_part(const Segment& segment, bool boundary_goes, std::size_t k,
                             Ready kept) const;

  void solve_partial(std::size_t s, std::size_t t);
  void solve_partial(const Partial& partial);
  void open(const Opening& opening);

  void add_after(ParetoNode node, std::size_t points, std::int64_t held);
  void join(const FirstPart& first, std::size_t again);
  bool needs_more(std::size_t row) const;
  void store(std::size_t row, bool all = false);

  Frontier& frontier_;
  const Chain& chain_;
  std::size_t count_;
  std::size_t cap_;
  std::vector<double> prices_;
  std::vector<std::size_t> splits_;  ///< the boundaries at which any segment may split
  std::vector<Passes> passes_;       ///< indexed by place(s, k - 1)
  std::vector<RowEnds> ends_;        ///< indexed by row
  ParetoNodes best_, added_, scratch_;
};

}  // namespace sluice
