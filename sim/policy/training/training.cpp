#include "policy/training/training.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/blocking.hpp"

namespace sluice {

namespace {

std::string gb(std::int64_t bytes) {
  return format_quantity(static_cast<double>(bytes), Dimension::bytes);
}

const Device& smallest(const Platform& platform, const std::vector<std::string>& names) {
  const auto bytes = [&](const std::string& name) {
    return platform.device(name).capacity.value_or(std::numeric_limits<std::int64_t>::max());
  };
  return platform.device(*std::min_element(
      names.begin(), names.end(),
      [&](const std::string& a, const std::string& b) { return bytes(a) < bytes(b); }));
}

/// The most bytes that any of the devices holds.
std::int64_t peak_of(const Step& step, std::size_t devices) {
  std::int64_t most = 0;
  for (std::uint32_t d = 0; d < devices; ++d) most = std::max(most, step.peak(d));
  return most;
}

constexpr std::int64_t scored = 3;  ///< micro-batches, in as many steps as they take

std::int64_t constant_bytes(const std::vector<StageState>& states) {
  std::int64_t bytes = 0;
  for (const StageState& state : states)
    for (const std::int64_t part : {state.weights, state.gradients, state.optimizer})
      bytes = checked_add(bytes, part, "bytes of training");
  return bytes;
}

class TrainingPlan {
 public:
  TrainingPlan(const PolicyRequest& request, const TrainingOrder& order)
      : request_(request),
        order_(order),
        device_(smallest(request.pricing.platform, order.devices)),
        strategy_(fate_catalog().find(request.strategy == "auto" ? "keep_all" : request.strategy)),
        chain_(chain_of(request, device_, strategy_.selective)),
        states_(states_of(request, device_, strategy_.selective)),
        capacity_(request.capacity_enforced ? device_.capacity : std::nullopt),
        weights_stay_(order.weights_stay ||
                      (chain_.stages.size() == 1 && order.devices.size() == 1)) {
    if (strategy_.one_by_one && !weights_stay_)
      throw InputError("fates '" + strategy_.name +
                       "' are chosen for one micro-batch at a time: "
                       "policy '" +
                       std::string(order.policy) + "' cannot take them");
    choose_fates();
  }

  Plan make() {
    const std::int64_t in_flight = std::min(this->in_flight(), per_batch());
    const StepShape shape = shape_of(in_flight, per_batch(), request_.workload.batches_per_step);
    const Step step = make_step(shape);
    if (capacity_ && peak_of(step, order_.devices.size()) > *capacity_) refuse(step, in_flight);
    add_facts(step, in_flight);
    return list_training({request_, shape, order_, room_}, step, facts_);
  }

 private:
  std::int64_t per_batch() const { return request_.workload.batch / request_.workload.micro_batch; }

  StepShape shape_of(std::int64_t in_flight, std::int64_t micro_batches,
                     std::int64_t batches) const {
    return {chain_,
            tape_,
            states_,
            micro_batches,
            batches,
            in_flight,
            weights_stay_,
            request_.workload.training->split_backward,
            static_cast<std::uint32_t>(order_.devices.size())};
  }

  void choose_fates() {
    Value keys = Value::make_map();
    if (request_.fate_keys) keys = *request_.fate_keys;
    const Record record = record_of(strategy_);
    const Reader parameters(keys, record);
    const std::int64_t per_step = per_batch() * request_.workload.batches_per_step;
    const std::int64_t together = std::min(per_step, scored);
    const std::int64_t steps = request_.workload.steps;
    const std::int64_t whole = checked_mul(per_step, steps, "micro-batches");
    const ScoredRun run{states_, together, std::min((scored + together - 1) / together, steps),
                        whole};
    FateChoice choice =
        strategy_.choose({chain_, budget(), order_.overlap,
                          [&](const Tape& tape, std::int64_t bytes) {
                            return score_tape(request_, order_, chain_, tape, bytes, run);
                          },
                          static_cast<double>(whole), static_cast<double>(steps)},
                         parameters);
    tape_ = std::move(choice.tape);
    facts_ = std::move(choice.facts);
    explained_ = choice.explained;
    room_ = capacity_;
    if (choice.bytes) room_ = *choice.bytes + (weights_stay_ ? constant_bytes(states_) : 0);
  }

