#include "planning/training/step_sums.hpp"

#include <algorithm>
#include <numeric>

#include "planning/copy_time.hpp"
#include "planning/training/training.hpp"

namespace sluice {
namespace {

/// The copies between host memory and the only device that no computation hides.
struct EndCopies {
  /// The loads before the first operation, on a shown machine only those of weights. `counted_s` is for those that are
  /// loaded in each round, `staying_s` for weights that stay on the device.
  double counted_s = 0, staying_s = 0;
  std::int64_t loaded = 0;   ///< the bytes of these loads
  std::int64_t weights = 0;  ///< the bytes of those of them that are weights
  double saved_s = 0;        ///< the saves after the last operation
  std::int64_t saved = 0;    ///< the bytes of these saves
};

EndCopies end_copies(const Program& step, const CopyTime& down, const CopyTime& up, bool shown) {
  EndCopies ends;
  const Program::Operation& first = step.operations.front();
  for (const std::uint32_t load : first.loads) {
    const Program::Instance& instance = step.instances[load];
    if (shown && instance.home != Program::Home::weights) continue;
    ends.counted_s += instance.load_s;
    ends.loaded += instance.bytes;
    if (instance.home == Program::Home::weights) ends.weights += instance.bytes;
  }
  const auto stage = static_cast<std::size_t>(first.stage);
  if (stage < step.staying.size() && step.staying[stage].weights > 0) {
    ends.staying_s = down.seconds(step.staying[stage].weights);
    ends.loaded += step.staying[stage].weights;
    ends.weights += step.staying[stage].weights;
  }
  for (const std::uint32_t save : step.operations.back().saves) {
    ends.saved_s += up.seconds(step.instances[save].bytes);
    ends.saved += step.instances[save].bytes;
  }
  return ends;
}

/// Returns the seconds for which the links of a path carry this many bytes for each of the replicas, less what the
/// waits for sums of the replicas may differ. `share` is the platform with each replica's share of the links.
double seconds_of_all(const StepMachine& machine, const Platform& share, const Path& path,
                      std::int64_t bytes) {
  return within_accuracy * static_cast<double>(bytes) / narrowest(share, path.channels) -
         machine.replicas->sums_differ_s;
}

/// Returns the least seconds until the first operation has its loads. On a shown machine, its weights first come to the
/// second memory of the device. With equal replicas, one replica is the last whose weights arrive there, and one is the
/// last whose loads arrive on the device. These may be two different replicas: while one of them still waits for its
/// weights, another may already load from its second memory. So only one of the two copies counts for all replicas.
/// Without overlap, the seconds of a load include the latency.
double first_loads_seconds(const StepMachine& machine, const EndCopies& ends,
                           const CopyTime& down) {
  const double own_loads_s = ends.counted_s + ends.staying_s;
  double own_weights_s = 0, weights_s = 0, latency_s = machine.overlap ? down.latency_s : 0;
  const bool begins = machine.real && ends.weights > 0;
  const std::string& home = machine.platform.host().name;
  if (begins) {
    const std::string& far = machine.real->host().name;
    const CopyTime copy = copy_time(*machine.real, far, home);
    own_weights_s = weights_s = copy.seconds(ends.weights);
    latency_s += copy.latency_s;
    if (machine.replicas) {
      const Platform& share = *machine.replicas->real_share;
      weights_s =
          std::max(weights_s, seconds_of_all(machine, share, share.path(far, home), ends.weights));
    }
  }
  double loads_s = own_loads_s;
  if (machine.replicas) {
    const Platform& share = *machine.replicas->share;
    loads_s = std::max(
        loads_s, seconds_of_all(machine, share, share.path(home, machine.priced), ends.loaded));
  }
  return latency_s + std::max(weights_s + own_loads_s, own_weights_s + loads_s);
}

/// Returns whether the saves after the last operation wait until all replicas have summed their gradients.
bool saves_sums(const StepMachine& machine, const Program::Operation& last) {
  return machine.replicas && !machine.replicas->sums_s.empty() && last.kind == ActionKind::update &&
         machine.replicas->sums_s[static_cast<std::size_t>(last.stage)] > 0;
}

/// Adds the seconds of the copies before the first operation and after the last operation, for one device. With equal
/// replicas, one of them starts its first operation when the shared links have carried the first loads of all replicas.
/// This replica need not be the one for which EqualReplicas::sums_s holds, so the bound is smaller by `sums_differ_s`.
/// The last saves of all replicas begin when each of them has completed its gradients. Until then, a device has waited
/// for the sums of all batches but the last.
void add_ends(TrainingSums& sums, const Program& step, const StepMachine& machine) {
  const std::string& host = machine.platform.host().name;
  const CopyTime down = copy_time(machine.platform, host, machine.priced),
                 up = copy_time(machine.platform, machine.priced, host);
  const EndCopies ends = end_copies(step, down, up, machine.real != nullptr);
  if (ends.loaded > 0) sums.first_loads_s = first_loads_seconds(machine, ends, down);
  if (machine.real) sums.staying.load_s = ends.staying_s;
  if (ends.saved == 0 || machine.real) return;
  double saves_s = ends.saved_s;
  if (saves_sums(machine, step.operations.back())) {
    const Platform& share = *machine.replicas->share;
    const std::vector<double>& sums_s = machine.replicas->sums_s;
    const double all_s = static_cast<double>(ends.saved) /
                         narrowest(share, share.path(machine.priced, host).channels);
    saves_s = std::max(
        saves_s, within_accuracy * all_s - std::accumulate(sums_s.begin(), sums_s.end(), 0.0));
  }
  sums.last_saves_s = saves_s + up.latency_s;
}

/// Sets TrainingSums::staying for one device, if the platform is not a shown machine.
void add_staying(TrainingSums& sums, const Program& step, const StepMachine& machine) {
  const std::string& host = machine.platform.host().name;
  const CopyTime down = copy_time(machine.platform, host, machine.priced);
  double bytes = 0;
  for (const Program::Staying& stays : step.staying) {
    if (stays.weights > 0) sums.staying.load_s += down.seconds(stays.weights);
    bytes += static_cast<double>(stays.weights);
  }
  sums.staying.link_s =
      bytes / narrowest(machine.platform, links_of_all_copies(machine.platform, machine.devices,
                                                              {.loads = true, .saves = true}));
  if (!machine.replicas) return;
  const Platform& share = *machine.replicas->share;
  const Path &to = share.path(host, machine.priced), &from = share.path(machine.priced, host);
  sums.staying.shared_loads_s = bytes / narrowest(share, to.channels);
  sums.staying.shared_s = bytes / narrowest(share, common_channels(to, from));
}

/// Adds the seconds in which the links that equal replicas share carry the copies of all replicas. Each replica loads
/// and saves this many bytes.
void add_shared_links(TrainingSums& sums, const StepMachine& machine, double loaded, double saved) {
  const Platform& share = *machine.replicas->share;
  const std::string& host = machine.platform.host().name;
  const Path &down = share.path(host, machine.priced), &up = share.path(machine.priced, host);
  sums.shared_loads_s = loaded / narrowest(share, down.channels);
  sums.shared_saves_s = saved / narrowest(share, up.channels);
  sums.shared_s = (loaded + saved) / narrowest(share, common_channels(down, up));
}

/// Calls `use(i, seconds)` for each update that waits for the sums of gradients. After the last operation that adds to
/// the gradients, the replicas sum them. If the next operation is the update of the same stage, the device computes
/// nothing for these seconds. `i` is the index of the update.
template <class Use>
void each_wait_for_sums(const Program& step, const EqualReplicas& replicas, const Use& use) {
  for (std::size_t i = 1; i < step.operations.size() && !replicas.sums_s.empty(); ++i) {
    const Program::Operation &last = step.operations[i - 1], &update = step.operations[i];
    if (update.kind != ActionKind::update || !record_of(last.kind).adds_gradients) continue;
    if (last.stage == update.stage) use(i, replicas.sums_s[static_cast<std::size_t>(update.stage)]);
  }
}

}  // namespace

TrainingSums sums_of(const Program& step, const StepMachine& machine) {
  const CopyTime up = copy_time(machine.platform, machine.priced, machine.platform.host().name);
  TrainingSums sums{.additions = static_cast<double>(step.operations.size()),
                    .peaks = peaks_of(step, machine.devices.size())};
  for (const Program::Operation& operation : step.operations) sums.compute_s += operation.seconds;
  double loaded_bytes = 0, saved_bytes = 0;
  for (const Program::Instance& instance : step.instances) {
    const bool loaded = instance.loaded && !(machine.real && instance.home == Program::Home::input);
    const bool saved = instance.saved_at >= 0;
    if (loaded) sums.load_s += instance.load_s;
    if (saved) sums.save_s += up.seconds(instance.bytes);
    if (loaded) loaded_bytes += static_cast<double>(instance.bytes);
    if (saved) saved_bytes += static_cast<double>(instance.bytes);
    sums.additions += (instance.loaded ? 1 : 0) + (saved ? 1 : 0);
  }
  sums.link_s = (loaded_bytes + saved_bytes) /
                narrowest(machine.platform, links_of_all_copies(machine.platform, machine.devices,
                                                                {.loads = true, .saves = true}));
  if (machine.devices.size() == 1) {
    if (machine.replicas) {
      add_shared_links(sums, machine, loaded_bytes, saved_bytes);
      each_wait_for_sums(step, *machine.replicas,
                         [&](std::size_t, double seconds) { sums.sums_s += seconds; });
    }
    add_ends(sums, step, machine);
    if (!machine.real) add_staying(sums, step, machine);
  }
  if (!machine.overlap) return sums;
  const auto engines = static_cast<double>(machine.devices.size());
  sums.load_s /= engines;  // devices copy at the same time, with engines of their own
  sums.save_s /= engines;
  return sums;
}

std::vector<double> waits_for_sums(const Program& step, const EqualReplicas* replicas) {
  std::vector<double> waits;
  if (replicas)
    each_wait_for_sums(step, *replicas, [&](std::size_t update, double seconds) {
      waits.resize(step.operations.size(), 0);
      waits[update] = seconds;
    });
  return waits;
}

Program with_waits_for_sums(Program step, const EqualReplicas* replicas) {
  const std::vector<double> waits = waits_for_sums(step, replicas);
  for (std::size_t i = 0; i < waits.size(); ++i) step.operations[i].seconds += waits[i];
  return step;
}

std::vector<std::uint32_t> links_of_all_copies(const Platform& platform,
                                               const std::vector<std::string>& devices,
                                               const CopyDirections& copies) {
  const std::string &host = platform.host().name, &first = devices.front();
  Path common = copies.loads ? platform.path(host, first) : platform.path(first, host);
  for (const std::string& device : devices) {
    if (copies.loads) common.channels = common_channels(common, platform.path(host, device));
    if (copies.saves) common.channels = common_channels(common, platform.path(device, host));
  }
  return common.channels;
}

}  // namespace sluice
