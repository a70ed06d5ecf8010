#include "policy/policy.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "policy/compiled_in.hpp"

namespace sluice {

namespace {

/// Completes the record of a policy that replicates others: their names become the choices of its parameter `replica`.
Policy with_replicas(Policy policy, const std::vector<const Policy*>& all) {
  for (Field& field : policy.parameters) {
    if (field.name != "replica") continue;
    for (const Policy* other : all)
      if (other->replicable) field.choices.push_back(other->name);
  }
  return policy;
}

const Catalog<Policy>& compiled_in() {
  static const Catalog<Policy> catalog = [] {
    const std::vector<const Policy*> listed = compiled_in_policies();
    std::vector<const Policy*> entries = listed;
    for (const Policy*& entry : entries)  // records are never freed
      if (entry->replicates) entry = new Policy(with_replicas(*entry, listed));
    return Catalog<Policy>("policy", std::move(entries));
  }();
  return catalog;
}

/// The present catalog. Older catalogs, and policies that were replaced, are never freed, because another thread may be
/// making a plan that uses them.
std::atomic<const Catalog<Policy>*>& current() {
  static std::atomic<const Catalog<Policy>*> catalog = &compiled_in();
  return catalog;
}

}  // namespace

const Catalog<Policy>& policy_catalog() {
  return *current().load();
}

void add_policy(Policy policy) {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  if (policy.name.empty()) throw InputError("a policy needs a name");
  if (compiled_in().find_or_null(policy.name))
    throw InputError("'" + policy.name + "' is a policy of Sluice; give yours another name");
  std::vector<const Policy*> entries = policy_catalog().entries();
  const auto* added = new Policy(std::move(policy));
  const auto same = [&](const Policy* entry) { return entry->name == added->name; };
  const auto replaced = std::find_if(entries.begin(), entries.end(), same);
  if (replaced == entries.end())
    entries.push_back(added);
  else
    *replaced = added;
  current().store(new Catalog<Policy>("policy", std::move(entries)));
}

Record record_of(const Policy& policy) {
  Record record{.name = "policy " + policy.name,
                .summary = policy.summary,
                .fields = policy.parameters,
                .open = policy.replicates};
  record.fields.insert(record.fields.begin(), {.name = "name",
                                               .type = Type::choice,
                                               .summary = "the policy",
                                               .choices = policy_catalog().names()});
  return record;
}

const Policy& acting_policy(const Policy& policy, const Reader& parameters) {
  return policy.replicates ? policy_catalog().find(parameters.text("replica")) : policy;
}

std::vector<CutChoice> cuts_with(const CutQuestion& question,
                                 const std::vector<CutChoice>& between) {
  constexpr std::size_t most_stages = 512;
  std::vector<CutChoice> cuts = {{"whole"}};
  cuts.insert(cuts.end(), between.begin(), between.end());
  if (question.layers <= most_stages) cuts.insert(cuts.end(), {{"single_tensor"}, {"per_layer"}});
  return cuts;
}

namespace {

/// Returns every list of layers after which a model may be cut. Returns none if the model has too many places for a
/// cut. The first layer is the input.
std::vector<CutChoice> all_cuts(std::size_t layers, std::size_t most_places) {
  if (layers < 3 || layers - 2 > most_places) return {};
  std::vector<CutChoice> cuts;
  for (std::size_t set = 1; set < std::size_t{1} << (layers - 2); ++set) {
    CutChoice cut{.cut = "explicit"};
    for (std::size_t place = 0; place + 2 < layers; ++place)
      if (set >> place & 1) cut.after.push_back(static_cast<std::int64_t>(place) + 2);
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

}  // namespace

std::vector<CutChoice> cuts_for_devices(const CutQuestion& question) {
  const bool training = question.mode == Mode::training;
  std::vector<CutChoice> between;
  const auto devices = static_cast<std::int64_t>(question.devices);
  if (devices > 1) between.push_back({"balanced", "count", devices});
  for (const std::int64_t count : {2, 3, 4, 6, 8, 16})
    between.push_back({"balanced", "count", count});
  std::vector<std::int64_t> groups = {2, 3, 4, 6, 8, 16};
  if (training) groups = {4, 16};  // each is planned with every strategy for fates
  for (const std::int64_t count : groups) between.push_back({"by_weight", "groups", count});
  std::vector<CutChoice> cuts = cuts_with(question, between);
  for (CutChoice& cut : all_cuts(question.layers, training ? 4 : 6)) cuts.push_back(std::move(cut));
  return cuts;
}

}  // namespace sluice