  std::optional<std::int64_t> budget() const {
    if (!capacity_ || !weights_stay_) return capacity_;
    const std::int64_t constant = constant_bytes(states_);
    if (constant >= *capacity_)
      throw Infeasible("does not fit: weights, gradients and optimizer state take " + gb(constant) +
                       " of the " + gb(*capacity_) + " of " + device_.name +
                       (order_.weights_stay ? "; policy streamed lets them take turns"
                                            : "; in several stages they take turns"));
    return *capacity_ - constant;
  }

  // --- how many side by side -----------------------------------------------------------------

  /// Where not asked for: equal shares of the fewest passes that fit. More in flight would not save
  /// a pass, and a small last one has little to hide its transfers behind.
  std::int64_t in_flight() {
    if (order_.in_flight) return *order_.in_flight;
    const std::int64_t most = most_in_flight().value_or(1);
    const std::int64_t passes = shares(per_batch(), most), equal = shares(per_batch(), passes);
    if (equal < most) facts_.insert(facts_.begin(), {"fit_in_flight", std::to_string(most)});
    return equal;
  }
  static std::int64_t shares(std::int64_t all, std::int64_t each) {
    return (all + each - 1) / each;
  }

  bool fits(std::int64_t count) const {
    return !capacity_ ||
           make_step(shape_of(count, std::min(per_batch(), 2 * count), 1)).peak() <= *capacity_;
  }

  /// None: not even one does.
  std::optional<std::int64_t> most_in_flight() const {
    if (!fits(1)) return {};
    std::int64_t good = 1, bad = per_batch() + 1;
    while (bad - good > 1) {
      const std::int64_t middle = good + (bad - good) / 2;
      (fits(middle) ? good : bad) = middle;
    }
    return good;
  }

  [[noreturn]] void refuse(const Step& step, std::int64_t in_flight) const {
    std::uint32_t device = 0;
    while (step.peak(device) <= *capacity_) ++device;
    const std::vector<std::int64_t> levels = step.bytes(device);
    const auto worst = std::max_element(levels.begin(), levels.end()) - levels.begin();
    const Step::Slot& slot = step.slots[static_cast<std::size_t>(worst)];
    std::string message = "does not fit: training with " + std::to_string(in_flight) +
                          (in_flight == 1 ? " micro-batch" : " micro-batches") +
                          " in flight needs " + bytes_text(step.peak(device)) + " of the " +
                          gb(*capacity_) + " of " + order_.devices[device] + ", in the " +
                          std::string(name_of(slot.kind)) + " of " +
                          chain_.stages[static_cast<std::size_t>(slot.stage)].name + ":";
    std::array<std::int64_t, tensor_class_count> held{};
    for (const Step::Instance& made : step.instances)
      if (made.device == device && made.first <= worst && worst <= made.last)
        held[static_cast<std::size_t>(made.tensor_class)] += made.bytes;
    if (weights_stay_)
      for (const StageState& state : states_) {
        held[static_cast<std::size_t>(TensorClass::weight)] += state.weights;
        held[static_cast<std::size_t>(TensorClass::gradient)] += state.gradients;
        held[static_cast<std::size_t>(TensorClass::optimizer)] += state.optimizer;
      }
    if (slot.device == device)
      held[static_cast<std::size_t>(TensorClass::workspace)] += slot.workspace;
    for (std::size_t c = 0; c < held.size(); ++c)
      if (held[c] > 0)
        message += "\n  " + std::string(name_of(static_cast<TensorClass>(c))) + ": " + gb(held[c]);
    if (in_flight > 1) {
      const std::optional<std::int64_t> most = most_in_flight();
      message += most ? "\n  the most that fit in flight: " + std::to_string(*most)
                      : "\n  not one micro-batch fits";
    }
    throw Infeasible(message + "\n  " + advice());
  }

