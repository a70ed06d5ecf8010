#include "support/random_case.hpp"

#include "base/error.hpp"
#include "execute/feasibility.hpp"

namespace sluice::test {

namespace {

int number(Dice& dice, int low, int high) {
  return low + static_cast<int>(dice.below(static_cast<std::uint64_t>(high - low + 1)));
}

std::string one_of(Dice& dice, const std::vector<std::string>& words) {
  return words[dice.below(words.size())];
}

bool begins(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

bool streams(const RandomCase& some) {
  return some.policy.find("streamed") != std::string::npos;
}

/// Returns whether the case has two devices with different rates or memories.
bool has_unlike_devices(const RandomCase& some) {
  return some.policy.ends_with(on_unlike_devices);
}

/// Adds the second device of a case with unlike devices, and the links of both.
void add_unlike_devices(Dice& dice, RandomCase& made) {
  made.machine.push_back("platform.devices.b={rate: {float32: " +
                         one_of(dice, {"250MFLOP/s", "500MFLOP/s", "1GFLOP/s", "1500MFLOP/s"}) +
                         "}, memory: {capacity: unlimited}}");
  made.machine.push_back("platform.links.host.joins=[host, gpu, b]");
  made.memory_of_b = std::vector<double>{0.5, 0.75, 1.25, 2}[dice.below(4)];
}

/// Adds a machine to the case. For the policies phased, sharded and data_parallel, the machine has two devices with a
/// link between them. To host memory, either each of the two devices has a link of its own, or both share one link.
void add_machine(Dice& dice, RandomCase& made) {
  made.machine = {"platform.links.host.bandwidth=" + one_of(dice, {"50MB/s", "200MB/s", "1GB/s"}),
                  "platform.links.host.latency=" + one_of(dice, {"0us", "7us", "300us"}),
                  "platform.links.host.setup=" + one_of(dice, {"0us", "3us"})};
  const bool pair = begins(made.policy, "phased") || begins(made.policy, "sharded") ||
                    begins(made.policy, "data_parallel");
  if (!pair) return;
  const bool unlike = has_unlike_devices(made);
  if (unlike)
    add_unlike_devices(dice, made);
  else
    made.machine.push_back("platform.devices.gpu.count=2");
  made.machine.push_back("platform.links.host.sharing=" + one_of(dice, {"private", "shared"}));
  made.machine.push_back(
      "platform.links.pair={joins: " + std::string(unlike ? "[gpu, b]" : "[gpu0, gpu1]") +
      ", bandwidth: " + one_of(dice, {"100MB/s", "2GB/s"}) + "}");
}

void add_workload(Dice& dice, RandomCase& made) {
  const int steps = number(dice, 1, 4);
  if (!made.training) {
    made.batches = number(dice, 1, 12);
    made.workload = "workload: {batches_per_step: " + std::to_string(made.batches) +
                    ", steps: " + std::to_string(steps) + "}\n";
    return;
  }
  const bool shared_out = begins(made.policy, "data_parallel");
  made.batches = number(dice, 1, 6) * (shared_out ? 2 : 1);
  made.workload = "workload: {mode: training, batch: " + std::to_string(made.batches) +
                  ", micro_batch: 1, steps: " + std::to_string(steps) +
                  ", optimizer: " + one_of(dice, {"sgd", "adam", "none"}) + "}\n";
}

void add_keys(Dice& dice, RandomCase& made) {
  const bool replicated = begins(made.policy, "data_parallel");
  std::string inner = replicated ? made.policy.substr(14) : made.policy;
  if (has_unlike_devices(made)) inner.resize(inner.size() - on_unlike_devices.size());
  made.keys = replicated ? "name: data_parallel, replica: " + inner : "name: " + inner;
  if (dice.one_in(4) && !(inner == "phased" && made.training)) made.keys += ", overlap: false";
  if (made.training) return;
  if (inner != "phased" && dice.one_in(3)) made.keys += ", outputs: discard";
}

std::string random_cut(Dice& dice, const RandomCase& some) {
  const auto layers = static_cast<int>(some.rows.size());
  std::vector<std::string> cuts = {"{cut: per_layer}", "{cut: whole}", "{cut: single_tensor}"};
  cuts.push_back("{cut: balanced, count: " + std::to_string(number(dice, 1, layers)) + "}");
  if (streams(some))
    cuts.push_back("{cut: by_weight, groups: " + std::to_string(number(dice, 2, 20)) + "}");
  std::string after;
  for (int l = 2; l <= layers; ++l)  // layer 1 is the input
    if (dice.one_in(2)) after += (after.empty() ? "" : ", ") + std::to_string(l);
  if (!after.empty()) cuts.push_back("{cut: explicit, after: [" + after + "]}");
  return "stages: " + one_of(dice, cuts) + "\n";
}

std::string random_fates(Dice& dice, const RandomCase& some) {
  std::vector<std::string> fates = {"keep_all"};
  if (streams(some)) fates.push_back("offload_all");
  if (some.training)
    fates = {"keep_all", "offload_all", "recompute_all", "checkpoint", "sqrt", "selective"};
  return "fates: {strategy: " + one_of(dice, fates) + "}\n";
}

}  // namespace

std::string RandomCase::text_with(const std::string& own_cut, const std::string& own_fates,
                                  const std::string& own_keys) const {
  return workload + own_cut + own_fates + "policy: {" + keys + own_keys + "}\n";
}

const std::vector<std::string>& policies_with_choices() {
  static const std::vector<std::string> names = {"streamed",
                                                 "resident",
                                                 "phased",
                                                 "sharded",
                                                 "data_parallel streamed",
                                                 "data_parallel resident",
                                                 "data_parallel phased"};
  return names;
}

RandomCase random_case(Dice& dice, const std::string& policy, bool training,
                       std::optional<int> most_layers) {
  RandomCase made;
  made.policy = policy;
  made.training = training;
  const int layers = number(dice, 1, most_layers.value_or(training ? 5 : 7));
  for (int l = 0; l < layers; ++l)
    made.rows.push_back(
        {number(dice, 0, 40) * 0.025, 4 * number(dice, 0, 60'000), 4 * number(dice, 1, 4'000)});
  made.input = 4 * number(dice, 1, 4'000);
  add_machine(dice, made);
  add_workload(dice, made);
  add_keys(dice, made);
  made.all_bytes = made.input * made.batches;
  for (const Row& row : made.rows)
    made.all_bytes += row.weight_bytes * (training ? 4 : 1) +
                      row.output_bytes * made.batches * (training ? 2 : 1);
  if (dice.one_in(3)) made.cut = "stages: {cut: per_layer}\n";
  if (dice.one_in(3)) made.fates = random_fates(dice, made);
  return made;
}

std::string random_settings(Dice& dice, const RandomCase& open) {
  const auto ask = [&](const char* key, const std::vector<std::string>& values) {
    return ", " + std::string(key) + ": " + one_of(dice, values);
  };
  std::string keys;
  const std::string in_flight = std::to_string(number(dice, 1, static_cast<int>(open.batches)));
  if (streams(open)) keys += ask("in_flight", {in_flight});
  if (streams(open) && !open.training) {
    const bool overlap = open.keys.find("overlap: false") == std::string::npos;
    if (overlap) keys += ask("prefetch", {"0", "1", "2", "4"});
    keys += ask("pieces", {"whole", "20kB", "60kB"});
    keys += ask("resident", {"auto", "none", "all"});
  }
  if (!open.training && open.policy.find("phased") != std::string::npos)
    keys += ask("in_flight", {"1", "2", "3", "4", "6", in_flight});
  else if (!open.training && open.policy != "sharded")
    keys += ask("buffers", {"1", "2", "3", "4", "6", "8"});
  if (begins(open.policy, "data_parallel")) keys += ask("transfers", {"together", "in_turn"});
  const std::string cut = open.cut.empty() ? random_cut(dice, open) : open.cut;
  const std::string fates = open.fates.empty() ? random_fates(dice, open) : open.fates;
  return open.text_with(cut, fates, keys);
}

std::optional<Plan> plan_within(const RandomCase& random, const std::string& text,
                                std::int64_t bytes, const std::vector<std::string>& further) {
  std::vector<std::string> overrides = random.machine;
  overrides.push_back("platform.devices.gpu.memory.capacity=" + std::to_string(bytes) + "B");
  if (random.memory_of_b) {
    const auto of_b = static_cast<std::int64_t>(*random.memory_of_b * static_cast<double>(bytes));
    overrides.push_back("platform.devices.b.memory.capacity=" + std::to_string(of_b) + "B");
  }
  overrides.insert(overrides.end(), further.begin(), further.end());
  try {
    Plan plan = make_plan(small_scenario(random.input, random.rows, text, overrides));
    check(plan);
    return plan;
  } catch (const Infeasible&) {
    return {};
  }
}

}  // namespace sluice::test
