#include "planning/phased/at_least.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/never.hpp"
#include "planning/placement/computing_devices.hpp"
#include "planning/replica.hpp"

namespace sluice {
namespace {

/// Copies in one direction that begin together, one after the other on one copy engine.
class CopySum {
 public:
  explicit CopySum(const CopyTime& time) : time_(time) {}
  void add(std::int64_t bytes, std::int64_t count = 1) {
    if (bytes <= 0) return;
    const auto copies = static_cast<double>(count);
    occupied_ += copies * time_.seconds(bytes);
    one_by_one_ += copies * (time_.seconds(bytes) + time_.latency_s);
  }
  double one_by_one() const { return one_by_one_; }
  double arrived() const { return occupied_ > 0 ? occupied_ + time_.latency_s : 0; }

 private:
  CopyTime time_;
  double occupied_ = 0, one_by_one_ = 0;
};

/// Returns the devices of the phases, each once. If all of them are alike, returns only the first.
std::vector<std::string> unlike_devices(const Platform& platform, const PhaseRules& rules) {
  const std::vector<std::string> devices = each_once(rules.devices);
  const auto is_alike = [&](const std::string& other) {
    return alike(platform, devices.front(), other);
  };
  return std::ranges::all_of(devices, is_alike) ? std::vector{devices.front()} : devices;
}

}  // namespace

PhasedBound::PhasedBound(const PolicyRequest& request, PhaseRules rules)
    : rules_(std::move(rules)),
      workload_(request.workload),
      bytes_(stage_bytes(request)),
      inputs_(stage_inputs(request.pricing.model, request.pricing.stages)),
      tensors_(tensors_of_stages(inputs_, bytes_.size())),
      of_phase_(workload_.batch / workload_.micro_batch *
                (rules_.once_a_step ? workload_.batches_per_step : 1)),
      fits_(!request.capacity_enforced || have_room(request.pricing.platform)) {
  stages_.assign(request.pricing.stages.size(),
                 {.compute = never, .load = never, .save = never, .copies = never});
  for (const std::string& name : unlike_devices(request.pricing.platform, rules_)) {
    const Device& device = request.pricing.platform.device(name);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const Price price = price_of(
          request.pricing,
          {.stage = request.pricing.stages[s], .device = device, .samples = workload_.micro_batch});
      stages_[s].compute =
          std::min(stages_[s].compute, static_cast<double>(of_phase_) * price.seconds);
    }
    add_copies(request.pricing.platform, name);
  }
  if (!rules_.by_stage && rules_.activations != Activations::on_chip)
    add_hand_overs(request.pricing.platform);
}

/// Returns whether each stage fits into the largest memory: its weights, and what it makes and needs for a micro-batch.
bool PhasedBound::have_room(const Platform& platform) const {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  std::int64_t room = 0;
  for (const std::string& device : rules_.devices)
    room = std::max(room, platform.device(device).memory().capacity.value_or(unlimited));
  for (std::size_t s = 0; s < bytes_.size(); ++s) {
    std::int64_t needed = bytes_[s].weights + bytes_[s].workspace;
    for (const std::size_t i : tensors_[s].makes)
      needed += inputs_[i].bytes * workload_.micro_batch;
    if (needed > room) return false;
  }
  return true;
}

void PhasedBound::add_copies(const Platform& platform, const std::string& device) {
  const bool through_host = rules_.saves_boundaries();
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    CopySum loads(copy_time(platform, platform.host().name, device)),
        saves(copy_time(platform, device, platform.host().name));
    const auto add = [&](CopySum& sum, std::size_t input) {
      sum.add(inputs_[input].bytes * workload_.micro_batch, of_phase_);
    };
    loads.add(bytes_[s].weights);
    if (through_host) {
      for (const std::size_t i : tensors_[s].reads)
        if (rules_.real_data || !inputs_[i].of_model) add(loads, i);
      for (const std::size_t i : tensors_[s].makes) add(saves, i);
    } else if (s == 0 && rules_.real_data) {
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (inputs_[i].of_model) add(loads, i);
    }
    if (s + 1 == stages_.size() && rules_.saves_answers()) saves.add(bytes_[s].output, of_phase_);
    PhaseSeconds& stage = stages_[s];
    stage.load = std::min(stage.load, loads.arrived());
    stage.save = std::min(stage.save, saves.arrived());
    stage.copies = std::min(stage.copies, loads.one_by_one() + saves.one_by_one());
  }
}

void PhasedBound::add_hand_overs(const Platform& platform) {
  const std::vector<std::string>& devices = rules_.devices;
  const std::string& host = platform.host().name;
  if (!rules_.saves_boundaries() && devices.size() == 1) return;
  std::vector<double> least(stages_.size(), never);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::string &from = devices[d], &to = devices[(d + 1) % devices.size()];
    std::vector<double> longest(stages_.size(), 0);
    for (const StageInput& input : inputs_) {
      const std::size_t next = input.made_in + 1;
      if (input.of_model || std::ranges::count(input.read_in, next) == 0) continue;
      const auto seconds = [&](const std::string& source, const std::string& target) {
        const CopyTime copy = copy_time(platform, source, target);
        return copy.seconds(input.bytes * workload_.micro_batch) + copy.latency_s;
      };
      longest[next] = std::max(longest[next], rules_.saves_boundaries()
                                                  ? seconds(from, host) + seconds(host, to)
                                                  : seconds(from, to));
    }
    for (std::size_t s = 0; s < stages_.size(); ++s) least[s] = std::min(least[s], longest[s]);
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) stages_[s].hand_over = least[s];
}

