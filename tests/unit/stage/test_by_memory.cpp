// Tests that the cut by_memory never refuses a model for which some cut fits. Each stage must have the most layers with
// which the later stages still fit.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "support/random_chain.hpp"
#include "support/stage_models.hpp"

namespace sluice {
namespace {

using test::Cutting;
using test::Dice;
using test::layer;
using Lasts = std::vector<std::uint32_t>;

/// Returns a chain of layers. Each element of `rows` has the bytes of a layer's output and the bytes of its weights.
Model chain_of(std::int64_t input, const std::vector<std::pair<std::int64_t, std::int64_t>>& rows) {
  Model model;
  model.name = "chain";
  model.layers = {layer("input", {}, input, 0, 0)};
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    model.layers.push_back(layer("l" + std::to_string(i), {i}, rows[i].first, rows[i].second, 100));
  return model;
}

/// Returns the bytes of one stage of a chain: its weights, its input and its output.
std::int64_t bytes_of_stage(const Model& model, std::uint32_t first, std::uint32_t last) {
  std::int64_t bytes = model.layers[first == 0 ? 0 : first - 1].output + model.layers[last].output;
  for (std::uint32_t l = first; l <= last; ++l) bytes += model.layers[l].parameters;
  return bytes;
}

/// Tries every cut. Returns the number of stages of the cut that fits and has the fewest stages. Returns 0 if no cut
/// fits.
std::size_t fewest_of_all(const Model& model, std::int64_t capacity) {
  const auto layers = static_cast<std::uint32_t>(model.layers.size());
  std::size_t fewest = 0;
  for (std::uint32_t cuts = 0; cuts < 1u << (layers - 2); ++cuts) {
    bool fits = true;
    std::size_t stages = 0;
    for (std::uint32_t first = 0, last = 1; last < layers; ++last) {
      if (last + 1 < layers && !(cuts >> (last - 1) & 1)) continue;
      fits = fits && bytes_of_stage(model, first, last) <= capacity;
      ++stages;
      first = last + 1;
    }
    if (fits && (fewest == 0 || stages < fewest)) fewest = stages;
  }
  return fewest;
}

TEST_CASE(
    "by_memory ends a stage earlier if the longest possible stage leads to a layer that fits into no stage") {
  // The input has 1 B. Layers l0 to l3 have outputs of 4, 60, 4 and 4 B, and weights of 5, 5, 65 and 5 B. A stage needs
  // the bytes of its input, its weights and its output. The device has 78 B. A stage of l0 and l1 would fit, with 1 +
  // 10 + 60 = 71 B. But after this stage, l2 would not fit, with 60 + 65 + 4 = 129 B. So the first stage is l0 alone,
  // with 1 + 5 + 4 = 10 B. The second stage is l1 and l2, with 4 + 70 + 4 = 78 B. With l3, it would need 83 B. So l3 is
  // a stage of its own, with 4 + 5 + 4 = 13 B.
  Cutting cutting(chain_of(1, {{4, 5}, {60, 5}, {4, 65}, {4, 5}}));
  cutting.working_set_counted = false;
  cutting.device.memory().capacity = 78;
  CHECK(cutting.lasts("{cut: by_memory}") == Lasts{1, 3, 4});
  cutting.device.memory().capacity = 77;  // no stage with l2 fits
  CHECK_THROWS_AS(cutting.cut("{cut: by_memory}"), Infeasible);
}

TEST_CASE("by_memory refuses exactly those chains that do not fit with any cut") {
  Dice dice(760'000);
  int refused = 0, earlier = 0;
  for (int c = 0; c < 6000; ++c) {
    std::vector<std::pair<std::int64_t, std::int64_t>> rows(2 + dice.below(6));
    for (auto& [output, weights] : rows) {
      output = static_cast<std::int64_t>(1 + dice.below(60));
      weights = static_cast<std::int64_t>(dice.below(60));
    }
    Cutting cutting(chain_of(static_cast<std::int64_t>(1 + dice.below(60)), rows));
    cutting.working_set_counted = false;
    cutting.device.memory().capacity = static_cast<std::int64_t>(60 + dice.below(120));
    const std::size_t fewest = fewest_of_all(cutting.model, *cutting.device.memory().capacity);
    INFO("case " << c);
    if (fewest == 0) {
      CHECK_THROWS_AS(cutting.cut("{cut: by_memory}"), Infeasible);
      ++refused;
      continue;
    }
    const Lasts lasts = cutting.lasts("{cut: by_memory}");
    CHECK(lasts.size() >= fewest);
    std::uint32_t first = 0;
    bool longest = true;  // whether each stage is as long as possible
    for (const std::uint32_t last : lasts) {
      CHECK(bytes_of_stage(cutting.model, first, last) <= *cutting.device.memory().capacity);
      for (std::uint32_t more = last + 1; more < cutting.model.layers.size(); ++more)
        longest = longest &&
                  bytes_of_stage(cutting.model, first, more) > *cutting.device.memory().capacity;
      first = last + 1;
    }
    if (!longest) CHECK(lasts.size() == fewest);
    earlier += longest ? 0 : 1;
  }
  CHECK(refused > 100);
  CHECK(earlier > 20);
}

}  // namespace
}  // namespace sluice
