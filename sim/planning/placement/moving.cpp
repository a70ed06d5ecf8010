#include "planning/placement/moving.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace sluice {

MovingTensors::MovingTensors(const PlacedQuestion& asked, const PlacementSchedule& schedule,
                             PlanBuilder& builder, const PlanTensors& tensors)
    : asked_(asked),
      question_(asked.question()),
      schedule_(schedule),
      builder_(builder),
      tensors_(tensors),
      ends_(schedule.moves.size()),
      refs_(schedule.moves.size()) {
  std::set<std::uint32_t> moving;
  for (const PlacementMove& move : schedule.moves) moving.insert(move.tensor);
  for (const std::uint32_t t : moving) follow(t);
}

std::uint32_t MovingTensors::further(std::uint32_t t) {
  const PlacementProblem::Tensor& of = question_.tensor(t);
  return builder_.tensor(of.name, of.tensor_class, of.bytes);
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
  std::optional<Stay> in_fast, in_slow;
  if (home) in_slow = Stay{.number = tensors_.number[t], .home = true};
  const auto save = [&](std::uint32_t m) {
    in_slow = Stay{.number = home ? tensors_.number[t] : further(t), .home = home, .made_by = m};
    ends_[m] = {*in_fast, *in_slow};
  };
  std::vector<Stay>& stays = stays_[t];
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && saves[i] != none) save(saves[i]);
    if (!path.gap[i]) in_fast.reset();
    if (fetches[i] != none) {
      in_fast = Stay{.number = further(t), .fast = true, .made_by = fetches[i]};
      ends_[fetches[i]] = {*in_slow, *in_fast};
    }
    std::optional<Stay>& here = path.use[i] ? in_fast : in_slow;
    if (i == 0 && !home)
      here = Stay{.number = tensors_.number[t], .fast = path.use[i] != 0, .begins = true};
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

const std::string& MovingTensors::node(const Stay& stay) const {
  return stay.fast ? asked_.memories().fast : asked_.memories().slow;
}

void MovingTensors::list_before(std::uint32_t k) {
  for (; next_ < schedule_.moves.size() && schedule_.moves[next_].begin == k; ++next_)
    list(static_cast<std::uint32_t>(next_));
}

void MovingTensors::list(std::uint32_t m) {
  const PlacementMove& move = schedule_.moves[m];
  const auto& [from, to] = ends_[m];
  const std::uint32_t t = move.tensor;
  const PlanBuilder::Ref ref = builder_.transfer(kind_of(move), to.number,
                                                 {.from = node(from),
                                                  .to = node(to),
                                                  .release = false,
                                                  .allocate = !to.home,
                                                  .synchronous = move.synchronous()},
                                                 -1, -1);
  refs_[m] = ref;
  touch(ref, t, from);
  // The stay `from` may begin with an asynchronous move: then this move waits for it. No wait is necessary for a
  // synchronous move, because all later actions begin after its end.
  if (from.made_by != none && !schedule_.moves[from.made_by].synchronous())
    builder_.wait(ref, refs_[from.made_by]);
  if (to.home) {
    if (!tensors_.held[t])
      builder_.at(ref).uses.push_back(
          {.tensor = to.number, .pool = builder_.pool(node(to)), .read = false, .written = true});
    saved_home_[t] = ref;
  }
  if (!move.synchronous()) {
    if (last_)
      builder_.wait(ref, last_);
    else
      first_.push_back(ref);
    arrive_[move.needed].push_back(ref);
    return;
  }
  for (const PlanBuilder::Ref& before : arrive_[move.begin]) builder_.wait(ref, before);
  last_ = ref;
}

ActionKind MovingTensors::kind_of(const PlacementMove& move) const {
  const TwoMemories& memories = asked_.memories();
  const DeviceMemory* slow = memories.device->memory_or_null(memories.slow);
  if (slow && slow->own) return ActionKind::move;
  return move.to_fast ? ActionKind::load : ActionKind::save;
}

/// Makes the action read a tensor in the memory of this stay. If `written`, the action also writes it.
void MovingTensors::touch(PlanBuilder::Ref ref, std::uint32_t t, const Stay& stay, bool written) {
  if (!stay.home || !tensors_.held[t])
    builder_.at(ref).uses.push_back(
        {.tensor = stay.number, .pool = builder_.pool(node(stay)), .written = written});
  if (!stay.home || stay.made_by != none) return;
  const auto load = tensors_.loads.find(t);
  if (load != tensors_.loads.end()) builder_.wait(ref, load->second);
  before_save_[t].push_back(ref);
}

void MovingTensors::use(PlanBuilder::Ref ref, std::uint32_t k, std::uint32_t t, bool written) {
  const Stay& here = stay(t, k);
  if (here.begins) builder_.at(ref).allocates.push_back({here.number, builder_.pool(node(here))});
  touch(ref, t, here, written);
}

void MovingTensors::computes(PlanBuilder::Ref ref, std::uint32_t k) {
  while (!arrive_.empty() && arrive_.begin()->first <= k) {
    for (const PlanBuilder::Ref& move : arrive_.begin()->second) builder_.wait(ref, move);
    arrive_.erase(arrive_.begin());
  }
  last_ = ref;
}

void MovingTensors::end_round() {
  list_before(question_.kernel_count());
  for (const PlanBuilder::Ref& move : first_) builder_.wait(move, last_, 1);
  for (const auto& [t, refs] : before_save_) {
    const auto save = saved_home_.find(t);
    if (save == saved_home_.end()) continue;
    for (const PlanBuilder::Ref& ref : refs) builder_.wait(ref, save->second, 1);
  }
}

}  // namespace sluice
