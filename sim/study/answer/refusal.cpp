#include "study/answer/refusal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "execute/feasibility.hpp"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

std::string bytes(std::int64_t count) {
  return format_quantity(static_cast<double>(count), Dimension::bytes);
}

/// Is there a plan for so many samples, and does it pass its check?
bool fits(Scenario scenario, std::int64_t batch) {
  check_interrupt();
  Workload& workload = scenario.workload;
  if (workload.micro_batch == workload.batch) workload.micro_batch = batch;
  workload.batch = batch;
  try {
    check(make_plan(scenario));
    return true;
  } catch (const Infeasible&) {
    return false;
  } catch (const InputError&) {  // what replicas cannot share
    return false;
  }
}

/// By halving; a search that takes longer than a few seconds is given up.
std::optional<std::int64_t> largest_batch(const Scenario& scenario) {
  constexpr std::chrono::seconds patience(5);
  const Workload& workload = scenario.workload;
  if (scenario.cost->only_samples(scenario.model) > 0) return {};
  const std::int64_t unit = workload.micro_batch == workload.batch ? 1 : workload.micro_batch;
  const Clock::time_point start = Clock::now();
  std::int64_t good = 0, bad = workload.batch / unit;
  while (bad - good > 1) {
    if (Clock::now() - start > patience) return {};
    const std::int64_t middle = good == 0 && bad > 2 ? (bad + 1) / 2 : good + (bad - good) / 2;
    (fits(scenario, middle * unit) ? good : bad) = middle;
  }
  return good * unit;
}

/// What the policy found to fit in flight, where that is what is too many.
std::string most_in_flight(const Infeasible& infeasible) {
  const std::string message = infeasible.what();
  const std::size_t at = message.find("  the most that fit in flight: ");
  return at == std::string::npos ? "" : message.substr(at, message.find('\n', at) - at);
}

/// The first who waits for memory: "2LOAD on gpu.host.down waits for 3.3 GB for weights.2".
std::string first_waiter(const Shortage& shortage) {
  for (const Shortage::Waiter& waiter : shortage.waiters)
    if (!waiter.pool.empty())
      return waiter.action + " on " + waiter.stream + " waits for " + bytes(waiter.bytes) +
             (waiter.tensors.empty() ? "" : " for " + waiter.tensors.front()) + " in " +
             waiter.pool;
  return "";
}

std::string culprit_of(const Shortage& shortage) {
  const auto most =
      std::max_element(shortage.by_class.begin(), shortage.by_class.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == shortage.by_class.end() ? "" : most->first;
}

void advise_on_weights(const Scenario& scenario, std::vector<std::string>& changes) {
  if (scenario.acting->name == "resident" || scenario.acting->name == "basic")
    changes.push_back("policy.name=streamed (weights take turns on the device)");
  else if (scenario.cut)
    changes.push_back("stages={cut: auto} (smaller groups)");
  if (scenario.workload.dtype == DType::float32)
    changes.push_back("workload.dtype=float16 (half of the bytes)");
  if (scenario.workload.training && scenario.workload.training->optimizer->name != "sgd")
    changes.push_back("workload.optimizer=sgd (no state)");
}

void advise_on_activations(const Scenario& scenario, std::vector<std::string>& changes) {
  const Workload& workload = scenario.workload;
  if (!workload.training) {
    if (workload.micro_batch > 1) changes.push_back("a smaller workload.micro_batch");
    return;
  }
  const std::string now = scenario.fates ? (*scenario.fates)->name : "";
  if (now == "recompute_all")
    changes.push_back(
        "fates.strategy=checkpoint (recompute_all has everything again at once in its backward "
        "pass)");
  else if (!now.empty() && now != "optimal")
    changes.push_back("fates.strategy=optimal (keeps, recomputes or offloads what costs least)");
  if (workload.micro_batch > 1) changes.push_back("a smaller workload.micro_batch");
}

std::vector<std::string> changes_for(const Scenario& scenario, const Infeasible& infeasible,
                                     const Refusal& refusal) {
  std::vector<std::string> changes;
  if (const std::string most = most_in_flight(infeasible); !most.empty())
    changes.push_back("policy.in_flight=" + most.substr(most.rfind(' ') + 1));
  if (refusal.largest_batch.value_or(0) > 0)
    changes.push_back("workload.batch=" + std::to_string(*refusal.largest_batch));
  const std::string& culprit = refusal.culprit;
  if (culprit == "kv_cache")
    changes.push_back("fewer model.cached tokens, whose keys and values stay on the device");
  else if (culprit == "weight" || culprit == "gradient" || culprit == "optimizer")
    advise_on_weights(scenario, changes);
  else if (!culprit.empty())
    advise_on_activations(scenario, changes);
  const Shortage& shortage = infeasible.shortage;
  if (shortage.needed_bytes)
    changes.push_back(bytes(*shortage.needed_bytes) + " of memory in " + shortage.pool);
  return changes;
}

std::string classes_of(const Shortage& shortage) {
  std::vector<std::pair<std::string, std::int64_t>> classes = shortage.by_class;
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [name, count] : classes) parts.push_back(name + " " + bytes(count));
  return join(parts);
}

}  // namespace

Refusal refusal_of(const Scenario& scenario, const Infeasible& infeasible) {
  Refusal refusal{.headline = infeasible.headline(), .culprit = culprit_of(infeasible.shortage)};
  if (const std::string waiter = first_waiter(infeasible.shortage); !waiter.empty())
    if (infeasible.headline().find("in flight") == std::string::npos)
      refusal.headline += ": " + waiter;
  if (most_in_flight(infeasible).empty()) refusal.largest_batch = largest_batch(scenario);
  refusal.changes = changes_for(scenario, infeasible, refusal);
  return refusal;
}

std::string refusal_text(const Refusal& refusal, const Infeasible& infeasible) {
  const Shortage& shortage = infeasible.shortage;
  std::string text = refusal.headline;
  if (shortage.needed_bytes && shortage.available_bytes) {
    text += "\n  needed in " + shortage.pool + ": " + bytes(*shortage.needed_bytes) + ", " +
            bytes(*shortage.needed_bytes - *shortage.available_bytes) + " more than its " +
            bytes(*shortage.available_bytes);
    if (const std::string classes = classes_of(shortage); !classes.empty()) text += ": " + classes;
  }
  if (const std::string most = most_in_flight(infeasible); !most.empty()) text += "\n" + most;
  if (refusal.largest_batch)
    text += *refusal.largest_batch > 0
                ? "\n  the largest batch that fits: " + std::to_string(*refusal.largest_batch)
                : "\n  not even one sample fits";
  if (!refusal.changes.empty()) text += "\n  what helps: " + join(refusal.changes, "; or ");
  return text + " (in full: --json)";
}

}  // namespace sluice
