#include "planning/training/step_clock.hpp"

#include <algorithm>
#include <map>

#include "planning/copy_time.hpp"
#include "planning/training/clock/step_run.hpp"
#include "planning/training/step_sums.hpp"

namespace sluice {

StepClock::StepClock(const Program& step, const Platform& platform,
                     const std::vector<std::string>& devices, std::int64_t rounds,
                     const Platform* real_machine, std::optional<std::int64_t> memory,
                     const EqualReplicas* replicas)
    : step_(step),
      rounds_(rounds),
      written_(step.instances.size()),
      sums_differ_s_(replicas ? replicas->sums_differ_s : 0),
      left_out_(left_out_passes(step)) {
  if (memory) memory_.emplace(step, *memory);
  const std::string& host = platform.host().name;
  std::map<std::string, std::size_t> streams;
  const auto way = [&](const Path& path) {
    return CopyStream{streams.try_emplace(path.stream, streams.size()).first->second,
                      path.latency_s};
  };
  std::vector<CopyTime> up, down;
  for (const std::string& device : devices) {
    down_.push_back(way(platform.path(host, device)));
    up_.push_back(way(platform.path(device, host)));
    down.push_back(copy_time(platform, host, device));
    up.push_back(copy_time(platform, device, host));
  }
  Users users;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    users.emplace_back(&down_[d], &platform.path(host, devices[d]));
    users.emplace_back(&up_[d], &platform.path(devices[d], host));
  }
  if (real_machine) {
    const std::string& far = real_machine->host().name;
    real_ = RealCopies{.begins = way(real_machine->path(far, host))};
    for (const std::string& device : devices) {
      real_->inputs.push_back(way(real_machine->path(far, device)));
      real_->input_times.push_back(copy_time(*real_machine, far, device));
    }
    const CopyTime begins = copy_time(*real_machine, far, host);
    for (const Program::Place& place : step.places) {
      if (place.home != Program::Home::weights || place.bytes == 0) continue;
      real_->begins_s[place.number] = begins.seconds(place.bytes);
      real_->begins_bytes[place.number] = place.bytes;
    }
    users.emplace_back(&real_->begins, &real_machine->path(far, host));
    for (std::size_t d = 0; d < devices.size(); ++d)
      users.emplace_back(&real_->inputs[d], &real_machine->path(far, devices[d]));
  }
  streams_ = streams.size();
  find_shared_links(platform, users, replicas && !real_machine ? replicas->share : nullptr);
  for (const Program::Instance& made : step.instances)
    save_s_.push_back(made.saved_at < 0 ? 0 : up[made.device].seconds(made.bytes));
  for (const Program::Staying& stays : step.staying)
    weights_s_.push_back(stays.weights == 0 ? 0 : down[stays.device].seconds(stays.weights));
  const std::vector<std::int64_t> firsts = step.first_of_stages();
  for (std::size_t s = 0; s < step.staying.size(); ++s)
    if (step.staying[s].weights > 0) first_uses_.emplace_back(firsts[s], s);
  std::sort(first_uses_.begin(), first_uses_.end());
  waits_s_ = waits_for_sums(step, replicas);
  waits_s_.resize(step.operations.size(), 0);
  find_saves();
}

void StepClock::find_saves() {
  saves_.push_back(0);
  const HomeWrites writes(step_);
  for (const Program::Operation& operation : step_.operations) {
    const auto at = static_cast<std::int64_t>(saves_.size()) - 1;
    for (const std::uint32_t loaded : operation.loads) written_[loaded] = writes.before(loaded, at);
    saves_.push_back(saves_.back() + operation.saves.size());
    compute_s_ += operation.seconds;
  }
}

StepClock StepClock::of_few_rounds() const {
  StepClock few = *this;
  few.rounds_ = std::min(few.rounds_, exact_rounds);
  return few;
}

double StepClock::at_least(const std::vector<Program::Load>& loads,
                           const std::vector<LoadPlace>& places) const {
  return left_out_.repeat(loads, places) ? StepRun(*this, loads, &places).seconds() : at_least();
}

double StepClock::at_least() const {
  return StepRun(*this, loads_when_needed(step_), nullptr).seconds();
}

}  // namespace sluice
