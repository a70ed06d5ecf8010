#include "fates/optimal/joint.hpp"

#include <algorithm>
#include <vector>

#include "fates/device_tape.hpp"

namespace sluice {
namespace {

using Kind = TapeOp::Kind;
using Boundaries = std::vector<std::size_t>;

/// Returns for each stage s those of the boundaries 0 to s that stage s or a later stage reads.
std::vector<Boundaries> crossing_boundaries(const Chain& chain) {
  const std::size_t n = chain.stages.size();
  std::vector<std::size_t> last(n + 1, 0);  // for each boundary, the last stage that reads it
  last[n] = n;
  for (std::size_t s = 0; s < n; ++s) chain.each_read(s, [&](std::size_t b, bool) { last[b] = s; });
  std::vector<Boundaries> crossing(n + 1);
  Boundaries live;
  for (std::size_t b = 0; b <= n; ++b) {
    live.push_back(b);
    live.erase(std::remove_if(live.begin(), live.end(), [&](std::size_t i) { return last[i] < b; }),
               live.end());
    crossing[b] = live;
  }
  return crossing;
}

/// A joint tape is a tape of the view, whose boundaries are joint boundaries (joint.hpp). Some operations of it make or
/// load a boundary. For each such operation, returns the last operation that uses the boundary before it is made or
/// loaded again.
std::vector<std::size_t> last_uses(const Chain& chain, const Tape& tape) {
  std::vector<std::size_t> last(tape.size(), 0), next(chain.stages.size() + 1, 0);
  const auto use = [&](std::size_t b, std::size_t at) { next[b] = std::max(next[b], at); };
  for (std::size_t at = tape.size(); at-- > 0;) {
    const TapeOp& op = tape[at];
    const bool copies = op.kind == Kind::save || op.kind == Kind::load;
    if (copies && op.inner) continue;
    const std::size_t brought = copies ? op.number : op.number + 1;
    if (op.kind == Kind::load || op.kind == Kind::forward) {
      last[at] = std::max(at, next[brought]);
      next[brought] = 0;
    }
    if (op.kind == Kind::save) use(op.number, at);
    if (op.kind == Kind::forward) use(op.number, at);
    if (op.kind != Kind::backward) continue;
    if (chain.stages[op.number].reads_input) use(op.number, at);
    if (chain.stages[op.number].reads_output) use(op.number + 1, at);
  }
  return last;
}

class Separating {
 public:
  Separating(const Chain& chain, const Tape& joint)
      : chain_(chain),
        joint_(joint),
        crossing_(crossing_boundaries(chain)),
        last_(last_uses(chain, joint)),
        there_until_(chain.stages.size() + 1, 0),
        absent_(chain.stages.size() + 1, false),
        saved_(chain.stages.size() + 1, false) {}

  Tape tape() {
    for (at_ = 0; at_ < joint_.size(); ++at_) take(joint_[at_]);
    drop_idle_saves();
    return std::move(tape_);
  }

 private:
  void take(const TapeOp& op) {
    const std::size_t s = op.number;
    if (op.kind == Kind::save || op.kind == Kind::load) {
      if (op.inner) return tape_.push_back(op);
      return op.kind == Kind::save ? save(s) : load(s);
    }
    each_boundary_read(chain_, op, [&](std::size_t b) { need(b); });
    tape_.push_back(op);
    if (op.kind == Kind::backward) return;
    absent_[s + 1] = false;
    for (const std::size_t b : crossing_[s + 1]) hold(b);
  }

  void hold(std::size_t b) { there_until_[b] = std::max(there_until_[b], last_[at_]); }

  void save(std::size_t joint) {
    for (const std::size_t b : crossing_[joint]) {
      if (b == 0 || saved_[b] || absent_[b] || chain_.boundary(b).bytes == 0) continue;
      saved_[b] = true;
      add(Kind::save, b);
    }
  }

  /// Call this function where the tape of the view loads the joint boundary `joint`. Those boundaries in it that have
  /// left the device become `absent_`. An absent boundary is loaded only when an operation reads it.
  void load(std::size_t joint) {
    for (const std::size_t b : crossing_[joint]) {
      const bool first = b == 0 && tape_.empty();
      if (first || (there_until_[b] < at_ && (b == 0 || saved_[b]))) absent_[b] = true;
      hold(b);
      if (first) need(b);
    }
  }

  void need(std::size_t b) {
    if (!absent_[b]) return;
    absent_[b] = false;
    if (chain_.boundary(b).bytes > 0) add(Kind::load, b);
  }

  void add(Kind kind, std::size_t b) {
    tape_.push_back({.kind = kind, .number = static_cast<std::uint32_t>(b)});
  }

