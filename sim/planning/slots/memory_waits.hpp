// Finds for what every run of a program waits because the memory of a device is too small, wherever its loads are
// listed. MemoryRun turns this into times, with which a clock of the run computes a lower bound of its seconds. Three
// facts are used:
//   1. An operation starts only when its device has room for all bytes that it needs. Tensors whose saves have not yet
//      ended take room from it.
//   2. A load cannot have its bytes during an operation that leaves no room for them.
//   3. When an operation ends, the loads for later operations that have already started fit beside it. The other loads
//      come after it, one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "planning/program.hpp"

namespace sluice {

/// Returns, indexed by operation, bytes that are on the device during the operation, in every round. In the first
/// round, tensors that stay on the device may come only when their stage needs them.
std::vector<std::int64_t> bytes_in_every_round(const Program& program, std::uint32_t device);

struct MemoryWaits {
  /// No device holds more than `limit` bytes. Saves of a device end in listing order. The program must not leave saves
  /// to the next round.
  MemoryWaits(const Program& program, std::int64_t limit);

  /// Indexed by operation. If the number is n > 0, the operation starts after the save with the index n - 1 of the
  /// round.
  std::vector<std::uint32_t> saves;
  /// Indexed by instance: the operation after whose end the load of the instance starts, or -1.
  std::vector<std::int64_t> load_after;
  /// Indexed by operation: the bytes that it leaves free on its device.
  std::vector<std::int64_t> room;
  /// Indexed by device: the fewest seconds that any load takes per byte, a little lower because of rounding.
  std::vector<double> load_s_per_byte;
};

/// The times of one run. Its functions are called for the operations of a round in listing order, round after round.
class MemoryRun {
 public:
  explicit MemoryRun(const MemoryWaits& waits, std::size_t saves)
      : waits_(waits),
        saved_(saves, 0),
        needed_bytes_(waits.load_s_per_byte.size(), 0),
        behind_(waits.load_s_per_byte.size(), -std::numeric_limits<double>::infinity()) {}

  /// An operation on this device needs a load of so many bytes.
  void need(std::uint32_t device, std::int64_t bytes) {
    needed_bytes_[device] += static_cast<double>(bytes);
  }
  /// Returns a time before which the operation does not start. The latency of loads does not count: perhaps all loads
  /// of the operation were early, and have long arrived.
  double start(std::size_t operation, std::uint32_t device) const {
    const std::uint32_t saves = waits_.saves[operation];
    return std::max(saves > 0 ? saved_[saves - 1] : 0,
                    behind(device) * lowered);
  }
  void end(std::size_t operation, std::uint32_t device, double time) {
    const double early_s =
        static_cast<double>(waits_.room[operation]) * waits_.load_s_per_byte[device];
    behind_[device] = std::max(behind_[device], time - needed_s(device) - early_s);
  }
  /// Returns a time before which the next operation on this device does not start, because loads before it come late.
  double behind(std::uint32_t device) const { return behind_[device] + needed_s(device); }
  void end_save(std::size_t save, double time) { saved_[save] = time; }

 private:
  static constexpr double lowered = 1 - 1e-9;  ///< more than the sums are rounded
  double needed_s(std::uint32_t device) const {
    return needed_bytes_[device] * waits_.load_s_per_byte[device];
  }

  const MemoryWaits& waits_;
  std::vector<double> saved_;  ///< indexed by save: its end in this round
  /// Indexed by device: the bytes of the loads that operations have needed so far.
  std::vector<double> needed_bytes_;
  /// Indexed by device. If it is added to the seconds of all loads that operations have needed so far, the sum is a
  /// time before which the next operation does not start.
  std::vector<double> behind_;
};

}  // namespace sluice