  /// What is not done already.
  std::string advice() const {
    std::string text = "fates that keep less, ";
    if (request_.workload.micro_batch > 1) text += "a smaller micro_batch, ";
    if (order_.weights_stay) text += "policy streamed, ";
    return text + "or smaller stages need less";
  }

  void add_facts(const Step& step, std::int64_t in_flight) {
    facts_.insert(facts_.begin(),
                  {{"in_flight", std::to_string(in_flight)},
                   {"passes_per_batch", std::to_string(step.passes)},
                   {"fates", strategy_.name},
                   {"bytes_needed", std::to_string(peak_of(step, order_.devices.size()))}});
    if (explained_) return;
    const std::vector<std::string> fates = fates_text(chain_, tape_);
    for (std::size_t s = 0, next = 0; s < fates.size(); s = next) {
      while (next < fates.size() && fates[next] == fates[s]) ++next;
      std::string stages = (next > s + 1 ? "stages " : "stage ") + std::to_string(s + 1);
      if (next > s + 1) stages += ".." + std::to_string(next);
      facts_.emplace_back(stages, fates[s]);
    }
  }

  const PolicyRequest& request_;
  const TrainingOrder& order_;
  const Device& device_;  ///< the smallest of those that take turns
  const FateStrategy& strategy_;
  Chain chain_;
  std::vector<StageState> states_;
  std::optional<std::int64_t> capacity_;
  bool weights_stay_;
  Tape tape_;
  bool explained_ = false;
  std::optional<std::int64_t> room_;  ///< bytes that early loads stay within
  std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace

TapeSeconds score_tape(const PolicyRequest& request, const TrainingOrder& order, const Chain& chain,
                       const Tape& tape, std::int64_t bytes, const ScoredRun& run) {
  const StepShape shape{chain, tape, run.states, run.micro_batches,
                        1,     1,    true,       request.workload.training->split_backward};
  PolicyRequest small = request;
  small.workload.batch = run.micro_batches * request.workload.micro_batch;
  small.workload.batches_per_step = 1;
  small.workload.steps = run.steps;
  const std::int64_t room = checked_add(bytes, constant_bytes(run.states), "bytes of training");
  const Step step = make_step(shape);
  if (step.peak() > room) return {};
  Plan plan = list_training({small, shape, order, room}, step, {});
  for (Pool& pool : plan.pools)
    if (pool.name == order.devices.front()) pool.capacity = room, pool.enforced = true;
  constexpr double never = std::numeric_limits<double>::infinity();
  double begin = never, before = 0, last = 0, updates = 0;
  std::vector<double> busy(plan.streams.size(), 0);  ///< with micro-batches
  const ReplayResult result = replay(plan, [&](const Executed& executed) {
    const Action& action = plan.actions[executed.action];
    if (!action.is_transfer()) begin = std::min(begin, executed.start);
    if (action.micro_batch >= 0) busy[action.stream] += executed.end - executed.start;
    if (action.kind == ActionKind::update) updates += executed.end - executed.start;
    if (action.samples_done == 0) return;
    before = std::exchange(last, executed.end);
  });
  if (result.blocking) return {};
  const auto done = static_cast<double>(run.micro_batches * run.steps);
  const double more = std::max(0.0, static_cast<double>(run.whole) - done);
  if (run.steps > 1) updates *= (done + more) / done;
  const double busiest = *std::max_element(busy.begin(), busy.end()) / done;
  const double each = std::max(busiest, done > 1 ? last - before : result.makespan);
  return {result.makespan + more * each, begin + updates};
}

Plan plan_training(const PolicyRequest& request, const TrainingOrder& order) {
  return TrainingPlan(request, order).make();
}

}  // namespace sluice
