#include "fates/optimal/frontier.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "fates/optimal/frontier_grid.hpp"

namespace sluice {

namespace {

/// A segment (consecutive stages, see frontier.hpp) is solved once per state. There are 3 values of Ready x 2 values of
/// `copied` x 2 values of `needed` = 12 states. If the chain branches, `around` doubles the number of states.
constexpr std::size_t states_without_around = 12;

}  // namespace

Chain with_turns(Chain chain, double copy_price) {
  for (ChainStage& stage : chain.stages) {
    stage.forward_s += copy_price * stage.turn.load_s;
    stage.backward_s += copy_price * stage.turn.load_s;
  }
  return chain;
}

std::vector<double> host_prices(const Chain& chain) {
  if (!chain.host_room) return {0};
  double seconds = 0, bytes = 1;
  for (const ChainStage& stage : chain.stages) {
    seconds += stage.forward_s + stage.turn.load_s;
    bytes += static_cast<double>(stage.output.bytes + stage.inner.bytes);
  }
  std::vector<double> prices = {0};
  for (const double factor : {0.1, 0.3, 1.0, 3.0, 10.0}) prices.push_back(factor * seconds / bytes);
  return prices;
}

Chain with_host_price(Chain chain, double price) {
  if (price == 0) return chain;
  for (ChainStage& stage : chain.stages)
    for (ChainTensor* tensor : {&stage.output, &stage.inner, &stage.carried.tensor})
      tensor->save_s += price * static_cast<double>(tensor->bytes);
  return chain;
}

class Frontier::Solver {
 public:
  explicit Solver(Frontier& frontier)
      : frontier_(frontier),
        chain_(frontier.chain_),
        count_(chain_.stages.size()),
        cap_(std::max<std::size_t>(2, frontier.settings_.cap)),
        prices_(turning_prices(chain_, frontier.settings_.copy_price, cap_ / 2)) {
    for (std::size_t k = 1; k <= count_; ++k)
      if (frontier_.split_[k]) splits_.push_back(k);
    passes_.resize(count_ * (frontier_.columns_ + frontier_.free_length_));
    for (std::size_t s = 0; s < count_; ++s) add_passes_from(s);
  }

  void solve() {
    for (std::size_t length = 1; length <= count_; ++length)
      for (std::size_t s = 0; s + length <= count_; ++s)
        if (frontier_.has(s, s + length - 1)) solve(s, s + length - 1);
  }

 private:
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

  const ParetoNodes& nodes_of(const Segment& segment) const {
    return frontier_.segments_[frontier_.index(segment)];
  }

  void solve(std::size_t s, std::size_t t) {
    for (const Ready ready : {Ready::no, Ready::here, Ready::away})
      for (const bool copied : {false, true})
        for (const bool needed : {false, true}) {
          if (s == 0 && (!copied || needed)) continue;
          if (s > 0 && copied && !frontier_.settings_.copies) continue;
          if (needed && !chain_.stages[s - 1].reads_output) continue;
          if (ready != Ready::no && !may_part(t)) continue;
          if (ready == Ready::away && !may_go(chain_.stages[t].inner)) continue;
          solve({s, t, copied, needed, ready});
          if (carried(s).before > 0) solve({s, t, copied, needed, ready, true});
        }
  }

  /// Returns whether stage s may keep its inner tensors even if its input is dropped.
  bool may_part(std::size_t s) const {
    return s > 0 && chain_.stages[s].reads_input && s + 1 < count_ &&
           (frontier_.parts_all_ || chain_.stages[s].inner.bytes == 0);
  }

  bool may_go(const ChainTensor& tensor) const {
    return frontier_.settings_.copies && tensor.bytes > 0;
  }

  /// If the last stage of a segment has already run, returns the bytes on the device that this stage keeps for its
  /// backward pass. Otherwise returns 0.
  std::int64_t ready_bytes(const Segment& segment) const {
    const ChainStage& stage = chain_.stages[segment.t];
    if (segment.ready == Ready::no) return 0;
    return (segment.ready == Ready::here ? stage.inner.bytes : 0) +
           (stage.reads_output ? own(segment.t + 1) : 0);
  }

  void solve(const Segment& segment) {
    best_.clear();
    for (const bool boundary_goes : {false, true}) {
      if (boundary_goes && !may_go(chain_.boundary(segment.s))) continue;
      for (const bool inner_goes : {false, true})
        if (!inner_goes || (segment.s < segment.t && may_go(chain_.stages[segment.s].inner)))
          keep(segment, boundary_goes, inner_goes);
      pass(segment, boundary_goes);
    }
    const bool whole = segment.s == 0 && segment.t + 1 == count_;
    if (frontier_.settings_.only_least) {
      best_.resize(1);
    } else if (best_.size() > cap_ && !whole) {
      thin(best_, cap_, prices_, scratch_);
      frontier_.thinned_ = true;
    }
    frontier_.segments_[frontier_.index(segment)] = best_;
  }

