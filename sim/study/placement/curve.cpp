#include "study/placement/curve.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/number_in.hpp"
#include "base/quantity.hpp"
#include "base/split.hpp"
#include "base/suggest.hpp"
#include "placement/fast_size.hpp"
#include "planning/placement/kernels.hpp"
#include "scenario/memory_place.hpp"

namespace sluice {
namespace {

constexpr double most_sizes = 1000;

[[noreturn]] void refuse(const std::string& part, const std::string& why) {
  throw UsageError("'" + part + "' for '--fast' " + why);
}

[[noreturn]] void refuse(const std::string& part) {
  refuse(part,
         "is not a size of fast memory; expected bytes (16GB), a share of what is needed (40%), "
         "a ratio of fast to slow memory (1:8), or shares in steps (10%..100%:5)");
}

/// Parses `digits` as a number. `part` is the part of the option's value that contains the digits. If they are not a
/// number, the message names `part`.
double number(const std::string& digits, const std::string& part) {
  const std::optional<double> value = number_in<double>(digits);
  if (!value || !std::isfinite(*value) || *value < 0) refuse(part);
  return *value;
}

double percentage(std::string share, const std::string& part) {
  if (share.empty() || share.back() != '%') refuse(part);
  share.pop_back();
  const double value = number(share, part);
  if (value > 100)
    refuse(
        part,
        "is more than what is needed; expected at most 100%, or bytes for a larger memory (16GB)");
  return value;
}

void add_one(std::vector<double>& sizes, const std::string& part, std::int64_t needed) {
  std::optional<FastSize> size;
  try {
    size = parse_fast_size(part);
  } catch (const InputError& error) {
    refuse(part, error.what());
  }
  if (!size) refuse(part);
  sizes.push_back(static_cast<double>(size->bytes_of(needed)));
}

void add_range(std::vector<double>& sizes, const std::string& part, std::size_t dots,
               std::int64_t needed) {
  std::string last = part.substr(dots + 2);
  double step = 10;
  if (const std::size_t colon = last.find(':'); colon != std::string::npos) {
    step = number(last.substr(colon + 1), part);
    last.resize(colon);
  }
  const double low = percentage(part.substr(0, dots), part), high = percentage(last, part);
  if (high < low)
    refuse(part, "ends before it begins; expected the smaller share first (10%..100%)");
  if (!(step > 0)) refuse(part, "has a step of 0; expected a step above 0 (10%..100%:5)");
  if ((high - low) / step > most_sizes)
    refuse(part, "has more than 1000 sizes; expected a larger step (10%..100%:5)");
  for (int n = 0; low + n * step <= high + 1e-9; ++n)
    sizes.push_back((low + n * step) / 100 * static_cast<double>(needed));
}

/// Throws InputError at the key cost.model if the cost model does not count the bandwidths of memories.
void check_cost(const Scenario& scenario) {
  if (scenario.cost.model->counts_memories) return;
  std::vector<std::string> known;
  for (const CostModel* model : cost_catalog().entries())
    if (model->counts_memories) known.push_back(model->name);
  const std::string message =
      "the cost model '" + scenario.cost.name() +
      "' does not count the bandwidths of memories, so it cannot say where tensors should be; expected one of " +
      join(known) + ", as in cost.model=roofline";
  const Value* cost = scenario.document.find("cost");
  const Value* model = cost ? cost->find("model") : nullptr;
  if (model) fail_at(*model, message);
  throw InputError(message);
}

}  // namespace

std::vector<std::int64_t> fast_sizes(const std::string& text, std::int64_t needed) {
  std::vector<double> sizes;
  for (const std::string_view word : split(text, ",")) {
    const std::string part(word);
    const std::size_t dots = part.find("..");
    if (dots != std::string::npos)
      add_range(sizes, part, dots, needed);
    else
      add_one(sizes, part, needed);
  }
  std::vector<std::int64_t> bytes;
  for (const double size : sizes) {
    if (!(size <= 9e18)) refuse(text);
    bytes.push_back(static_cast<std::int64_t>(std::llround(size)));
  }
  return bytes;
}

PlacementProblem::Rates in_place_rates(const std::string& text) {
  const std::size_t colon = text.find(':');
  std::string reason;
  try {
    if (colon != std::string::npos) {
      const PlacementProblem::Rates rates{
          parse_quantity(text.substr(0, colon), Dimension::bytes_per_s),
          parse_quantity(text.substr(colon + 1), Dimension::bytes_per_s)};
      if (std::isfinite(rates.to_fast) && rates.to_fast > 0 && std::isfinite(rates.to_slow) &&
          rates.to_slow > 0)
        return rates;
    }
  } catch (const InputError& error) {
    reason = std::string(": ") + error.what();
  }
  throw UsageError(
      "'" + text +
      "' for '--in-place': expected two rates above 0, at least 0.001B/s, at which kernels "
      "read and write slow memory (20GB/s:4.4GB/s)" +
      reason);
}

double PlacementCurve::fraction(const PlacementResult& result) const {
  return static_cast<double>(result.capacity) / static_cast<double>(needed);
}

PlacementProblem placement_problem(const Scenario& scenario, const TwoMemories& memories) {
  const std::vector<Stage> no_stages;
  const Workload& workload = scenario.workload;
  const Pricing pricing{scenario.model,    no_stages,
                        scenario.platform, *scenario.cost,
                        workload.dtype,    workload.training ? &*workload.training : nullptr};
  const Value* where = scenario.document.find("workload");
  PlacementProblem problem = located(where ? *where : scenario.document, [&] {
    try {
      return placed_kernels({pricing, workload, scenario.name}, memories).problem;
    } catch (const MissingRate& missing) {
      fail_at_memory(scenario, missing);
    }
  });
  if (memories.joined) return problem;
  problem.asynchronous.reset();
  for (PlacementProblem::Tensor& tensor : problem.tensors)
    tensor.moves = PlacementProblem::Moves::none;
  return problem;
}

PlacementCurve placement_curve(const Scenario& scenario, const CurveRequest& request) {
  if (!request.in_place) check_cost(scenario);
  TwoMemories memories = two_memories(scenario.platform, request.device);
  memories.in_place = request.in_place;
  PlacementCurve curve{.scenario = scenario.name,
                       .cost_model = scenario.cost.name(),
                       .question = PlacementQuestion(placement_problem(scenario, memories)),
                       .in_place = request.in_place};
  curve.needed = curve.question.peak();
  curve.all_fast_s = curve.question.all_fast_seconds();
  curve.fast_capacity = memories.fast_capacity;
  std::vector<std::int64_t> sizes =
      fast_sizes(request.fast.empty() ? "10%..100%" : request.fast, curve.needed);
  const std::optional<std::int64_t> own = curve.fast_capacity;
  if (request.fast.empty() && own && *own < curve.needed &&
      std::find(sizes.begin(), sizes.end(), *own) == sizes.end())
    sizes.push_back(*own);
  curve.results =
      place_by_all(curve.question, std::move(sizes), request.ways, request.nodes, request.progress);
  return curve;
}

}  // namespace sluice
