#include "study/check/side_by_side.hpp"

#include <memory>
#include <utility>

#include "base/error.hpp"
#include "document/key.hpp"
#include "document/override.hpp"
#include "policy/policy.hpp"
#include "scenario/question_bound.hpp"
#include "study/check/check.hpp"

namespace sluice {

namespace {

bool knows(const Policy& policy, const std::string& parameter) {
  return find_field(policy.parameters, parameter) || (policy.replicates && parameter != "name");
}

const Policy& policy_named(const Value& name) {
  return located(name, [&]() -> const Policy& { return policy_catalog().find(name.text()); });
}

Value without(const Value& map, const std::string& key) {
  Value rest = Value::make_map();
  rest.place(map.source(), map.line(), map.position().column);
  for (const Value::Entry& entry : map.entries())
    if (entry.key != key) rest.entries().push_back(entry);
  return rest;
}

}  // namespace

PolicyChoice::PolicyChoice(const std::string& given)
    : words(given), value(parse_override("policy=" + given).value) {
  if (value.kind() == Value::Kind::string) {
    policy_named(value);
    return;
  }
  const Value* name = value.find("name");
  if (!name)
    fail_at(value, "expected a policy's name or a mapping like {name: streamed, prefetch: 0}");
  const Policy& policy = policy_named(*name);
  Reader(value, record_of(policy));  // Throws at a key that the policy does not have.
}

Value PolicyChoice::applied_to(const Value& document) const {
  Value changed = document;
  Value policy = value;
  if (!value.is_map()) {
    policy = Value::make_map();
    policy.place(value.source(), value.line(), value.position().column);
    policy.set("name", value);
    const Policy& chosen = policy_named(value);
    if (const Value* old = document.find("policy"))
      for (const Value::Entry& entry : old->entries())
        if (entry.key != "name" && knows(chosen, entry.key)) policy.set(entry.key, entry.value);
  }
  const Chosen<Policy> read = choose_policy(policy);
  if (!acting_policy(*read, read.keys.reader()).takes_phases) changed = without(changed, "phases");
  changed.set("policy", std::move(policy));
  return changed;
}

const std::vector<std::string>& side_by_side_metrics() {
  static const std::vector<std::string> names = {"makespan_s",          "throughput_samples_per_s",
                                                 "compute_utilisation", "peak_bytes",
                                                 "transferred_bytes",   "energy_j"};
  return names;
}

std::vector<SideBySide> side_by_side(const SideBySideRequest& request) {
  const auto subject = [&](std::size_t i) {
    const Scenario given = request.read(request.paths[i / 2]);
    const PolicyChoice& choice = i % 2 == 0 ? request.a : request.b;
    const auto scenario =
        std::make_shared<Scenario>(read_scenario(choice.applied_to(given.document), given.name));
    return Subject{scenario->name, Baseline::Input::scenario, scenario->text(),
                   [scenario] { return make_plan(*scenario); },
                   [scenario] { return question_bound(*scenario).seconds; }};
  };
  std::vector<Measurement> measurements =
      measure_all(2 * request.paths.size(), request.jobs, subject, request.progress);
  std::vector<SideBySide> rows;
  for (std::size_t i = 0; i < request.paths.size(); ++i)
    rows.push_back({name_of_path(request.paths[i]), request.paths[i],
                    std::move(measurements[2 * i]), std::move(measurements[2 * i + 1])});
  return rows;
}

}  // namespace sluice
