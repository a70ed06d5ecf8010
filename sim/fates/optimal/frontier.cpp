#include "fates/optimal/frontier.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "fates/optimal/frontier_grid.hpp"
#include "fates/optimal/frontier_solver.hpp"

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
  for (const ParetoNode& node : segments_[index(whole())])
    points_.push_back({node.peak, node.seconds + first});
}

void Frontier::lay_out() {
  const std::size_t n = chain_.stages.size();
  split_ = spread_splits(chain_, settings_.splits);
  free_length_ = settings_.free_length;
  parts_all_ = n <= settings_.splits;
  for (std::size_t t = 0; t < n; ++t) column_.push_back(split_[t + 1] ? columns_++ : n);
  if (columns_ == n) free_length_ = 0;  // each segment ends at a boundary at which any segment may split
  carried_.resize(1);
  states_ = states_without_around;
  for (const ChainStage& stage : chain_.stages) {
    carried_.push_back(stage.carried);
    if (stage.carried.before > 0) states_ = 2 * states_without_around;
  }
  segments_.resize(n * (columns_ + free_length_) * states_ + Solver::count_partial_rows(*this));
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
  if (chain_.input.bytes > 0) tape.push_back({.kind = TapeOp::Kind::load});
  write(whole(), static_cast<std::uint32_t>(point), tape);
  return tape;
}

void Frontier::write(const Segment& segment, std::uint32_t point, Tape& tape) const {
  using Kind = TapeOp::Kind;
  const ParetoNode& node = segments_[index(segment)].at(point);
  const auto add = [&tape](Kind kind, std::size_t number, bool inner = false) {
    tape.push_back({kind, static_cast<std::uint32_t>(number), inner});
  };
  const auto [s, t, copied, needed, ready, around] = segment;
  if (node.boundary_goes && !copied) add(Kind::save, s);
  if (node.split > 0) {
    const std::size_t last = node.split - 1u;
    if (Solver::has_partials(*this) && !node.inner_goes) {
      Solver::write_opening(
          *this, {.passes = {s, node.split, t, ready, node.keeps}, .stays = !node.boundary_goes},
          node.first, tape);
    } else {
      Solver::write_passes(s, node.split, node.keeps, tape);
      if (node.inner_goes) add(Kind::save, last, /*inner=*/true);
      const bool read = node.keeps && chain_.stages[last].reads_output;
      const bool later = is_around(node.split, limit(segment, !node.boundary_goes));
      write({.s = node.split, .t = t, .needed = read, .ready = ready, .around = later}, node.first,
            tape);
    }
    if (node.boundary_goes) add(Kind::load, s);
    const Ready kept = node.inner_goes ? Ready::away : node.keeps ? Ready::here : Ready::no;
    return write({s, last, copied || node.boundary_goes, needed, kept, around}, node.second, tape);
  }
  const ChainStage& stage = chain_.stages[s];
  const bool runs = s < t || ready == Ready::no;
  if (runs) add(Kind::forward, s, /*inner=*/true);
  if (node.inner_goes) add(Kind::save, s, /*inner=*/true);
  if (s < t) {
    const bool stays = (stage.reads_input || needed) && !node.boundary_goes;
    const bool later = is_around(s + 1, limit(segment, stays));
    write({.s = s + 1, .t = t, .needed = stage.reads_output, .ready = ready, .around = later},
          node.first, tape);
  }
  if (node.inner_goes || (!runs && ready == Ready::away)) add(Kind::load, s, /*inner=*/true);
  if (node.boundary_goes && stage.reads_input) add(Kind::load, s);
  add(Kind::backward, s);
  if (node.boundary_goes && !stage.reads_input) add(Kind::load, s);
}

}  // namespace sluice
