#include "cost/memory_seconds.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.hpp"
#include "cost/operands.hpp"

namespace sluice {
namespace {

double seconds_in(const DeviceMemory& memory, const Work& work, const Query& query) {
  if (const auto seconds = memory.seconds(work.bytes, work.written)) return *seconds;
  const Device& device = query.device;
  if (memory.own)
    throw InputError(
        "device '" + device.name +
        "' has no memory bandwidth, which the roofline cost model needs (memory: {bandwidth: 960GB/s})");
  throw InputError("device '" + device.name + "' uses the memory '" + memory.pool +
                   "', which lacks the rates that the roofline cost model needs (memories: {" +
                   memory.pool + ": {read: 100GB/s, write: 50GB/s}})");
}

std::string of_layer(const Query& query) {
  return query.layer ? std::string(name_of(query.pass)) + " of layer '" + query.layer->name + "': "
                     : "";
}

void require_rates(const Query& query, const Operand& operand, const DeviceMemory& memory) {
  const bool reads = operand.read > 0 && !memory.read;
  if (!reads && !(operand.written > 0 && !memory.write)) return;
  const std::string way = reads ? "read" : "write";
  throw MissingRate(of_layer(query) + operand_is(operand) + " in '" + memory.pool +
                        "', but the platform gives no rate at which device '" + query.device.name +
                        "' could " + way + " it; add the rate to this memory, such as " + way +
                        ": 30GB/s",
                    query.device.name, memory.pool);
}

[[noreturn]] void refuse_far(const Query& query, const Operand& operand) {
  std::vector<std::string> reached;
  for (const DeviceMemory& memory : query.device.memories) reached.push_back(memory.pool);
  throw InputError(of_layer(query) + operand_is(operand) + " in '" + operand.pool +
                   "', which device '" + query.device.name +
                   "' reaches only over a link. Without a link, the device reaches " +
                   join(reached));
}

}  // namespace

double memory_seconds(const Query& query, bool side_by_side) {
  const Device& device = query.device;
  if (query.operands.empty()) return seconds_in(device.memory(), query.work, query);
  std::vector<Work> moved(device.memories.size());
  Work rest = query.work;
  for (const Operand& operand : query.operands) {
    const DeviceMemory* memory =
        operand.pool.empty() ? &device.memory() : device.memory_or_null(operand.pool);
    if (!memory) refuse_far(query, operand);
    require_rates(query, operand, *memory);
    Work& in = moved[static_cast<std::size_t>(memory - device.memories.data())];
    in.bytes += operand.read + operand.written;
    in.written += operand.written;
    rest.bytes -= operand.read + operand.written;
    rest.written -= operand.written;
  }
  moved.front().bytes += std::max(0.0, rest.bytes);
  moved.front().written += std::max(0.0, std::min(rest.written, rest.bytes));
  double seconds = 0;
  for (std::size_t m = 0; m < moved.size(); ++m) {
    if (!(moved[m].bytes > 0)) continue;
    const double one = seconds_in(device.memories[m], moved[m], query);
    seconds = side_by_side ? std::max(seconds, one) : seconds + one;
  }
  return seconds;
}

}  // namespace sluice
