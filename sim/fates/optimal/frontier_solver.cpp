#include "fates/optimal/frontier_solver.hpp"

#include <algorithm>

#include "fates/optimal/frontier_grid.hpp"

namespace sluice {

Frontier::Solver::Solver(Frontier& frontier)
    : frontier_(frontier),
      chain_(frontier.chain_),
      count_(chain_.stages.size()),
      cap_(std::max<std::size_t>(2, frontier.settings_.cap)),
      prices_(turning_prices(chain_, frontier.settings_.copy_price, cap_ / 2)) {
  for (std::size_t k = 1; k <= count_; ++k)
    if (frontier_.split_[k]) splits_.push_back(k);
  ends_.resize(frontier_.segments_.size());
  passes_.resize(count_ * (frontier_.columns_ + frontier_.free_length_));
  for (std::size_t s = 0; s < count_; ++s) add_passes_from(s);
}

/// Solves the segments in an order in which the parts of a segment come before it. Segments that are solved one after
/// the other begin with the same stage, so they read many of the same rows. These are still in the processor's cache.
void Frontier::Solver::solve() {
  for (std::size_t s = count_; s-- > 0;)
    for (std::size_t t = s; t < count_; ++t)
      if (frontier_.has(s, t)) solve(s, t);
}

void Frontier::Solver::solve(std::size_t s, std::size_t t) {
  if (has_partials(frontier_)) solve_partial(s, t);
  for (const Ready ready : {Ready::no, Ready::here, Ready::away})
    for (const bool copied : {false, true})
      for (const bool needed : {false, true}) {
        if (s == 0 && (!copied || needed)) continue;
        if (s > 0 && copied && !frontier_.settings_.copies) continue;
        if (needed && !chain_.stages[s - 1].reads_output) continue;
        if (!may_be(t, ready) || !is_part(s, t, ready)) continue;
        Segment segment{.s = s, .t = t, .copied = copied, .needed = needed, .ready = ready};
        solve(segment);
        segment.around = true;
        if (carried(s).before > 0) solve(segment);
      }
}

/// Returns whether any other segment reads the row of this segment, or if it is the whole chain. Suppose that a segment
/// splits after stage t. If stage t has nothing to keep and may drop its input, it has always run before the second
/// part begins (split_at), unless it is the only stage of this part. So the rows of longer parts in which stage t has
/// not run yet are read only by rows of this kind. The same is true of partial segments.
bool Frontier::Solver::is_part(std::size_t s, std::size_t t, Ready ready) const {
  if (ready != Ready::no || s == t || t + 1 == count_) return true;
  return !may_part(t) || !keeps_nothing(t);
}

/// If the last stage of a segment has already run, returns the bytes on the device that this stage keeps for its
/// backward pass. Otherwise returns 0.
std::int64_t Frontier::Solver::ready_bytes(const Segment& segment) const {
  const ChainStage& stage = chain_.stages[segment.t];
  if (segment.ready == Ready::no) return 0;
  return (segment.ready == Ready::here ? stage.inner.bytes : 0) +
         (stage.reads_output ? own(segment.t + 1) : 0);
}

void Frontier::Solver::solve(const Segment& segment) {
  best_.clear();
  for (const bool boundary_goes : {false, true}) {
    if (boundary_goes && !may_go(chain_.boundary(segment.s))) continue;
    for (const bool inner_goes : {false, true})
      if (!inner_goes || (segment.s < segment.t && may_go(chain_.stages[segment.s].inner)))
        keep(segment, boundary_goes, inner_goes);
    pass(segment, boundary_goes);
  }
  const bool whole = segment.s == 0 && segment.t + 1 == count_;
  store(row_of(segment), whole);
}

/// Stores the best points in the row with this index. If there are too many points, only stores all of them if `all` is
/// true.
void Frontier::Solver::store(std::size_t row, bool all) {
  if (frontier_.settings_.only_least) {
    best_.resize(1);
  } else if (best_.size() > cap_ && !all) {
    thin(best_, cap_, prices_, scratch_);
    frontier_.thinned_ = true;
  }
  frontier_.segments_[row] = best_;
  ends_[row] = {best_.front().peak, best_.back().seconds};
}

/// Adds points to the segment, for schedules in which the forward pass of stage s keeps the inner tensors of s. After
/// this forward pass, segment s + 1 … t is executed, and then the backward pass of s.
void Frontier::Solver::keep(const Segment& segment, bool boundary_goes, bool inner_goes) {
  const auto [s, t, copied, needed, ready, around] = segment;
  const ChainStage& stage = chain_.stages[s];
  const std::int64_t first = first_boundary(segment);
  const bool read_again = stage.reads_input || needed;
  if (boundary_goes && !read_again) return;
  const bool runs = s < t || ready == Ready::no;
  ParetoNode node{.boundary_goes = boundary_goes, .inner_goes = inner_goes};
  node.seconds = (runs ? stage.forward_s : 0) + stage.backward_s;
  if (boundary_goes) node.seconds += copies(segment);
  if (inner_goes) node.seconds += price(stage.inner.save_s + stage.inner.load_s);
  const std::int64_t forward = runs ? first + gradient(t + 1) + ready_bytes(segment) + own(s + 1) +
                                          stage.inner.bytes + stage.keeping_workspace()
                                    : 0;
  const bool there = stage.reads_input || (needed && !boundary_goes);
  // The gradient of the carried part is in the gradients of boundary s and of boundary s + 1, but counts once.
  const std::int64_t gradients = gradient(s + 1) + gradient(s) - stage.carried.gradient;
  const std::int64_t backward = gradients + stage.inner.bytes + (there ? first : 0) +
                                (stage.reads_output ? own(s + 1) : 0) + stage.backward_workspace;
  node.peak = std::max(forward, backward);
  if (s == t) {
    added_.assign(1, node);
    return merge(best_, added_, scratch_);
  }
  const bool stays = read_again && !boundary_goes;
  const std::int64_t held = (stays ? first : 0) + (inner_goes ? 0 : stage.inner.bytes);
  add_after(node,
            row_of(Segment{.s = s + 1,
                           .t = t,
                           .needed = stage.reads_output,
                           .ready = ready,
                           .around = frontier_.is_around(s + 1, limit(segment, stays))}),
            held);
}

/// Adds points for schedules that consist of the operations of `node` and of a point of the row with the index
/// `points`. While the operations of this point run, the device also holds `held` other bytes.
void Frontier::Solver::add_after(ParetoNode node, std::size_t points, std::int64_t held) {
  const ParetoNodes& rest = frontier_.segments_[points];
  const std::int64_t floor = node.peak;
  const double seconds = node.seconds;
  added_.clear();
  for (std::uint32_t i = 0; i < rest.size(); ++i) {
    if (i + 1 < rest.size() && rest[i + 1].peak + held <= floor) continue;
    node.peak = std::max(floor, rest[i].peak + held);
    node.seconds = seconds + rest[i].seconds;
    node.first = i;
    added_.push_back(node);
  }
  merge(best_, added_, scratch_);
}

/// Sets `passes_` for the stages s … k - 1, for each k at which a segment that begins with stage s may split.
void Frontier::Solver::add_passes_from(std::size_t s) {
  Passes passes;
  for (std::size_t k = s + 1; k <= count_; ++k) {
    const ChainStage& stage = chain_.stages[k - 1];
    passes.seconds += stage.forward_s;
    if (frontier_.has(s, k - 1)) passes_[place(s, k - 1)] = passes;
    if (k == s + 1) continue;
    for (std::size_t i = 0; i < 3; ++i)
      passes.between[i] = std::max(passes.between[i], added_by(k - 1, i == 0 ? 0 : s + i - 1) +
                                                          own(k) + stage.passing_workspace());
  }
}

/// Returns the peak and the seconds of the stages s … k - 1, which run at the beginning of a segment. Of these, stage
/// k - 1 keeps its inner tensors if `keeps` is true. `stays` says whether boundary s stays on the device.
ParetoNode Frontier::Solver::passes_before(const Segment& segment, std::size_t k, bool keeps,
                                           bool stays) const {
  const auto [s, t, copied, needed, ready, around] = segment;
  const ChainStage& stage = chain_.stages[k - 1];
  const Passes& passes = passes_[place(s, k - 1)];
  const std::int64_t always = gradient(t + 1) + ready_bytes(segment);
  const std::int64_t first = first_boundary(segment), held = stays ? first : 0;
  const bool one = k == s + 1;
  ParetoNode node{
      .seconds = passes.seconds, .split = static_cast<std::uint16_t>(k), .keeps = keeps};
  node.peak = always + (one ? first : held + added_by(k - 1, limit(segment, stays))) + own(k) +
              (keeps ? stage.inner.bytes : 0) + stage.forward_workspace(keeps);
  if (one) return node;
  node.peak =
      std::max({node.peak, always + first + own(s + 1) + chain_.stages[s].passing_workspace(),
                always + held +
                    passes.between[stays    ? 2
                                   : around ? 1
                                            : 0]});
  return node;
}

/// Adds schedules for every k at which the segment may split. First, the stages s … k - 1 run. Of these, only the
/// last stage may keep its inner tensors. Then segment k … t is executed, at least in part. Then s … k - 1 is
/// executed, which reads boundary s.
void Frontier::Solver::pass(const Segment& segment, bool boundary_goes) {
  const std::size_t s = segment.s, t = segment.t;
  if (t - s < frontier_.free_length_) {
    for (std::size_t k = s + 1; k <= t; ++k) split_at(segment, boundary_goes, k);
    return;
  }
  auto k = std::upper_bound(splits_.begin(), splits_.end(), s);
  for (; k != splits_.end() && *k <= t; ++k) split_at(segment, boundary_goes, *k);
}

/// Adds the schedules in which the segment splits at k. The comment of pass() says what these schedules do.
void Frontier::Solver::split_at(const Segment& segment, bool boundary_goes, std::size_t k) {
  const bool copied = segment.copied || boundary_goes;
  const auto add = [&](Ready kept) {
    const std::size_t row =
        row_of(Segment{segment.s, k - 1, copied, segment.needed, kept, segment.around});
    if (!needs_more(row)) join(first_part(segment, boundary_goes, k, kept), row);
  };
  if (k > segment.s + 1 && may_part(k - 1)) {
    add(Ready::here);
    if (keeps_nothing(k - 1)) return;
    if (may_go(chain_.stages[k - 1].inner)) add(Ready::away);
  }
  add(Ready::no);
}

/// Returns whether only the first point of each segment counts, and every point of this row needs at least as many
/// bytes as the best point so far.
bool Frontier::Solver::needs_more(std::size_t row) const {
  return frontier_.settings_.only_least && !best_.empty() && best_.front().peak <= ends_[row].least;
}

/// Returns the first part of a segment that splits at k. `kept` says whether stage k - 1 keeps its inner tensors for
/// its backward pass in the second part, and where.
Frontier::Solver::FirstPart Frontier::Solver::first_part(const Segment& segment, bool boundary_goes,
                                                         std::size_t k, Ready kept) const {
  if (kept == Ready::away || !has_partials(frontier_))
    return whole_first_part(segment, boundary_goes, k, kept);
  const bool keeps = kept == Ready::here;
  const ParetoNode node{.seconds = boundary_goes ? copies(segment) : 0,
                        .split = static_cast<std::uint16_t>(k),
                        .boundary_goes = boundary_goes,
                        .keeps = keeps};
  return {node, opening_row({.passes = {segment.s, k, segment.t, segment.ready, keeps},
                             .stays = !boundary_goes})};
}

/// Returns the first part in which the stages s … k - 1 run, and then the whole segment k … t is executed.
Frontier::Solver::FirstPart Frontier::Solver::whole_first_part(const Segment& segment,
                                                               bool boundary_goes, std::size_t k,
                                                               Ready kept) const {
  const bool keeps = kept != Ready::no, inner_goes = kept == Ready::away;
  const ChainStage& stage = chain_.stages[k - 1];
  ParetoNode node = passes_before(segment, k, keeps, !boundary_goes);
  node.boundary_goes = boundary_goes;
  node.inner_goes = inner_goes;
  if (boundary_goes) node.seconds += copies(segment);
  if (inner_goes) node.seconds += price(stage.inner.save_s + stage.inner.load_s);
  const std::int64_t held = (boundary_goes ? 0 : first_boundary(segment)) +
                            (keeps && !inner_goes ? stage.inner.bytes : 0);
  const bool around = frontier_.is_around(k, limit(segment, !boundary_goes));
  return {node,
          row_of(Segment{.s = k,
                         .t = segment.t,
                         .needed = keeps && stage.reads_output,
                         .ready = segment.ready,
                         .around = around}),
          held};
}

/// Adds the points of a segment that splits. A point of the first part and a point of the row with the index `again`,
/// which runs after it, give one point.
void Frontier::Solver::join(const FirstPart& first, std::size_t again) {
  const auto& [node, row, held] = first;
  const RowEnds &begins = ends_[row], &follows = ends_[again];
  const std::int64_t least = std::max({node.peak, begins.least + held, follows.least});
  if (frontier_.settings_.only_least && !best_.empty() && best_.front().peak <= least) return;
  const double fastest = node.seconds + begins.fastest + follows.fastest;
  const auto beyond = std::upper_bound(
      best_.begin(), best_.end(), least,
      [](std::int64_t bytes, const ParetoNode& known) { return bytes < known.peak; });
  if (beyond != best_.begin() && !is_faster(fastest, (beyond - 1)->seconds)) return;
  added_.clear();
  sluice::join(node, {frontier_.segments_[row], held, frontier_.segments_[again]}, best_, added_);
  if (!added_.empty()) merge(best_, added_, scratch_);
}

/// Returns the seconds to copy a segment's first boundary to host memory and back. If host memory already has a copy,
/// the seconds of the save are left out. A carried part that an earlier boundary holds on the device is not copied.
double Frontier::Solver::copies(const Segment& segment) const {
  const ChainTensor& tensor = chain_.boundary(segment.s);
  const ChainTensor part = segment.around ? carried(segment.s).tensor : ChainTensor{};
  return price((segment.copied ? 0 : tensor.save_s - part.save_s) + tensor.load_s - part.load_s);
}

}  // namespace sluice
