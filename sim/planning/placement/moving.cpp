#include "planning/placement/moving.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace sluice {

MovingTensors::MovingTensors(const PlacedQuestion& asked, const PlacementSchedule& schedule,
                             ProgramDraft& draft, const std::vector<std::uint32_t>& instances)
    : asked_(asked),
      question_(asked.question()),
      schedule_(schedule),
      draft_(draft),
      instances_(instances),
      ends_(schedule.moves.size()),
      operations_(schedule.moves.size()) {
  std::set<std::uint32_t> moving;
  for (const PlacementMove& move : schedule.moves) moving.insert(move.tensor);
  for (const std::uint32_t t : moving) follow(t);
}

/// A stay is the time for which a tensor is in one memory. The function finds in which stay each use is. For each move,
/// it finds the stay before the move and the stay after it.
void MovingTensors::follow(std::uint32_t t) {
  const TensorPath& path = schedule_.placing[t];
  const std::size_t count = question_.uses(t).count();
  const bool home = question_.has_gap(t, 0);
  std::vector<std::uint32_t> fetches(count, none), saves(count, none);
  for (std::uint32_t m = 0; m < schedule_.moves.size(); ++m)
    if (schedule_.moves[m].tensor == t)
      (schedule_.moves[m].to_fast ? fetches : saves)[schedule_.moves[m].use] = m;
  const auto further = [&](PlacedNode node) {
    const PlacementProblem::Tensor& of = question_.tensor(t);
    draft_.go_to(node);
    return draft_.make(of.name, of.tensor_class, of.bytes, 0, 0);
  };
  std::optional<Stay> in_fast, in_slow;
  if (home) in_slow = Stay{.instance = instances_[t], .home = true};
  const auto save = [&](std::uint32_t m) {
    in_slow =
        Stay{.instance = home ? instances_[t] : further(slow_node), .home = home, .made_by = m};
    ends_[m] = {*in_fast, *in_slow};
  };
  std::vector<Stay>& stays = stays_[t];
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && saves[i] != none) save(saves[i]);
    if (!path.gap[i]) in_fast.reset();
    if (fetches[i] != none) {
      in_fast = Stay{.instance = further(fast_node), .made_by = fetches[i]};
      ends_[fetches[i]] = {*in_slow, *in_fast};
    }
    std::optional<Stay>& here = path.use[i] ? in_fast : in_slow;
    if (i == 0 && !home) here = Stay{.instance = instances_[t], .begins = true};
    stays.push_back(*here);
    here->begins = false;
  }
  if (saves[0] != none) save(saves[0]);
}

const MovingTensors::Stay& MovingTensors::stay(std::uint32_t t, std::uint32_t k) const {
  const std::vector<std::uint32_t>& kernels = question_.uses(t).kernels;
  const auto at = std::lower_bound(kernels.begin(), kernels.end(), k);
  return stays_.at(t)[static_cast<std::size_t>(at - kernels.begin())];
}

void MovingTensors::list_before(std::uint32_t k) {
  for (; next_ < schedule_.moves.size() && schedule_.moves[next_].begin == k; ++next_)
    list(static_cast<std::uint32_t>(next_));
}

void MovingTensors::list(std::uint32_t m) {
  const PlacementMove& move = schedule_.moves[m];
  const auto& [from, to] = ends_[m];
  const std::int64_t here = operations_[m] = draft_.next();
  Program::Operation operation{.kind = kind_of(move), .stage = -1};
  touch(operation, move.tensor, from);
  // The stay `from` may begin with an asynchronous move: then this move waits for it. No wait is necessary for a
  // synchronous move, because all later operations begin after its end.
  if (from.made_by != none && !schedule_.moves[from.made_by].synchronous())
    draft_.wait(here, operations_[from.made_by]);
  if (to.home) {
    draft_.program.writes.push_back({here, to.instance});
    saved_home_[move.tensor] = here;
  } else {
    operation.makes.push_back(to.instance);
  }
  draft_.add(std::move(operation),
             {.from = from.instance, .to = to.instance, .synchronous = move.synchronous()});
  if (!move.synchronous()) {
    if (last_ >= 0)
      draft_.wait(here, last_);
    else
      first_.push_back(here);
    arrive_[move.needed].push_back(here);
    return;
  }
  for (const std::int64_t before : arrive_[move.begin]) draft_.wait(here, before);
  last_ = here;
}

ActionKind MovingTensors::kind_of(const PlacementMove& move) const {
  const TwoMemories& memories = asked_.memories();
  const DeviceMemory* slow = memories.device->memory_or_null(memories.slow);
  if (slow && slow->own) return ActionKind::move;
  return move.to_fast ? ActionKind::load : ActionKind::save;
}

/// Makes the operation that is added next read a tensor in the memory of this stay.
void MovingTensors::touch(Program::Operation& operation, std::uint32_t t, const Stay& stay) {
  draft_.use(operation, stay.instance);
  if (stay.home && stay.made_by == none) before_save_[t].push_back(draft_.next());
}

void MovingTensors::use(Program::Operation& operation, std::uint32_t k, std::uint32_t t,
                        bool written) {
  const Stay& here = stay(t, k);
  if (here.begins) operation.makes.push_back(here.instance);
  touch(operation, t, here);
  if (written) draft_.program.writes.push_back({draft_.next(), here.instance});
}

void MovingTensors::computes(std::uint32_t k) {
  while (!arrive_.empty() && arrive_.begin()->first <= k) {
    for (const std::int64_t move : arrive_.begin()->second) draft_.wait(draft_.next(), move);
    arrive_.erase(arrive_.begin());
  }
  last_ = draft_.next();
}

void MovingTensors::end_round() {
  list_before(question_.kernel_count());
  for (const std::int64_t move : first_) draft_.wait(move, last_, 1);
  for (const auto& [t, readers] : before_save_)
    if (const auto save = saved_home_.find(t); save != saved_home_.end())
      for (const std::int64_t reader : readers) draft_.wait(reader, save->second, 1);
}

}  // namespace sluice
