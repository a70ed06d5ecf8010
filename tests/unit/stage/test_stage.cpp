// Tests the stages that each cut makes of a small chain, and what each cut refuses.
#include <catch2/catch.hpp>

#include "support/stage_models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Lasts = std::vector<std::uint32_t>;

TEST_CASE("if the scenario gives no stages, the whole model is one stage") {
  const Cutting cutting(chain());
  const auto stages = cut_stages(
      {cutting.model, cutting.device, *plain_cost("peak"), DType::int8, 1, true, nullptr});
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].name == "a..d");
  CHECK(stages[0].first == 0);
  CHECK(stages[0].last == 4);
  CHECK(stages[0].weight_bytes == 10);
  CHECK(stages[0].flop == 1000);
  CHECK(stages[0].macs == 500);
}

TEST_CASE("per_layer puts the input into the first stage") {
  const auto stages = Cutting(chain()).cut("{cut: per_layer}");
  REQUIRE(stages.size() == 4);
  CHECK(stages[0].first == 0);
  CHECK(stages[0].last == 1);
  CHECK(stages[0].name == "a");
  CHECK(stages[3].name == "d");
}

TEST_CASE(
    "the cut explicit ends a stage after each layer of its list, by number (from 1) or by name") {
  const Cutting cutting(chain());
  CHECK(cutting.lasts("{cut: explicit, after: [3]}") == Lasts{2, 4});
  CHECK(cutting.lasts("{cut: explicit, after: [a, 4]}") == Lasts{1, 3, 4});
  CHECK(cutting.lasts("{cut: explicit, after: []}") == Lasts{4});
}

TEST_CASE("by_memory makes each stage as long as possible") {
  Cutting cutting(chain());
  // A single stage needs 77 B: weights 10 + input 10 + output 7 + workspace 50. Its workspace is the outputs of a and
  // b.
  cutting.device.memory().capacity = 77;
  CHECK(cutting.lasts("{cut: by_memory}") == Lasts{4});
  // With 76 B, a stage of a, b and c fits: it needs 6 + 10 + 5 + 50 = 71 B. The stage of d needs 4 + 5 + 7 + 0 = 16 B.
  cutting.device.memory().capacity = 76;
  CHECK(cutting.lasts("{cut: by_memory}") == Lasts{3, 4});
  // With 70 B, a stage of a and b fits: it needs 3 + 10 + 30 + 20 = 63 B. The stage of c and d needs 7 + 30 + 7 + 5 =
  // 49 B.
  cutting.device.memory().capacity = 70;
  CHECK(cutting.lasts("{cut: by_memory}") == Lasts{2, 4});
  // If the workspace is not counted, a stage of all four layers needs 10 + 10 + 7 = 27 B.
  cutting.working_set_counted = false;
  cutting.device.memory().capacity = 27;
  CHECK(cutting.lasts("{cut: by_memory}") == Lasts{4});
}

TEST_CASE("by_memory counts all samples of a micro-batch, and fills only `share` of the memory") {
  Cutting cutting(chain());
  cutting.samples = 2;
  // A stage of all four layers needs 10 B for weights, and 67 B for each sample. So with two samples, it needs 10 + 2 x
  // 67 = 144 B.
  cutting.device.memory().capacity = 144;
  CHECK(cutting.lasts("{cut: by_memory}") == Lasts{4});
  cutting.device.memory().capacity = 143;
  CHECK(cutting.lasts("{cut: by_memory}") == Lasts{3, 4});
  cutting.device.memory().capacity = 288;
  CHECK(cutting.lasts("{cut: by_memory, share: 50%}") == Lasts{4});
  cutting.device.memory().capacity = 287;
  CHECK(cutting.lasts("{cut: by_memory, share: 0.5}") == Lasts{3, 4});
  cutting.device.memory().capacity.reset();
  CHECK(cutting.lasts("{cut: by_memory}") == Lasts{4});
}

TEST_CASE("by_memory names a layer that does not fit even if it is the only layer of a stage") {
  Cutting cutting(chain());
  // A stage of layer a needs 1 + 10 + 20 = 31 B. A stage of layer b needs 2 + 20 + 30 = 52 B, and a stage of b and c
  // would need 5 + 20 + 5 + 30 = 60 B. So 51 B are too few for layer b.
  cutting.device.memory().capacity = 51;
  CHECK_THROWS_AS(cutting.cut("{cut: by_memory}"), Infeasible);
  CHECK_THROWS_WITH(cutting.cut("{cut: by_memory}"),
                    Contains("layer 'b' does not fit") && Contains("weights 2 B") &&
                        Contains("input 20 B") && Contains("output 30 B") && Contains("= 52 B") &&
                        Contains("device 'gpu'") && Contains("51 B"));
}

TEST_CASE("balanced makes the longest stage as short as possible") {
  const Cutting cutting(chain());  // the four layers take 100, 200, 300 and 400 s
  CHECK(cutting.lasts("{cut: balanced, count: 1}") == Lasts{4});
  CHECK(cutting.lasts("{cut: balanced, count: 2}") == Lasts{3, 4});  // 600 | 400
  CHECK(cutting.lasts("{cut: balanced, count: 3}") == Lasts{2, 3, 4});
  CHECK(cutting.lasts("{cut: balanced, count: 4}") == Lasts{1, 2, 3, 4});
}

