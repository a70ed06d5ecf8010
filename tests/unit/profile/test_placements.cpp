// Tests which measurements a profile of a model needs, and in how few runs they can be made. The expected numbers of
// runs are counted by hand.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "profile/placements.hpp"
#include "support/bad_input.hpp"
#include "support/models.hpp"
#include "support/source_folder.hpp"

using namespace sluice;
using sluice::test::error_of;

namespace {

/// Returns the chain x -> a -> b -> c, in which `a` and `c` have weights. The relu `b` reads the output of `a`, and `c`
/// reads the output of `b`.
Model chain() {
  return sluice::test::model_of(
      "- {type: input, name: x, shape: [8]}\n"
      "- {type: dense, name: a, features: 8}\n"
      "- {type: relu, name: b}\n"
      "- {type: dense, name: c, features: 8}\n");
}

}  // namespace

TEST_CASE("the number of placements is 2 to the power of the number of free tensors") {
  const Model model = chain();
  const auto wanted = [&](const std::vector<std::string>& fixed) {
    return plan_measurements(model, {.pools = {"DRAM", "PMEM"}, .fixed = fixed}).wanted;
  };
  CHECK(wanted({}) == 8 + 4 + 8);  // 2^3 for the 3 tensors of a and of c, 2^2 for the 2 of b
  CHECK(wanted({"weights"}) == 4 + 4 + 4);
  CHECK(wanted({"weights", "input"}) == 2 + 4 + 4);
  CHECK(wanted({"weights", "b", "output"}) == 4 + 2 + 1);
  CHECK(plan_measurements(model, {.pools = {"A", "B", "C"}}).wanted == 27 + 9 + 27);
  CHECK(error_of([&] { wanted({"wieghts"}); }).find("(did you mean 'weights'?)") !=
        std::string::npos);
}

TEST_CASE("ResNet-50 with fixed weights has 760 placements, which 16 runs measure") {
  const Model model = load_model(test::source_folder() + "/models/resnet50.yaml", {});
  // Without the weights, 53 convolutions, 53 norms, 49 relus, two pools and a dense layer use two tensors each, which
  // have 4 placements. The 16 sums use three tensors each, which have 8 placements.
  const MeasurementPlan plan =
      plan_measurements(model, {.pools = {"DRAM", "PMEM"}, .fixed = {"weights"}});
  CHECK(plan.wanted == (53 + 53 + 49 + 2 + 1) * 4 + 16 * 8);
  // A sum needs 8 runs for its 8 placements. A neighbouring layer needs 4 further runs, because neighbours are never in
  // the same run.
  CHECK(plan.least_runs == 8 + 4);
  CHECK(plan.runs == 16);
}

TEST_CASE(
    "each placement of a layer's tensors is measured in one run, neighbours are never in the same "
    "run, and there are as few runs as possible") {
  const Model model = sluice::test::model_of(
      "- {type: input, name: x, shape: [8]}\n"
      "- {type: dense, name: a, features: 8}\n- {type: dense, name: b, inputs: [a], features: 8}\n"
      "- {type: dense, name: c, inputs: [a], features: 8}\n- {type: add, name: d, inputs: [b, c]}\n"
      "- {type: relu, name: e}\n- {type: dense, name: f, features: 8}\n");
  const MeasurementPlan plan = plan_measurements(model, {.pools = {"DRAM", "PMEM"}});
  // Neighbours are two layers that use the same tensor. Layers b and c read the same tensor, so they are neighbours,
  // too.
  const std::set<std::pair<std::string, std::string>> near = {
      {"a", "b"}, {"a", "c"}, {"b", "c"}, {"b", "d"}, {"c", "d"}, {"d", "e"}, {"e", "f"}};
  std::map<std::int64_t, std::vector<std::string>> runs;
  std::set<std::string> seen;
  for (const ProfileRow& row : plan.profile.rows) {
    for (const std::string& other : runs[*row.run]) {
      CHECK(near.count({other, row.node}) + near.count({row.node, other}) == 0);
      CHECK(other != row.node);
    }
    runs[*row.run].push_back(row.node);
    std::string key = row.node;
    for (const std::string& pool : row.input_pools) key += " " + pool;
    CHECK(seen.insert(key + " -> " + row.output_pools.front()).second);
    CHECK(row.processed == Processed::no);
  }
  CHECK(seen.size() == plan.wanted);
  CHECK(plan.wanted == 8 + 8 + 8 + 8 + 4 + 8);
  CHECK(runs.size() == plan.runs);
  CHECK(plan.least_runs == 16);
  // Each of the layers a, b and c is a neighbour of the other two. So no run measures two of these layers, and 3 x 8
  // runs are needed.
  CHECK(plan.runs == 24);
}

TEST_CASE("a row that was processed is not measured again, with or without placements") {
  const Model model = chain();
  const PlacementRequest wanted{.pools = {"DRAM", "PMEM"}};
  MeasurementPlan first = plan_measurements(model, wanted);
  for (std::size_t r = 0; r < 5; ++r) first.profile.rows[r].processed = Processed::yes;
  first.profile.rows[5].processed = Processed::failed;
  first.profile.rows[0].method = "simultaneous";
  const MeasurementPlan rest =
      plan_measurements(model, {.pools = wanted.pools, .done = &first.profile});
  CHECK(rest.done == 6);
  CHECK(rest.left() == 14);
  CHECK(rest.profile.rows.size() == 14);
}

TEST_CASE(
    "without memories, equal operators are measured once, and their row says how many operators they are") {
  const MeasurementPlan plan =
      plan_measurements(chain(), {.samples = 2, .passes = {"forward", "backward"}});
  REQUIRE(plan.profile.rows.size() == 4);  // both passes of dense and of relu
  CHECK(plan.profile.rows[0].operator_class == "dense");
  CHECK(plan.profile.rows[0].occurrences == 2);
  CHECK(plan.profile.rows[0].inputs == std::vector<std::vector<std::int64_t>>{{2, 8}});
  CHECK(plan.profile.rows[1].pass == "backward");
}