  /// Removes the saves of boundaries that are never loaded. Such a boundary stayed on the device as a part of another
  /// joint boundary.
  void drop_idle_saves() {
    std::vector<bool> loaded(saved_.size(), false);
    for (const TapeOp& op : tape_)
      if (op.kind == Kind::load && !op.inner) loaded[op.number] = true;
    tape_.erase(std::remove_if(tape_.begin(), tape_.end(),
                               [&](const TapeOp& op) {
                                 return op.kind == Kind::save && !op.inner && !loaded[op.number];
                               }),
                tape_.end());
  }

  const Chain& chain_;
  const Tape& joint_;
  std::vector<Boundaries> crossing_;
  std::vector<std::size_t> last_;
  /// For each boundary, the last operation of the joint tape during which a joint boundary keeps it on the device.
  std::vector<std::size_t> there_until_;
  /// Both are indexed by boundary. An absent boundary is loaded when an operation reads it.
  std::vector<bool> absent_, saved_;
  std::size_t at_ = 0;
  Tape tape_;
};

/// Adds boundary b to the output of a stage. Boundary b is the input of the chain, or the output of an earlier stage.
void carry(const Chain& chain, std::size_t b, ChainStage& stage) {
  const ChainTensor& tensor = chain.boundary(b);
  for (ChainTensor* sum : {&stage.output, &stage.carried.tensor}) {
    sum->bytes += tensor.bytes;
    sum->save_s += tensor.save_s;
    sum->load_s += tensor.load_s;
  }
  const std::int64_t gradient = b == 0 ? 0 : chain.stages[b - 1].gradient;
  stage.gradient += gradient;
  stage.carried.gradient += gradient;
  stage.carried.before = std::max(stage.carried.before, b + 1);
}

}  // namespace

Chain joint_chain(const Chain& chain) {
  if (!chain.branches()) return chain;
  Chain joint = chain;
  const std::vector<Boundaries> crossing = crossing_boundaries(chain);
  for (std::size_t s = 0; s < joint.stages.size(); ++s) {
    ChainStage& stage = joint.stages[s];
    stage.reads.clear();
    for (const std::size_t b : crossing[s + 1])
      if (b <= s) carry(chain, b, stage);
  }
  joint.stages.back().gradient = 0;
  return joint;
}

Tape separate(const Chain& chain, const Tape& joint_tape) {
  return on_devices(chain, chain.devices,
                    chain.branches() ? Separating(chain, joint_tape).tape() : joint_tape);
}

bool points_have_all_bytes(const Chain& chain) {
  const auto turns = [](const ChainStage& stage) { return stage.turn.bytes > 0; };
  return chain.devices == 1 &&
         (std::ranges::none_of(chain.stages, turns) || std::ranges::all_of(chain.stages, turns));
}

std::size_t point_within(const Chain& chain, const Frontier& frontier, std::int64_t budget) {
  const std::size_t none = frontier.points().size();
  const bool all_bytes = points_have_all_bytes(chain);
  std::size_t fits = all_bytes ? frontier.within(budget) : none;
  if (all_bytes && !chain.branches()) return fits;
  const auto needs_less = [&](std::size_t point) {
    return memory_of(chain, separate(chain, frontier.tape(point))).peak <= budget;
  };
  // A binary search for the last point that fits. The points from `low` to `high` - 1 are still to be searched.
  std::size_t low = fits == none ? 0 : fits + 1, high = none;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (needs_less(middle)) {
      fits = middle;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return fits;
}

Tape tape_within(const Chain& chain, const Frontier& frontier, std::int64_t budget) {
  std::size_t point = point_within(chain, frontier, budget);
  if (point == frontier.points().size()) return {};
  Tape tape = separate(chain, frontier.tape(point));
  while (point > 0 && !fits_in_host(chain, tape)) {
    point /= 2;
    tape = separate(chain, frontier.tape(point));
  }
  return tape;
}

std::vector<Frontier> overlapped_frontiers(const Chain& chain,
                                           const std::vector<double>& copy_prices,
                                           FrontierSettings settings) {
  Chain joint = joint_chain(chain);
  // While a backward pass waits for another device, passes can run again. So only the rest of their seconds counts.
  for (ChainStage& stage : joint.stages)
    stage.forward_s = std::max(0.0, stage.forward_s - stage.hand_over.backward_wait_s);
  std::vector<Frontier> frontiers;
  const auto add = [&](double copy_price, double host_price) {
    settings.copy_price = copy_price;
    frontiers.emplace_back(with_host_price(with_turns(joint, copy_price), host_price), settings);
  };
  constexpr double usual = 0.3;  // the price of a copy in the frontiers for limited host memory
  for (const double price : copy_prices) add(price, 0);
  for (const double price : host_prices(chain))
    if (price > 0) add(usual, price);
  settings.copies = false;
  if (chain.host_room) add(usual, 0);
  return frontiers;
}

}  // namespace sluice
