// The cost model `roofline`. An operator takes the longer of two times: the seconds of its FLOP, and the seconds of its
// bytes in the device's memory.
#include <algorithm>
#include <optional>

#include "cost/cost.hpp"
#include "cost/memory_power.hpp"
#include "cost/memory_seconds.hpp"
#include "document/key.hpp"

namespace sluice {
namespace {

/// Uses the scenario's shares of the device's rates. If the scenario gives no shares, uses the platform's shares for
/// the device.
struct Roofline final : Cost {
  std::optional<double> compute_efficiency, memory_efficiency;
  /// Whether memories are accessed at the same time. If false, the memories are accessed one after the other, and their
  /// seconds add up.
  bool side_by_side;
  double memory_power;  ///< the share of the power above idle that work limited by memory takes

  explicit Roofline(const Reader& keys)
      : compute_efficiency(given(keys, "compute_efficiency")),
        memory_efficiency(given(keys, "memory_efficiency")),
        side_by_side(keys.text("pools") == "side_by_side"),
        memory_power(keys.number("memory_power")) {}

  Price of(const Query& query) const override {
    Price price{.flop = query.work.flop, .bytes = query.work.bytes};
    bool by_memory = false;
    price.seconds = seconds(query, by_memory);
    if (by_memory) take_memory_power(price, price.seconds, memory_power, query.device);
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
    // A layer without work is an input or a view. It launches no kernel and takes no time.
    if (work.flop == 0 && work.bytes == 0) return 0;
    const Shares reached = shares(device);
    const double computing = peak_seconds(work, device, query.dtype) / *reached.compute;
    const double moving = memory_seconds(query, side_by_side) / *reached.memory;
    by_memory = moving > computing;
    return std::max(computing, moving) + device.launch_overhead;
  }
};

Field efficiency(const std::string& name, const std::string& summary) {
  return Key::number(name, summary + ". The default is the platform's value under 'roofline'")
      .or_absent()
      .more_than(0)
      .at_most(1);
}

}  // namespace

extern const CostModel roofline_cost = {
    .name = "roofline",
    .summary =
        "An operator takes the longer of FLOP / rate and bytes / memory bandwidth, plus the launch overhead. Rate "
        "and bandwidth are multiplied by the shares that the platform gives (roofline: {compute, memory}).",
    .details =
        "Use `roofline` when nothing was measured on the device: it needs only figures of a data sheet. The cost model "
        "knows whether computation or memory limits an operator. It does not know how well a kernel fits the device. "
        "So small operators are often faster in the simulation than on the device.",
    .source =
        "Williams, Waterman and Patterson, Roofline: an insightful visual performance model, CACM 52(4), 2009",
    .example = "sluice run alexnet_resident cost=roofline",
    .parameters =
        {efficiency("compute_efficiency",
                    "the share of the device's FLOP/s that an operator reaches if FLOP/s limit it"),
         efficiency(
             "memory_efficiency",
             "the share of the memory bandwidth that an operator reaches if memory limits it"),
         Key::choice(
             "pools", {"in_turn", "side_by_side"},
             "how operands in several memories of the device are accessed. in_turn: the seconds of the memories add "
             "up. side_by_side: the memory with the most seconds counts")
             .by_default("in_turn"),
         memory_power_field()},
    .make = [](const Reader& keys, const std::string&) -> std::shared_ptr<const Cost> {
      return std::make_shared<const Roofline>(keys);
    },
    .counts_memories = true,
};

}  // namespace sluice
