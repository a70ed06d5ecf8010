// roofline: an operator takes as long as its FLOP, or as the bytes that it moves in the device's
// memory.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/suggest.hpp"
#include "cost/cost.hpp"

namespace sluice {
namespace {

/// Uses the shares of the rates that the scenario gives, or else those of the device's platform.
struct Roofline final : Cost {
  std::optional<double> compute_efficiency, memory_efficiency;
  bool side_by_side;    ///< memories are accessed at the same time, not one after the other
  double memory_power;  ///< share of the power above idle that work limited by memory takes

  explicit Roofline(const Reader& keys)
      : compute_efficiency(given(keys, "compute_efficiency")),
        memory_efficiency(given(keys, "memory_efficiency")),
        side_by_side(keys.text("pools") == "side_by_side"),
        memory_power(keys.number("memory_power")) {}

  Price of(const Query& query) const override {
    Price price{.flop = query.work.flop, .bytes = query.work.bytes};
    bool by_memory = false;
    price.seconds = seconds(query, by_memory);
    if (by_memory && memory_power < 1) {
      const Device& device = query.device;
      price.joules = memory_power * (device.busy_w - device.idle_w) * price.seconds;
      price.joules_s = price.seconds;
    }
    return price;
  }

  Shares shares(const Device& device) const override {
    return {.compute = compute_efficiency.value_or(device.roofline.compute),
            .memory = memory_efficiency.value_or(device.roofline.memory)};
  }

 private:
  static std::optional<double> given(const Reader& keys, const char* key) {
    return keys.has(key) ? std::optional(keys.number(key)) : std::nullopt;
  }

  double seconds(const Query& query, bool& by_memory) const {
    const Work& work = query.work;
    const Device& device = query.device;
    if (work.flop == 0 && work.bytes == 0) return 0;  // an input: nothing is launched
    const Shares reached = shares(device);
    const double computing = peak_seconds(work, device, query.dtype) / *reached.compute;
    const double moving = memory_seconds(query) / *reached.memory;
    by_memory = moving > computing;
    return std::max(computing, moving) + device.launch_overhead;
  }

  /// Bytes that do not belong to an operand are in the default memory.
  double memory_seconds(const Query& query) const {
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

  static double seconds_in(const DeviceMemory& memory, const Work& work, const Query& query) {
    if (const auto seconds = memory.seconds(work.bytes, work.written)) return *seconds;
    const Device& device = query.device;
    if (memory.own)
      throw InputError("device '" + device.name +
                       "' has no memory bandwidth, which the roofline cost model needs (memory: "
                       "{bandwidth: 960GB/s})");
    throw InputError("device '" + device.name + "' uses the memory '" + memory.pool +
                     "', which lacks the rates that the roofline cost model needs (memories: {" +
                     memory.pool + ": {read: 100GB/s, write: 50GB/s}})");
  }

  static void require_rates(const Query& query, const Operand& operand,
                            const DeviceMemory& memory) {
    const bool reads = operand.read > 0 && !memory.read;
    if (!reads && !(operand.written > 0 && !memory.write)) return;
    const std::string way = reads ? "read" : "write";
    throw InputError(of_layer(query) + called(operand) + " is in '" + memory.pool +
                     "', which has no rate at which device '" + query.device.name + "' could " +
                     way + " it; give that memory one, as " + way + ": 30GB/s");
  }

  static std::string called(const Operand& operand) {
    return operand.name.empty() ? "an operand" : operand.name;
  }

  static std::string of_layer(const Query& query) {
    return query.layer
               ? std::string(name_of(query.pass)) + " of layer '" + query.layer->name + "': "
               : "";
  }

  [[noreturn]] static void refuse_far(const Query& query, const Operand& operand) {
    std::vector<std::string> reached;
    for (const DeviceMemory& memory : query.device.memories) reached.push_back(memory.pool);
    throw InputError(of_layer(query) + called(operand) + " is in '" + operand.pool +
                     "', which device '" + query.device.name +
                     "' does not reach without a link; it reaches " + join(reached));
  }
};

Field efficiency(const std::string& name, const std::string& summary) {
  return {.name = name,
          .type = Type::number,
          .summary = summary + "; by default what the platform says under 'roofline'",
          .optional = true,
          .maximum = 1,
          .minimum_excluded = true};
}

}  // namespace

extern const CostModel roofline_cost = {
    .name = "roofline",
    .summary =
        "For each operator the longer of FLOP / rate and bytes / memory bandwidth, plus the launch "
        "overhead; "
        "each is divided by the share of it that the platform says is reached (roofline: {compute, "
        "memory}).",
    .source =
        "Williams, Waterman and Patterson, Roofline: an insightful visual performance model, "
        "CACM 52(4), 2009",
    .example = "sluice run alexnet_resident cost=roofline",
    .parameters = {efficiency("compute_efficiency",
                              "share of the device's rate that operators limited by it reach"),
                   efficiency("memory_efficiency",
                              "share of the memory bandwidth that operators limited by it reach"),
                   {.name = "pools",
                    .type = Type::choice,
                    .summary =
                        "how operands in several memories of the device are accessed: in_turn "
                        "(their seconds add up), or side_by_side (the longest counts)",
                    .default_text = "in_turn",
                    .choices = {"in_turn", "side_by_side"}},
                   {.name = "memory_power",
                    .type = Type::number,
                    .summary = "share of the device's power above idle that operators limited by "
                               "memory take; those limited by FLOP take all of it",
                    .default_text = "1",
                    .maximum = 1}},
    .make = [](const Reader& keys, const std::string&) -> std::shared_ptr<const Cost> {
      return std::make_shared<const Roofline>(keys);
    },
    .counts_memories = true,
};

}  // namespace sluice
