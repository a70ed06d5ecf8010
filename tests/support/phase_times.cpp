#include "support/phase_times.hpp"

#include <algorithm>

#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "support/source_folder.hpp"

namespace sluice::test {

namespace {
Scenario load(const std::string& name, const std::vector<std::string>& overrides) {
  std::vector<std::string> all = {"workload.batches_per_step=12", "workload.steps=4"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return load_scenario(test::source_folder() + "/scenarios/" + name + ".yaml", all);
}
}  // namespace

Scenario ipu_pair(const std::vector<std::string>& overrides) {
  return load("phased_ipu_pair", overrides);
}

Scenario ipu_pair_without_phases(const std::vector<std::string>& overrides) {
  return load("sharded_ipu_pair", overrides);
}

double steady_phase(const Plan& plan, std::size_t phases, const std::string& device) {
  check(plan);
  std::vector<double> starts;  // when the first computation of each phase starts
  std::uint32_t last_stage = none;
  std::vector<Span> spans = execute_isolated(plan).spans;
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  std::uint32_t last_stream = none;
  for (const Span& span : spans) {
    const Action& action = plan.actions[span.action];
    if (action.is_transfer()) continue;
    if (!device.empty() && plan.streams[action.stream].device != device) continue;
    const auto stage = static_cast<std::uint32_t>(action.stage);
    if (stage != last_stage || action.stream != last_stream) starts.push_back(span.start);
    last_stage = stage;
    last_stream = action.stream;
  }
  const std::size_t middle = starts.size() / 2;
  return (starts.at(middle + phases) - starts.at(middle)) / static_cast<double>(phases);
}

}  // namespace sluice::test