  /// Adds points to the segment, for schedules in which the forward pass of stage s keeps the inner tensors of s. After
  /// this forward pass, segment s + 1 … t is executed, and then the backward pass of s.
  void keep(const Segment& segment, bool boundary_goes, bool inner_goes) {
    const auto [s, t, copied, needed, ready, around] = segment;
    const ChainStage& stage = chain_.stages[s];
    const std::int64_t first = first_boundary(segment);
    const bool read_again = stage.reads_input || needed;
    if (boundary_goes && !read_again) return;
    const bool runs = s < t || ready == Ready::no;
    ParetoNode node{.boundary_goes = boundary_goes, .inner_goes = inner_goes};
    double seconds = (runs ? stage.forward_s : 0) + stage.backward_s;
    if (boundary_goes) seconds += copies(segment);
    if (inner_goes) seconds += price(stage.inner.save_s + stage.inner.load_s);
    const std::int64_t forward = runs
                                     ? first + gradient(t + 1) + ready_bytes(segment) + own(s + 1) +
                                           stage.inner.bytes + stage.forward_workspace(true)
                                     : 0;
    const bool there = stage.reads_input || (needed && !boundary_goes);
    // The gradient of the carried part is in the gradients of boundary s and of boundary s + 1, but counts once.
    const std::int64_t gradients = gradient(s + 1) + gradient(s) - stage.carried.gradient;
    const std::int64_t backward = gradients + stage.inner.bytes + (there ? first : 0) +
                                  (stage.reads_output ? own(s + 1) : 0) + stage.backward_workspace;
    const std::int64_t floor = std::max(forward, backward);
    added_.clear();
    if (s == t) {
      node.peak = floor;
      node.seconds = seconds;
      added_.push_back(node);
      return merge(best_, added_, scratch_);
    }
    const bool stays = read_again && !boundary_goes;
    const std::int64_t held = (stays ? first : 0) + (inner_goes ? 0 : stage.inner.bytes);
    const ParetoNodes& rest = nodes_of({s + 1, t, false, stage.reads_output, ready,
                                        frontier_.is_around(s + 1, limit(segment, stays))});
    for (std::uint32_t i = 0; i < rest.size(); ++i) {
      if (i + 1 < rest.size() && rest[i + 1].peak + held <= floor) continue;
      node.peak = std::max(floor, rest[i].peak + held);
      node.seconds = seconds + rest[i].seconds;
      node.first = i;
      added_.push_back(node);
    }
    merge(best_, added_, scratch_);
  }

  /// The forward passes of the stages s … k - 1 if these stages keep no tensors.
  struct Passes {
    double seconds = 0;
    /// The most bytes of any pass except the first and the last, without the bytes that are on the device during all
    /// passes. There is one number for each limit of is_around(): 0, s and s + 1.
    std::array<std::int64_t, 3> between = {};
  };

  /// Returns the index in `passes_` of the segment from s to t.
  std::size_t place(std::size_t s, std::size_t t) const {
    return frontier_.index({.s = s, .t = t}) / frontier_.states_;
  }

  /// Sets `passes_` for the stages s … k - 1, for each k at which a segment that begins with stage s may split.
  void add_passes_from(std::size_t s) {
    Passes passes;
    for (std::size_t k = s + 1; k <= count_; ++k) {
      const ChainStage& stage = chain_.stages[k - 1];
      passes.seconds += stage.forward_s;
      if (frontier_.has(s, k - 1)) passes_[place(s, k - 1)] = passes;
      if (k == s + 1) continue;
      for (std::size_t i = 0; i < 3; ++i)
        passes.between[i] =
            std::max(passes.between[i], added_by(k - 1, i == 0 ? 0 : s + i - 1) + own(k) +
                                            stage.forward_workspace(false));
    }
  }

  /// Adds schedules for every k at which the segment may split. First, the stages s … k - 1 run. Of these, only the
  /// last stage may keep its inner tensors. Then segment k … t is executed, and then s … k - 1, which reads boundary s.
  void pass(const Segment& segment, bool boundary_goes) {
    const std::size_t s = segment.s, t = segment.t;
    if (t - s < frontier_.free_length_) {
      for (std::size_t k = s + 1; k <= t; ++k) split_at(segment, boundary_goes, k);
      return;
    }
    auto k = std::upper_bound(splits_.begin(), splits_.end(), s);
    for (; k != splits_.end() && *k <= t; ++k) split_at(segment, boundary_goes, *k);
  }

