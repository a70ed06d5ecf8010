// Tests into how many parts layers are split.
#include <catch2/catch.hpp>

#include "model/partial.hpp"

namespace sluice {
namespace {

using Parts = std::vector<std::int64_t>;

Layer layer_of(std::int64_t output, std::optional<std::uint32_t> tied = {}) {
  Layer layer;
  layer.output = output;
  layer.tied = tied;
  return layer;
}

TEST_CASE("a layer gets at most as many parts as its output has elements") {
  Model model;
  model.layers = {layer_of(100), layer_of(1)};
  CHECK(split_alike(model, {4, 2}) == Parts{4, 1});
}

TEST_CASE("layers that share weights get the same number of parts, and each part has an output") {
  Model model;
  model.layers = {layer_of(100), layer_of(2, 0), layer_of(100, 0)};
  CHECK(split_alike(model, {1, 2, 10}) == Parts{2, 2, 2});
  model.layers = {layer_of(100), layer_of(50, 0), layer_of(100, 0)};
  CHECK(split_alike(model, {1, 2, 10}) == Parts{10, 10, 10});
}

}  // namespace
}  // namespace sluice
