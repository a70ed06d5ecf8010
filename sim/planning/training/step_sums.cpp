#include "planning/training/step_sums.hpp"

#include "planning/copy_time.hpp"
#include "planning/training/training.hpp"

namespace sluice {
namespace {

/// Adds the seconds until the data of the copies before the first operation have arrived, and the seconds from the end
/// of the last operation until the data of its saves have arrived.
void add_ends(TrainingSums& sums, const Program& step, const CopyTime& down, const CopyTime& up) {
  const Program::Operation& first = step.operations.front();
  std::vector<double> loads;
  for (const std::uint32_t load : first.loads) loads.push_back(step.instances[load].load_s);
  const auto stage = static_cast<std::size_t>(first.stage);
  if (stage < step.staying.size() && step.staying[stage].weights > 0)
    loads.push_back(down.seconds(step.staying[stage].weights));
  for (const double seconds : loads) sums.first_loads_s += seconds;
  if (!loads.empty()) sums.first_loads_s += down.latency_s;
  const std::vector<std::uint32_t>& saves = step.operations.back().saves;
  for (const std::uint32_t save : saves)
    sums.last_saves_s += up.seconds(step.instances[save].bytes);
  if (!saves.empty()) sums.last_saves_s += up.latency_s;
}

}  // namespace

TrainingSums sums_of(const Program& step, const StepMachine& machine) {
  const std::string& host = machine.platform.host().name;
  const CopyTime down = copy_time(machine.platform, host, machine.priced),
                 up = copy_time(machine.platform, machine.priced, host);
  TrainingSums sums{.additions = static_cast<double>(step.operations.size()),
                    .peak = peak_of(step, machine.devices.size())};
  for (const Program::Operation& operation : step.operations) sums.compute_s += operation.seconds;
  double copied_bytes = 0;
  for (const Program::Instance& instance : step.instances) {
    const bool loaded =
        instance.loaded && !(machine.shown && instance.home == Program::Home::input);
    const bool saved = instance.saved_at >= 0;
    if (loaded) sums.load_s += instance.load_s;
    if (saved) sums.save_s += up.seconds(instance.bytes);
    copied_bytes += ((loaded ? 1 : 0) + (saved ? 1 : 0)) * static_cast<double>(instance.bytes);
    sums.additions += (instance.loaded ? 1 : 0) + (saved ? 1 : 0);
  }
  sums.link_s =
      copied_bytes / narrowest(machine.platform,
                               links_of_all_copies(machine.platform, machine.devices, true, true));
  if (!machine.overlap) return sums;
  const auto engines = static_cast<double>(machine.devices.size());
  sums.load_s /= engines;  // devices copy at the same time, with engines of their own
  sums.save_s /= engines;
  if (machine.devices.size() == 1 && !machine.shown) add_ends(sums, step, down, up);
  return sums;
}

std::vector<std::uint32_t> links_of_all_copies(const Platform& platform,
                                               const std::vector<std::string>& devices, bool loads,
                                               bool saves) {
  const std::string &host = platform.host().name, &first = devices.front();
  Path common = loads ? platform.path(host, first) : platform.path(first, host);
  for (const std::string& device : devices) {
    if (loads) common.channels = common_channels(common, platform.path(host, device));
    if (saves) common.channels = common_channels(common, platform.path(device, host));
  }
  return common.channels;
}

}  // namespace sluice