  /// Adds the schedules in which the segment splits at k. The comment of pass() says what these schedules do.
  void split_at(const Segment& segment, bool boundary_goes, std::size_t k) {
    const auto [s, t, copied, needed, ready, around] = segment;
    const ChainStage& stage = chain_.stages[k - 1];
    const std::size_t limit = Frontier::limit(segment, !boundary_goes);
    const Passes& passes = passes_[place(s, k - 1)];
    const bool one = k == s + 1;
    const std::int64_t always = gradient(t + 1) + ready_bytes(segment);
    const std::int64_t first = first_boundary(segment), held = boundary_goes ? 0 : first;
    const std::int64_t running = always + (one ? first : held + added_by(k - 1, limit)) + own(k);
    std::int64_t floor = 0;  // the most bytes of any of the passes s … k - 2
    if (!one)
      floor = std::max(always + first + own(s + 1) + chain_.stages[s].forward_workspace(false),
                       always + held +
                           passes.between[!boundary_goes ? 2
                                          : around       ? 1
                                                         : 0]);
    ParetoNode node{std::max(floor, running + stage.inner.bytes + stage.forward_workspace(true)),
                    (boundary_goes ? copies(segment) : 0) + passes.seconds,
                    static_cast<std::uint16_t>(k), boundary_goes};
    const double seconds = node.seconds;
    Segment later{k, t, false, stage.reads_output, ready, frontier_.is_around(k, limit)};
    Segment again{s, k - 1, copied || boundary_goes, needed, Ready::here, around};
    if (!one && may_part(k - 1)) {
      node.keeps = true;
      join(node, nodes_of(later), held + stage.inner.bytes, nodes_of(again));
      // If a stage keeps neither inner tensors nor its output, running it twice would save no bytes.
      if (stage.inner.bytes == 0 && !stage.reads_output) return;
      node.inner_goes = true;
      node.seconds += price(stage.inner.save_s + stage.inner.load_s);
      again.ready = Ready::away;
      if (may_go(stage.inner)) join(node, nodes_of(later), held, nodes_of(again));
    }
    floor = std::max(floor, running + stage.forward_workspace(false));
    later.needed = false;
    again.ready = Ready::no;
    join({floor, seconds, static_cast<std::uint16_t>(k), boundary_goes}, nodes_of(later), held,
         nodes_of(again));
  }

  /// Adds the points of a segment that splits into the segments `later` and `again`, which run in this order. A point
  /// of `later` and a point of `again` give one point. While `later` runs, the device also holds `held` other bytes.
  void join(const ParetoNode& node, const ParetoNodes& later, std::int64_t held,
            const ParetoNodes& again) {
    const std::int64_t least = std::max({node.peak, later[0].peak + held, again[0].peak});
    if (frontier_.settings_.only_least && !best_.empty() && best_.front().peak <= least) return;
    const double fastest = node.seconds + later.back().seconds + again.back().seconds;
    const auto beyond = std::upper_bound(
        best_.begin(), best_.end(), least,
        [](std::int64_t bytes, const ParetoNode& known) { return bytes < known.peak; });
    if (beyond != best_.begin() && !is_faster(fastest, (beyond - 1)->seconds)) return;
    added_.clear();
    sluice::join(node, {later, held, again}, best_, added_);
    if (!added_.empty()) merge(best_, added_, scratch_);
  }

  /// Returns the seconds to copy a segment's first boundary to host memory and back. If host memory already has a copy,
  /// the seconds of the save are left out. A carried part that an earlier boundary holds on the device is not copied.
  double copies(const Segment& segment) const {
    const ChainTensor& tensor = chain_.boundary(segment.s);
    const ChainTensor part = segment.around ? carried(segment.s).tensor : ChainTensor{};
    return price((segment.copied ? 0 : tensor.save_s - part.save_s) + tensor.load_s - part.load_s);
  }

