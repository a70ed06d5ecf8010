#include "execute/deadlock.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "base/quantity.hpp"

namespace sluice {

std::string action_label(const Plan& plan, std::uint32_t action, std::int64_t iteration) {
  std::string label = name_of(plan.actions[action]);
  if (plan.section_of(action) == Section::body)
    label += " (iteration " + std::to_string(iteration) + ")";
  return label;
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  return std::to_string(bytes) + " B (" +
         format_quantity(static_cast<double>(bytes), Dimension::bytes) + ")";
}

namespace {

void describe_waiter(std::ostream& out, const Plan& plan, const Deadlock::Waiter& waiter) {
  const Action& action = plan.actions[waiter.action];
  out << "\n  " << plan.streams[action.stream].name << ": "
      << action_label(plan, waiter.action, waiter.iteration) << " waits for ";
  if (waiter.pool != none) {
    out << bytes_text(waiter.bytes) << " in " << plan.pools[waiter.pool].name << ", for";
    const char* separator = " ";
    for (const Placement& wanted : action.allocates)
      if (wanted.pool == waiter.pool)
        out << std::exchange(separator, ", ") << plan.tensors[wanted.tensor].name;
    if (waiter.earlier > 0)
      out << ", and must leave room for " << waiter.earlier << " earlier request"
          << (waiter.earlier > 1 ? "s" : "");
  } else
    out << action_label(plan, waiter.awaited_action, waiter.awaited_iteration) << " on "
        << plan.streams[plan.actions[waiter.awaited_action].stream].name;
}

/// Describes what is in a pool. One line names all instances of a tensor together, with the sum of their bytes.
void describe_pool(std::ostream& out, const Plan& plan, const Deadlock& blocking,
                   std::uint32_t pool) {
  struct Sum {
    std::int64_t bytes = 0, count = 0;
  };
  std::map<std::uint32_t, Sum> by_tensor;
  for (const auto& held : blocking.held)
    if (held.pool == pool) {
      by_tensor[held.tensor].bytes += plan.tensors[held.tensor].bytes;
      ++by_tensor[held.tensor].count;
    }
  std::vector<std::pair<std::uint32_t, Sum>> largest(by_tensor.begin(), by_tensor.end());
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  out << "\n  " << plan.pools[pool].name << ": " << bytes_text(blocking.levels[pool]) << " of "
      << bytes_text(plan.pools[pool].most()) << " held by ";
  if (by_tensor.empty()) out << "no tensor";
  if (by_tensor.size() == 1) out << "1 tensor:";
  if (by_tensor.size() > 1) out << by_tensor.size() << " tensors; the largest:";
  for (std::size_t i = 0; i < largest.size() && i < 5; ++i) {
    const Tensor& tensor = plan.tensors[largest[i].first];
    out << "\n    " << tensor.name << " (" << name_of(tensor.tensor_class) << ") "
        << bytes_text(largest[i].second.bytes);
    if (largest[i].second.count > 1) out << " in " << largest[i].second.count << " instances";
  }
}

}  // namespace

std::string describe(const Plan& plan, const Deadlock& blocking) {
  std::ostringstream out;
  const bool memory = std::any_of(blocking.waiters.begin(), blocking.waiters.end(),
                                  [](const auto& waiter) { return waiter.pool != none; });
  out << (memory ? "out of memory" : "blocked for ever") << " at "
      << format_quantity(blocking.time, Dimension::seconds) << ":";
  std::size_t shown = 0;
  for (const auto& waiter : blocking.waiters) {
    if (++shown > 20) {
      out << "\n  … and " << blocking.waiters.size() - 20 << " more streams";
      break;
    }
    describe_waiter(out, plan, waiter);
  }
  std::vector<char> described(plan.pools.size(), 0);
  for (const auto& waiter : blocking.waiters)
    if (waiter.pool != none && !std::exchange(described[waiter.pool], 1))
      describe_pool(out, plan, blocking, waiter.pool);
  return out.str();
}

}  // namespace sluice
