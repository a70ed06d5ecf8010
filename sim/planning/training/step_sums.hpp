// Sums over the operations and copies of a training step. Lower bounds of a run's seconds are made from these sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/device_bytes.hpp"
#include "planning/equal_replicas.hpp"
#include "planning/program.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// The seconds of all computations, all loads and all saves of a step. If the platform is a shown machine, loads of
/// inputs do not count, because they use other links on the real machine. With overlap, the seconds of copies are
/// divided by the number of devices that take turns, because each device has its own copy engines. `peaks` is the most
/// bytes that each device holds if all actions run one after the other.
struct TrainingSums {
  double compute_s = 0, load_s = 0, save_s = 0;
  /// The seconds in which the slowest link that all of these loads and saves cross carries their bytes. This is 0 if
  /// there is no such link, for example because the two directions of the link to the device share no bandwidth.
  double link_s = 0;
  /// With equal replicas: the same for the loads, the saves, and both, of all replicas on the links that they share.
  double shared_loads_s = 0, shared_saves_s = 0, shared_s = 0;
  /// The seconds for which a device only waits for the sums of gradients of all replicas: an update directly follows
  /// the last operation that adds to the gradients.
  double sums_s = 0;
  double additions = 0;  ///< the number of all computations, loads and saves of a step
  /// The seconds of the loads before the first operation, and of the saves after the last operation, until the data
  /// have arrived. With equal replicas, they are for the replica that waits longest for shared links. Both are 0 with
  /// several devices. On a shown machine, the weights first come to the second memory, and the saves do not count.
  double first_loads_s = 0, last_saves_s = 0;
  /// The loads of weights that stay on the only device. Each of them is loaded once per run. On a shown machine, only
  /// those before the first operation count. These seconds are not in the sums above, except that `first_loads_s` has
  /// those before the first operation.
  struct StayingLoads {
    double load_s = 0, link_s = 0, shared_loads_s = 0, shared_s = 0;  ///< the same as above
  } staying = {};
  DeviceBytes peaks;
};

/// The machine of a step. All references must outlive the object.
struct StepMachine {
  const Platform& platform;
  const std::vector<std::string>& devices;  ///< the devices that take turns
  const std::string& priced;                ///< the device whose prices the step has
  bool overlap = true;
  /// The real machine if the platform is a shown machine (planning/placement/backing.hpp), otherwise null.
  const Platform* real = nullptr;
  const EqualReplicas* replicas = nullptr;  ///< as in PolicyRequest
};
TrainingSums sums_of(const Program& step, const StepMachine& machine);

/// Returns the step. If it is a step of one of several equal replicas that sum gradients, the seconds of each update
/// include those for which its device only waits for these sums (TrainingSums::sums_s). `replicas` may be null.
Program with_waits_for_sums(Program step, const EqualReplicas* replicas);

/// Returns these seconds for each operation of the step. Empty if no operation waits for sums.
std::vector<double> waits_for_sums(const Program& step, const EqualReplicas* replicas);

/// Which copies between host memory and a device count. At least one of the two must be true.
struct CopyDirections {
  bool loads = false, saves = false;
};

/// Returns the links that all these copies cross, between host memory and these devices.
std::vector<std::uint32_t> links_of_all_copies(const Platform& platform,
                                               const std::vector<std::string>& devices,
                                               const CopyDirections& copies);

}  // namespace sluice