  Frontier& frontier_;
  const Chain& chain_;
  std::size_t count_;
  std::size_t cap_;
  std::vector<double> prices_;
  std::vector<std::size_t> splits_;  ///< the boundaries at which any segment may split
  std::vector<Passes> passes_;       ///< indexed by place(s, k - 1)
  ParetoNodes best_, added_, scratch_;
};

Frontier::Frontier(const Chain& chain, const FrontierSettings& settings)
    : chain_(chain), settings_(settings) {
  if (chain_.stages.empty()) {
    points_.push_back({});
    return;
  }
  if (chain_.stages.size() >= std::numeric_limits<std::uint16_t>::max())
    throw InternalError("the chain has too many stages for the dynamic programme");
  const std::size_t n = chain_.stages.size();
  if (settings_.cap == 0) settings_.cap = n <= 20 ? 4096 : n <= 64 ? 256 : n <= 256 ? 128 : 64;
  lay_out();
  Solver(*this).solve();
  const double first = chain_.input.bytes > 0 ? chain_.input.load_s * settings_.copy_price : 0;
  for (const ParetoNode& node :
       segments_[index({0, chain_.stages.size() - 1, true, false, Ready::no})])
    points_.push_back({node.peak, node.seconds + first});
}

void Frontier::lay_out() {
  const std::size_t n = chain_.stages.size();
  split_ = spread_splits(chain_, settings_.splits);
  free_length_ = settings_.free_length;
  parts_all_ = n <= settings_.splits;
  for (std::size_t t = 0; t < n; ++t) column_.push_back(split_[t + 1] ? columns_++ : n);
  carried_.resize(1);
  states_ = states_without_around;
  for (const ChainStage& stage : chain_.stages) {
    carried_.push_back(stage.carried);
    if (stage.carried.before > 0) states_ = 2 * states_without_around;
  }
  segments_.resize(n * (columns_ + free_length_) * states_);
}

std::size_t Frontier::index(const Segment& segment) const {
  const std::size_t column =
      split_[segment.t + 1] ? column_[segment.t] : columns_ + segment.t - segment.s;
  return (segment.s * (columns_ + free_length_) + column) * states_ +
         (segment.around ? states_without_around : 0) + (segment.copied ? 6 : 0) +
         (segment.needed ? 3 : 0) + static_cast<std::size_t>(segment.ready);
}

bool Frontier::is_around(std::size_t b, std::size_t limit) const {
  return carried_[b].before > 0 && carried_[b].before <= limit;
}

std::size_t Frontier::within(std::int64_t budget) const {
  const auto above =
      std::upper_bound(points_.begin(), points_.end(), budget,
                       [](std::int64_t bytes, const Point& point) { return bytes < point.peak; });
  return above == points_.begin() ? points_.size()
                                  : static_cast<std::size_t>(above - points_.begin()) - 1;
}

Tape Frontier::tape(std::size_t point) const {
  Tape tape;
  if (chain_.stages.empty()) return tape;
  if (chain_.input.bytes > 0) tape.push_back({TapeOp::Kind::load, 0, false});
  write({0, chain_.stages.size() - 1, true, false, Ready::no}, static_cast<std::uint32_t>(point),
        tape);
  return tape;
}

void Frontier::write(const Segment& segment, std::uint32_t point, Tape& tape) const {
  using Kind = TapeOp::Kind;
  const ParetoNode& node = segments_[index(segment)].at(point);
  const auto add = [&tape](Kind kind, std::size_t number, bool inner) {
    tape.push_back({kind, static_cast<std::uint32_t>(number), inner});
  };
  const auto [s, t, copied, needed, ready, around] = segment;
  if (node.boundary_goes && !copied) add(Kind::save, s, false);
  if (node.split > 0) {
    const std::size_t last = node.split - 1u;
    for (std::size_t j = s; j <= last; ++j) add(Kind::forward, j, node.keeps && j == last);
    if (node.inner_goes) add(Kind::save, last, true);
    const bool read = node.keeps && chain_.stages[last].reads_output;
    const bool later = is_around(node.split, limit(segment, !node.boundary_goes));
    write({node.split, t, false, read, ready, later}, node.first, tape);
    if (node.boundary_goes) add(Kind::load, s, false);
    const Ready kept = node.inner_goes ? Ready::away : node.keeps ? Ready::here : Ready::no;
    return write({s, last, copied || node.boundary_goes, needed, kept, around}, node.second, tape);
  }
  const ChainStage& stage = chain_.stages[s];
  const bool runs = s < t || ready == Ready::no;
  if (runs) add(Kind::forward, s, true);
  if (node.inner_goes) add(Kind::save, s, true);
  if (s < t) {
    const bool stays = (stage.reads_input || needed) && !node.boundary_goes;
    const bool later = is_around(s + 1, limit(segment, stays));
    write({s + 1, t, false, stage.reads_output, ready, later}, node.first, tape);
  }
  if (node.inner_goes || (!runs && ready == Ready::away)) add(Kind::load, s, true);
  if (node.boundary_goes && stage.reads_input) add(Kind::load, s, false);
  add(Kind::backward, s, false);
  if (node.boundary_goes && !stage.reads_input) add(Kind::load, s, false);
}

}  // namespace sluice
