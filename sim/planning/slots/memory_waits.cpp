#include "planning/slots/memory_waits.hpp"

#include "planning/slots/levels.hpp"

namespace sluice {

std::vector<std::int64_t> bytes_in_every_round(const Program& program, std::uint32_t device) {
  std::vector<std::int64_t> bytes = program.bytes(device);
  const std::vector<std::int64_t> firsts = program.first_of_stages();
  std::vector<std::int64_t> come(bytes.size() + 1, 0);
  std::int64_t missing = 0;
  for (std::size_t s = 0; s < program.staying.size(); ++s) {
    const Program::Staying& stays = program.staying[s];
    if (stays.device != device) continue;
    const std::int64_t all = stays.weights + stays.gradients + stays.optimizer;
    come[static_cast<std::size_t>(firsts[s])] += all;
    missing += all;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    missing -= come[i];
    bytes[i] -= missing;
  }
  return bytes;
}

namespace {

/// A save whose tensor occupies the device until the save has ended.
struct Saving {
  std::uint32_t number = 0;  ///< the index of the save in the round
  std::int64_t bytes = 0;
};

/// Sets MemoryWaits::saves for the operations of a device. `bytes` has the bytes on the device during each operation.
void find_saves(const Program& program, std::uint32_t device,
                const std::vector<std::int64_t>& bytes, std::int64_t limit,
                std::vector<std::uint32_t>& saves) {
  std::vector<Saving> all;
  std::size_t ended = 0;     // so many of `all` end before the operation starts
  std::int64_t waiting = 0;  // the bytes of the others
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Program::Operation& operation = program.operations[i];
    if (operation.device == device) {
      while (ended < all.size() && waiting > limit - bytes[i]) waiting -= all[ended++].bytes;
      saves[i] = ended == 0 ? 0 : all[ended - 1].number + 1;
    }
    for (const std::uint32_t saved : operation.saves) {
      const Program::Instance& made = program.instances[saved];
      if (made.device == device) {
        // If a later operation uses the instance, `bytes` contains it.
        const bool leaves = made.last <= static_cast<std::int64_t>(i);
        all.push_back({number, leaves ? made.bytes : 0});
        waiting += all.back().bytes;
      }
      ++number;
    }
  }
}

/// Sets MemoryWaits::load_after for the loads of a device. `bytes` has the bytes on the device during each operation.
void find_loads(const Program& program, std::uint32_t device, std::vector<std::int64_t> bytes,
                std::int64_t limit, std::vector<std::int64_t>& load_after) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (program.operations[i].device != device) bytes[i] = 0;
  const Levels levels(bytes);
  for (std::size_t i = 1; i < program.operations.size(); ++i)
    for (const std::uint32_t loaded : program.operations[i].loads) {
      const Program::Instance& made = program.instances[loaded];
      if (made.device != device || made.bytes > limit) continue;
      if (const auto full = levels.last_above(0, i - 1, limit - made.bytes))
        load_after[loaded] = static_cast<std::int64_t>(*full);
    }
}

}  // namespace

MemoryWaits::MemoryWaits(const Program& program, std::int64_t limit)
    : saves(program.operations.size(), 0),
      load_after(program.instances.size(), -1),
      room(program.operations.size(), 0),
      load_s_per_byte(program.devices.size(), std::numeric_limits<double>::infinity()) {
  for (std::uint32_t device = 0; device < program.devices.size(); ++device) {
    const std::vector<std::int64_t> bytes = bytes_in_every_round(program, device);
    find_saves(program, device, bytes, limit, saves);
    find_loads(program, device, bytes, limit, load_after);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (program.operations[i].device == device)
        room[i] = std::max<std::int64_t>(0, limit - bytes[i]);
  }
  for (const Program::Instance& made : program.instances)
    if (made.loaded && made.bytes > 0)
      load_s_per_byte[made.device] =
          std::min(load_s_per_byte[made.device], made.load_s / static_cast<double>(made.bytes));
  for (double& seconds : load_s_per_byte)
    seconds = seconds == std::numeric_limits<double>::infinity() ? 0 : seconds * (1 - 1e-9);
}

}  // namespace sluice
