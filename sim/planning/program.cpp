#include "planning/program.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "base/quantity.hpp"

namespace sluice {

namespace {

std::int64_t plus(std::int64_t a, std::int64_t b) {
  return checked_add(a, b, "bytes on a device");
}

}  // namespace

std::vector<std::int64_t> Program::first_of_stages() const {
  std::vector<std::int64_t> firsts(staying.size(), count());
  for (std::size_t at = operations.size(); at-- > 0;)
    if (const auto stage = static_cast<std::size_t>(operations[at].stage); stage < firsts.size())
      firsts[stage] = static_cast<std::int64_t>(at);
  return firsts;
}

std::int64_t Program::constant_bytes(std::uint32_t device) const {
  std::int64_t bytes = 0;
  for (const Staying& stage : staying)
    if (stage.device == device)
      for (const std::int64_t part : {stage.weights, stage.gradients, stage.optimizer})
        bytes = plus(bytes, part);
  for (const Place& place : places)
    if (!place.node.empty() && place.node == devices[device]) bytes = plus(bytes, place.bytes);
  return bytes;
}

std::vector<std::int64_t> Program::bytes(std::uint32_t device) const {
  std::vector<std::int64_t> come(operations.size(), 0), go(operations.size(), 0), levels;
  const auto add = [&](std::int64_t first, std::int64_t last, std::int64_t bytes) {
    auto& comes = come[static_cast<std::size_t>(first)];
    auto& goes = go[static_cast<std::size_t>(std::max(first, last))];
    comes = plus(comes, bytes);
    goes = plus(goes, bytes);
  };
  for (const Instance& instance : instances) {
    if (instance.device != device) continue;
    if (!instance.saved_next_round) {
      add(instance.first, instance.last, instance.bytes);
    } else {
      add(0, instance.saved_at, instance.bytes);
      add(instance.first, count_of_round() - 1, instance.bytes);
    }
  }
  std::int64_t level = constant_bytes(device);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    level = plus(level, come[i]);
    levels.push_back(operations[i].device == device ? plus(level, operations[i].workspace) : level);
    level -= go[i];
  }
  return levels;
}

std::int64_t Program::peak(std::uint32_t device) const {
  const std::vector<std::int64_t> levels = bytes(device);
  return levels.empty() ? constant_bytes(device) : *std::max_element(levels.begin(), levels.end());
}

std::string instance_name(const std::string& what, std::size_t stage, std::int64_t micro_batch) {
  std::string name = what;
  const auto append = [&name](std::int64_t number) {
    std::array<char, 21> digits{'.'};  // a 64-bit number has at most 20 characters
    name.append(digits.data(),
                std::to_chars(digits.data() + 1, digits.data() + digits.size(), number).ptr);
  };
  append(static_cast<std::int64_t>(stage));
  if (micro_batch >= 0) append(micro_batch);
  return name;
}

std::string name_of(const Program::Instance& instance) {
  if (!instance.what) return instance.name;
  return instance_name(instance.what, static_cast<std::size_t>(instance.stage),
                       instance.micro_batch);
}

std::vector<Program::Load> loads_when_needed(const Program& program) {
  std::vector<Program::Load> loads;
  for (std::int64_t i = 0; i < program.count(); ++i)
    for (const std::uint32_t number : program.operations[static_cast<std::size_t>(i)].loads)
      loads.push_back({.instance = number, .needed = i, .earliest = i, .after = i - 1});
  return loads;
}

HomeWrites::HomeWrites(const Program& program) : program_(program) {
  for (const Program::Instance& made : program.instances)
    if (made.saved_home) writes_[{made.home, made.stage}].push_back({made.saved_at, made.saves, 0});
}

std::optional<HomeWrites::Written> HomeWrites::before(std::uint32_t instance,
                                                      std::int64_t operation) const {
  const Program::Instance& made = program_.instances[instance];
  if (made.home != Program::Home::weights && made.home != Program::Home::optimizer) return {};
  const auto found = writes_.find({made.home, made.stage});
  if (found == writes_.end()) return {};
  // Finds the last save before the operation: `all` lists the saves in their order.
  const std::vector<Written>& all = found->second;
  const auto next = std::partition_point(all.begin(), all.end(), [&](const Written& written) {
    return written.operation < operation;
  });
  if (next != all.begin()) return *std::prev(next);
  return Written{all.back().operation, all.back().number, 1};
}

}  // namespace sluice