TEST_CASE("by_weight cuts where the fewest bytes cross, and limits the weights of each stage") {
  // The weights have 1, 2, 3 and 4 B. The boundaries have 20, 30 and 5 B.
  const Cutting cutting(chain());
  CHECK(cutting.lasts("{cut: by_weight, groups: 1, split: false}") == Lasts{4});
  // With `groups: 2`, a stage may have weights of at most 10 B / 2. Two cuts with three stages are possible. In the cut
  // a, b | c | d, the first boundary has 30 B. In the cut a | b, c | d, it has only 20 B.
  CHECK(cutting.lasts("{cut: by_weight, groups: 2, split: false}") == Lasts{1, 3, 4});
}

TEST_CASE(
    "if loads take no time, by_time makes as few stages as fit, and chooses where these stages end") {
  // As in the test of by_memory, a single stage needs 77 B, and two stages need 63 B and 49 B.
  Cutting cutting(chain());
  cutting.device.memory().capacity = 77;
  CHECK(cutting.lasts("{cut: by_time}") == Lasts{4});
  cutting.device.memory().capacity = 70;
  CHECK(cutting.lasts("{cut: by_time}") == Lasts{2, 4});
  cutting.device.memory().capacity = 10;
  CHECK_THROWS_WITH(cutting.lasts("{cut: by_time}"),
                    Contains("the cut by_time finds no stages that fit into device"));
}

TEST_CASE("faulty stages are refused at the fault") {
  const Cutting cutting(chain());
  struct Case {
    std::string stages, where, says;
  };
  const std::vector<Case> cases = {
      {"{after: [3]}", "s.yaml:1:9", "missing key 'cut' in stages; known: auto, whole, per_layer"},
      {"{cut: by_memori}", "s.yaml:1:15", "did you mean 'by_memory'"},
      {"{cut: [explicit]}", "s.yaml:1:15", "a list for 'cut' in stages; known: auto, whole"},
      {"{cut: per_layer, after: [3]}", "s.yaml:1:26", "unknown key 'after'"},
      {"{cut: explicit}", "s.yaml:1:9", "'after' is missing"},
      {"{cut: explicit, after: 3}", "s.yaml:1:32", "expected a list"},
      {"{cut: explicit, after: [3, 3]}", "s.yaml:1:36", "must be in ascending order"},
      {"{cut: explicit, after: [4, 3]}", "s.yaml:1:36", "'b' does not come after 'c'"},
      {"{cut: explicit, after: [5]}", "s.yaml:1:33", "'d' is the last layer"},
      {"{cut: explicit, after: [1]}", "s.yaml:1:33", "'input' is the input"},
      {"{cut: explicit, after: [6]}", "s.yaml:1:33", "6"},
      {"{cut: explicit, after: [e]}", "s.yaml:1:33", "e"},
      {"{cut: by_memory, share: 0}", "s.yaml:1:33", "more than 0"},
      {"{cut: balanced}", "s.yaml:1:9", "'count' is missing"},
      {"{cut: balanced, count: 0}", "s.yaml:1:32", "at least 1"},
      {"{cut: balanced, count: 5}", "s.yaml:1:32", "expected at most 4, the number of layers"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.stages);
    try {
      cutting.cut(wrong.stages);
      FAIL_CHECK("the faulty stages were accepted");
    } catch (const InputError& error) {
      CHECK_THAT(error.what(), Contains(wrong.where + ": error: "));
      CHECK_THAT(error.what(), Contains(wrong.says));
    }
  }
}

TEST_CASE(
    "the stages of every cut have each layer once, in order, and their sums equal the sums of the model") {
  // The keys of cuts that need further keys, or that have many stages without them.
  const std::vector<std::pair<std::string, std::string>> parameters = {
      {"by_weight", ", groups: 2"}, {"explicit", ", after: [2]"}, {"balanced", ", count: 2"}};
  Cutting cutting(chain());
  cutting.device.memory().capacity = 70;
  for (const Cut* cut : cut_catalog().entries()) {
    INFO(cut->name);
    CHECK_FALSE(cut->summary.empty());
    CHECK_FALSE(cut->source.empty());
    const auto with = std::find_if(parameters.begin(), parameters.end(),
                                   [&](const auto& entry) { return entry.first == cut->name; });
    const std::string keys = with == parameters.end() ? "" : with->second;
    std::uint32_t next = 0;
    std::int64_t weights = 0, flop = 0;
    const auto stages = cutting.cut("{cut: " + cut->name + keys + "}");
    for (const Stage& stage : stages) {
      CHECK(stage.first == next);
      CHECK(stage.last >= stage.first);
      CHECK(stage.output_bytes == (stage.last == 4 ? 7 : cutting.model.layers[stage.last].output));
      if (stage.first != 0)
        CHECK(stage.input_bytes == cutting.model.layers[stage.first - 1].output);
      next = stage.last + 1;
      weights += stage.weight_bytes;
      flop += stage.flop;
    }
    CHECK(next == 5);
    CHECK(weights == 10);
    CHECK(flop == 1000);
  }
}

TEST_CASE("byte counts that overflow are refused") {
  Model model = chain();
  model.layers[2].output = std::int64_t{1} << 61;
  CHECK_THROWS_AS(make_stages(model, {4}, DType::float64), InputError);
}
