#include "policy/settle/ring_seconds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "planning/copy_time.hpp"
#include "planning/training/rounding.hpp"

namespace sluice {
namespace {

/// Returns the paths from the memories of one device to those of another. Gradients may be in the first two memories of
/// a device.
std::vector<const Path*> paths_between(const Platform& platform, const std::string& from,
                                       const std::string& to) {
  const auto memories = [&](const std::string& device) {
    std::vector<std::string> names = {device};
    const std::vector<DeviceMemory>& all = platform.device(device).memories;
    if (all.size() > 1) names.push_back(all[1].pool);
    return names;
  };
  std::vector<const Path*> paths;
  for (const std::string& first : memories(from))
    for (const std::string& second : memories(to))
      if (const Path* path = platform.path_or_null(first, second)) paths.push_back(path);
  return paths;
}

/// The least seconds of a piece of a stage's gradients on its way from one device of the ring to the next.
struct Hop {
  double occupied_s = 0, latency_s = 0;
};

/// Returns the hop from each device of the ring for pieces of `bytes` bytes.
std::vector<Hop> hops(const Platform& platform, const std::vector<std::string>& devices,
                      std::int64_t bytes) {
  std::vector<Hop> all;
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const auto paths = paths_between(platform, devices[k], devices[(k + 1) % devices.size()]);
    const auto least = [&](const auto& seconds) {
      double least_s = paths.empty() ? 0 : std::numeric_limits<double>::infinity();
      for (const Path* path : paths) least_s = std::min(least_s, seconds(*path));
      return least_s;
    };
    all.push_back({least([&](const Path& path) {
                     return path.setup_s +
                            static_cast<double>(bytes) / narrowest(platform, path.channels);
                   }),
                   least([](const Path& path) { return path.latency_s; })});
  }
  return all;
}

/// Returns the seconds in which a piece goes around the ring once.
double around(const std::vector<Hop>& hops) {
  return std::accumulate(hops.begin(), hops.end(), 0.0, [](double seconds, const Hop& hop) {
    return seconds + hop.occupied_s + hop.latency_s;
  });
}

/// Returns the seconds for which device k waits (ring_seconds()).
double wait_of(std::size_t k, const std::vector<Hop>& hops) {
  const auto count = static_cast<double>(hops.size());
  return std::max(2 * (count - 1) * hops[k].occupied_s + hops[k].latency_s,
                  (count - 2) * hops[k].occupied_s + around(hops)) *
         within_accuracy;
}

/// Returns the bytes of gradients that surely go around the ring after the backward pass of a stage. A policy that keeps
/// all weights has a single gradient of weights that several stages use, so only the stage that holds them counts.
std::int64_t summed_bytes(const Training& training, const Stage& stage) {
  return training.gradient_bytes(stage.weight_bytes - stage.tied_bytes);
}

}  // namespace

// Device k begins to send a piece when a piece from device k - 1 has arrived. This piece was sent n - 1 hops before by the
// next device, which waited for a piece of device k. So between the beginnings of the first piece and of piece number
// n + 1 of a ring, at least as much time passes as a piece needs to go around the ring. If n is at least 3, piece number
// n + 1 and the pieces after it are n - 2 pieces. A copy engine begins no ring before it has sent all pieces of the ring
// before.
double all_reduce_seconds(const PolicyRequest& request, const std::vector<std::string>& devices) {
  const Workload& workload = request.workload;
  const auto replicas = static_cast<std::int64_t>(devices.size());
  const double batches =
      static_cast<double>(workload.steps) * static_cast<double>(workload.batches_per_step);
  const auto pieces = static_cast<double>(2 * (replicas - 1));
  double busiest_s = 0;
  const Platform& platform = request.pricing.platform;
  std::vector<double> around_s;  // indexed by stage
  for (const Stage& stage : request.pricing.stages)
    around_s.push_back(
        around(hops(platform, devices, summed_bytes(*workload.training, stage) / replicas)));
  for (std::size_t k = 0; replicas > 1 && k < devices.size(); ++k) {
    double least_s = std::numeric_limits<double>::infinity();
    for (const Path* path :
         paths_between(platform, devices[k], devices[(k + 1) % devices.size()])) {
      const double rate = narrowest(platform, path->channels);
      double seconds = 0;
      for (std::size_t s = 0; s < request.pricing.stages.size(); ++s) {
        const std::int64_t bytes = summed_bytes(*workload.training, request.pricing.stages[s]);
        if (bytes == 0) continue;
        const double piece_s = path->setup_s + static_cast<double>(bytes / replicas) / rate;
        const double others_s = static_cast<double>(replicas - 2) * piece_s + around_s[s];
        seconds += replicas > 2 ? std::max(pieces * piece_s, others_s) : pieces * piece_s;
      }
      least_s = std::min(least_s, seconds);
    }
    if (least_s < std::numeric_limits<double>::infinity()) busiest_s = std::max(busiest_s, least_s);
  }
  const double additions = batches * pieces * static_cast<double>(request.pricing.stages.size());
  return lowered_for_rounding(batches * busiest_s * within_accuracy, additions);
}

RingSeconds ring_seconds(const PolicyRequest& request, const std::vector<std::string>& devices) {
  if (devices.size() < 2) return {};
  const std::vector<Stage>& stages = request.pricing.stages;
  std::vector<std::vector<double>> waits_s(devices.size(), std::vector<double>(stages.size(), 0));
  std::vector<double> least_s(stages.size(), 0), all_s(devices.size(), 0);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::int64_t bytes = summed_bytes(*request.workload.training, stages[s]);
    if (bytes == 0) continue;
    const std::vector<Hop> ring =
        hops(request.pricing.platform, devices, bytes / static_cast<std::int64_t>(devices.size()));
    least_s[s] = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < devices.size(); ++k) {
      waits_s[k][s] = wait_of(k, ring);
      all_s[k] += waits_s[k][s];
      least_s[s] = std::min(least_s[s], waits_s[k][s]);
    }
  }
  const auto slowest = std::ranges::max_element(all_s);
  const double batches = static_cast<double>(request.workload.steps) *
                         static_cast<double>(request.workload.batches_per_step),
               least = std::accumulate(least_s.begin(), least_s.end(), 0.0);
  return {std::move(waits_s[static_cast<std::size_t>(slowest - all_s.begin())]),
          std::min(batches * (*slowest - least), *slowest)};
}

}  // namespace sluice
