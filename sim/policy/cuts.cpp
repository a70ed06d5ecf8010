// The cuts that policies compare if the scenario does not cut the model.
#include "policy/policy.hpp"

namespace sluice {

namespace {

/// Up to this number of layers, a model is also cut after each layer.
constexpr std::size_t most_stages = 512;

/// Returns all cuts of a model, each as a list of the layers after which the model is cut. If the model can be cut in
/// more than `most_places` places, the result is empty. No cut is after the first layer, because this is the input.
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

/// Returns the cut into `count` stages of about equal time, or of about equal weights if `of` is "weights".
CutChoice balanced(std::int64_t count, const char* of = nullptr) {
  return {.cut = "balanced", .key = "count", .count = count, .of = of};
}

}  // namespace

std::vector<CutChoice> cuts_with(const CutQuestion& question, const std::vector<CutChoice>& between,
                                 std::size_t most_places) {
  std::vector<CutChoice> cuts = {{"whole"}};
  cuts.insert(cuts.end(), between.begin(), between.end());
  if (question.layers <= most_stages) cuts.insert(cuts.end(), {{"single_tensor"}, {"per_layer"}});
  for (CutChoice& cut : all_cuts(question.layers, most_places)) cuts.push_back(std::move(cut));
  return cuts;
}

std::vector<CutChoice> cuts_for_turns(const CutQuestion& question) {
  std::vector<std::int64_t> counts = {2, 3, 4, 5, 6, 8, 12, 16, 32, 64};
  if (question.many_ways) counts = {2, 3, 4, 8, 16, 32};  // planning each cut takes longer
  std::vector<CutChoice> between;
  for (const std::int64_t groups : counts) between.push_back({"by_weight", "groups", groups});
  for (const std::int64_t count : {6, 8, 12}) between.push_back(balanced(count, "weights"));
  return cuts_with(question, between, 4);
}

std::vector<CutChoice> cuts_for_devices(const CutQuestion& question) {
  const bool training = question.mode == Mode::training;
  const bool few = question.many_ways;  // planning each cut takes longer
  std::vector<CutChoice> between;
  const auto devices = static_cast<std::int64_t>(question.devices);
  if (devices > 1) between.push_back(balanced(devices));
  for (const std::int64_t count : {2, 3, 4, 6, 8, 16}) between.push_back(balanced(count));
  std::vector<std::int64_t> groups = {2, 3, 4, 6, 8, 16};
  if (few) groups = {4, 16};
  for (const std::int64_t count : groups) between.push_back({"by_weight", "groups", count});
  for (const std::int64_t count : {4, 6, 8, 12}) between.push_back(balanced(count, "weights"));
  const std::size_t most_places = training ? 4 : 6;
  const bool all = question.layers <= most_places + 2;  // every possible cut is compared
  const std::int64_t stages = training ? 5 : 7;
  for (CutChoice joined : {balanced(stages), balanced(stages, "weights")}) {
    joined.joined_from = all ? 0 : 2;
    between.push_back(joined);
  }
  if (training && !few && !all) {
    between.push_back(balanced(7, "weights"));
    between.back().joined_from = 5;
    if (question.layers <= most_stages) {
      between.push_back({"per_layer"});
      between.back().joined_from = 3;
    }
  }
  return cuts_with(question, between, most_places);
}

}  // namespace sluice