/// Returns how long a phase of the turn begins at least after the phase whose end its loads wait for has ended and the
/// phase after that has begun. `target` is its number in the turn, or that of the first phase of the next turn.
/// `computed` are the seconds of the computations between.
double PhasedBound::wait(const Turn& turn, std::size_t target, double computed) const {
  const auto phases = static_cast<std::size_t>(turn.phases);
  const std::size_t stage = target / phases % stages_.size();
  if (target % phases >= static_cast<std::size_t>(turn.batches)) return computed;
  const PhaseSeconds& own = stages_[stage];
  if (!rules_.preload) return computed + own.load;
  double seconds = std::max(computed, own.load);
  if (stage > 0 && phases == 1) seconds = std::max(seconds, computed + own.hand_over);
  return seconds;
}

double PhasedBound::seconds(const Turn& turn, const Between& between) const {
  const auto phases = static_cast<std::size_t>(turn.phases),
             batches = static_cast<std::size_t>(turn.batches), all = stages_.size() * phases;
  const auto early = static_cast<std::size_t>(
      rules_.preload ? std::max<std::int64_t>(rules_.turning_devices(), 2) - 1 : 1);
  const auto compute = [&](std::size_t phase) {
    return phase % phases < batches ? stages_[phase / phases].compute : 0;
  };
  double seconds = 0;
  for (std::size_t first = 0; first < all; first += early) {
    double computed = 0;
    for (std::size_t phase = first; phase < std::min(first + early, all); ++phase)
      computed += compute(phase);
    const std::size_t target = first + early;
    if (target > all || (target == all && !between.followed)) {
      seconds += computed;
      continue;
    }
    // The results of the phase before `first` are saved while `first` runs, and `target` waits for that.
    const bool saved = first > all - phases && (first - 1) % phases < batches;
    const double save = first == 0 ? between.save : saved ? stages_.back().save : 0;
    seconds += std::max(wait(turn, target, computed), target % phases < batches ? save : 0);
  }
  return seconds;
}

double PhasedBound::sum(const PhaseTurns& turns) const {
  PhaseRules rules = rules_;
  rules.in_flight = turns.in_flight;
  rules.last_turn = turns.last_turn;
  double compute = 0, copies = 0, sends = 0;
  for (const PhaseSeconds& stage : stages_) {
    compute += stage.compute;
    copies += stage.copies;
    if (!rules.saves_boundaries()) sends += static_cast<double>(of_phase_) * stage.hand_over;
  }
  const std::int64_t of_step = rules.once_a_step ? 1 : workload_.batches_per_step;
  const auto steps = static_cast<double>(workload_.steps),
             all = steps * static_cast<double>(of_step);
  const double ends = stages_.front().load + stages_.back().save;
  if (rules.by_stage) return rules.overlap ? ends + all * compute : all * (compute + copies);
  const std::int64_t in_flight = rules.once_a_step ? 1 : rules.in_flight,
                     full = of_step / in_flight, left = of_step % in_flight;
  const Turn whole{in_flight, in_flight}, shorter{left, left > 0 ? rules.phases_of_turn(left) : 0};
  if (!rules.overlap) {
    const auto sent = [&](const Turn& turn) {
      return turn.phases % rules.turning_devices() == 1 ? static_cast<double>(turn.batches) : 0;
    };
    const double sending = steps * (static_cast<double>(full) * sent(whole) + sent(shorter));
    return all * (compute + copies) + sending * sends;
  }
  const Turn &first = full > 0 ? whole : shorter, &last = left > 0 ? shorter : whole;
  if (workload_.steps * (full + (left > 0 ? 1 : 0)) == 1)
    return ends + seconds(first, {.followed = false});
  const Between between{.save = left < shorter.phases ? 0 : stages_.back().save};
  double sum = steps * static_cast<double>(full) * seconds(whole, between);
  if (left > 0) sum += steps * seconds(shorter, between);
  sum -= seconds(first, between) - seconds(first, {});
  sum -= seconds(last, between) - seconds(last, {.save = between.save, .followed = false});
  return ends + sum;
}

// Most bounds that differ only by rounding become equal here. Of equally fast plans with equal bounds, the judge takes
// the one that was offered first. The bound becomes smaller by a share of at least 2^-25. So it is also not above the
// seconds of an executor if transfers share a link (within_accuracy).
double PhasedBound::seconds(const PhaseTurns& turns) const {
  return fits_ ? std::nextafter(static_cast<float>(sum(turns)), 0.0F) : never;
}

std::function<double(const Reader& parameters)> phases_at_least(const PolicyRequest& request,
                                                                const Reader& parameters) {
  if (request.workload.training) return {};
  const PhasedBound bound(request, read_phase_rules(request, parameters));
  return [&request, bound](const Reader& way) {
    if (!way.is_word("placement", "none")) return 0.0;
    const PhaseRules rules = read_phase_rules(request, way);
    return bound.seconds({rules.in_flight, rules.last_turn});
  };
}

}  // namespace sluice
