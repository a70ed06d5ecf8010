#include "planning/placement/placed_kinds.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "cost/operands.hpp"
#include "cost/work.hpp"
#include "model/catalog.hpp"
#include "model/kept.hpp"
#include "planning/placed_price.hpp"
#include "planning/placement/on_their_way.hpp"
#include "planning/placement/plan_routes.hpp"

namespace sluice {

PlacedPrices::PlacedPrices(const PolicyRequest& request, const std::string& device)
    : request_(request),
      device_(request.pricing.platform.device(device)),
      last_readers_(last_readers(request.pricing.model)),
      used_(request.pricing.stages.size()) {
  for (std::size_t s = 0; s < used_.size(); ++s) {
    const Stage& stage = request.pricing.stages[s];
    for (std::uint32_t l = stage.first; l <= stage.last; ++l)
      for (const TensorKind& kind :
           operand_kinds(request.pricing.model.layers[l], static_cast<std::int32_t>(s)))
        used_[s].insert(kind);
  }
}

const Price& PlacedPrices::of(const Work& work, const TensorKinds& slow) {
  TensorKinds used;
  for (const TensorKind& kind : used_.at(static_cast<std::size_t>(work.first)))
    if (slow.count(kind) != 0) used.insert(used.end(), kind);
  const std::pair<Work, TensorKinds> asked(work, std::move(used));
  const auto known = known_.find(asked);
  if (known != known_.end()) return known->second;
  const Stage& stage = request_.pricing.stages.at(static_cast<std::size_t>(work.first));
  Price price;  // becomes known only when all layers have a price
  for (std::uint32_t l = stage.first; l <= stage.last; ++l) price += of_layer(l, work, slow);
  return known_.emplace(asked, price).first->second;
}

Price PlacedPrices::of_layer(std::uint32_t number, const Work& work,
                             const TensorKinds& slow) const {
  const Pricing& pricing = request_.pricing;
  const Layer& layer = pricing.model.layers[number];
  const Query query =
      query_of(pricing.model, layer, Pass::forward, work.second, pricing.dtype, device_);
  std::vector<std::string> pools;
  bool near = true;  // whether all operands are in the first memory
  if (does_work(layer, Pass::forward))
    for (const TensorKind& kind : operand_kinds(layer, work.first)) {
      near = near && slow.count(kind) == 0;
      pools.push_back(device_.memories[slow.count(kind)].pool);
    }
  // In the plan of the policy, all operands are in the first memory, and prices are for queries without operands. So
  // the same query gives the same price here.
  return near ? pricing.cost.of(query)
              : placed_price(pricing.platform, pricing.cost, placed_query(query, pools)).price;
}

double PlacedPrices::least_seconds(std::uint32_t number, std::int64_t samples,
                                   bool all_slow) const {
  const auto& stages = request_.pricing.stages;
  const auto stage = std::find_if(stages.begin(), stages.end(),
                                  [&](const Stage& one) { return number <= one.last; });
  const Work work(static_cast<std::int32_t>(stage - stages.begin()), samples);
  const std::vector<TensorKind> operands =
      operand_kinds(request_.pricing.model.layers[number], work.first);
  TensorKinds all(operands.begin(), operands.end());
  // A plan has no tensors for a working set that is not counted. Kernels then read and write it in the first memory.
  if (!request_.working_set_counted) all.erase({TensorClass::workspace});
  if (all_slow) return of_layer(number, work, all).seconds;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t set = 0; set < std::size_t{1} << all.size(); ++set) {
    TensorKinds slow;
    std::size_t k = 0;
    for (const TensorKind& kind : all)
      if ((set >> k++ & 1U) != 0) slow.insert(kind);
    least = std::min(least, of_layer(number, work, slow).seconds);
  }
  return least;
}

/// Returns the kind (placed_kinds.hpp) of a layer's output. `stage` is the stage that reads or writes the output: an
/// output that leaves this stage is an activation between stages.
TensorKind PlacedPrices::kind_of_output(std::uint32_t layer, const Stage& stage) const {
  const std::uint32_t made = origin_of(request_.pricing.model, layer);
  const bool first_stage = stage.first == request_.pricing.stages.front().first;
  if (request_.pricing.model.layers[made].inputs.empty() && first_stage)
    return {TensorClass::input};
  if (made < stage.first || last_readers_[made] > stage.last) return {TensorClass::activation};
  return {last_readers_[made] == 0 ? TensorClass::output : TensorClass::workspace};
}

/// Returns the kinds of the operands of the layer's forward pass, in the order of operands_of(). `number` is the number
/// of the stage.
std::vector<TensorKind> PlacedPrices::operand_kinds(const Layer& layer, std::int32_t number) const {
  const Stage& stage = request_.pricing.stages.at(static_cast<std::size_t>(number));
  std::vector<TensorKind> kinds;
  if (!reads_nothing(layer))
    for (const std::uint32_t input : layer.inputs) kinds.push_back(kind_of_output(input, stage));
  if (layer.parameters > 0 || layer.shared > 0) kinds.push_back({TensorClass::weight, number});
  if (layer.cached > 0) kinds.push_back({TensorClass::kv_cache});
  const auto l = static_cast<std::uint32_t>(&layer - request_.pricing.model.layers.data());
  kinds.push_back(kind_of_output(l, stage));
  return kinds;
}

PlacedKinds::PlacedKinds(PlacedPrices& prices, Plan plan, bool in_turn)
    : prices_(prices),
      plan_(std::move(plan)),
      first_(pool_number(plan_, prices.device().memories[0].pool)),
      second_(pool_number(plan_, prices.device().memories[1].pool)) {
  for (const std::uint32_t p : {first_, second_}) {
    Pool& pool = plan_.pools[p];
    pool.capacity = prices.device().memories[p == first_ ? 0 : 1].capacity;
    pool.enforced = prices.request().capacity_enforced;
    pool.limit.reset();
  }
  find_kinds();
  for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
    if (!plan_.actions[a].is_transfer())
      works_[{plan_.actions[a].stage, plan_.actions[a].samples}] += plan_.executions_of(a);
  order_kinds();
  const auto number_of = [&](std::uint32_t tensor) -> std::optional<std::size_t> {
    if (!kinds_of_[tensor]) return {};
    const auto at = std::find(kinds_.begin(), kinds_.end(), *kinds_of_[tensor]);
    return static_cast<std::size_t>(at - kinds_.begin());
  };
  bound_.emplace(plan_, prices.request().pricing.platform, first_, second_, in_turn, number_of);
}

void PlacedKinds::find_kinds() {
  kinds_of_.resize(plan_.tensors.size());
  const auto found = [&](std::uint32_t t, std::int32_t stage) {
    const TensorClass tensor_class = plan_.tensors[t].tensor_class;
    kinds_of_[t] = {tensor_class, tensor_class == TensorClass::weight ? stage : -1};
  };
  for (std::uint32_t t = 0; t < plan_.tensors.size(); ++t)
    if (plan_.tensors[t].home == first_) found(t, -1);
  for (const Action& action : plan_.actions)
    for (const Placement& made : action.allocates)
      if (made.pool == first_) found(made.tensor, action.stage);
}

void PlacedKinds::order_kinds() {
  std::map<TensorKind, double> bytes;
  for (std::uint32_t t = 0; t < kinds_of_.size(); ++t)
    if (kinds_of_[t]) bytes[*kinds_of_[t]] += static_cast<double>(plan_.tensors[t].bytes);
  std::map<TensorKind, double> worth;
  const double fastest = kernel_seconds({});
  for (const auto& [kind, all] : bytes) {
    kinds_.push_back(kind);
    worth[kind] = all > 0 ? (kernel_seconds({kind}) - fastest) / all : 0;
  }
  std::stable_sort(kinds_.begin(), kinds_.end(),
                   [&](const TensorKind& a, const TensorKind& b) { return worth[a] > worth[b]; });
}

double PlacedKinds::kernel_seconds(const TensorKinds& slow) const {
  double seconds = 0;
  for (const auto& [work, count] : works_)
    seconds += static_cast<double>(count) * prices_.of(work, slow).seconds;
  return seconds;
}

double PlacedKinds::seconds_at_least(const TensorKinds& slow) const {
  std::vector<bool> is_slow;
  for (const TensorKind& kind : kinds_) is_slow.push_back(slow.count(kind) != 0);
  return bound_->at_least(
      is_slow, [&](const PlacedPrices::Work& work) { return prices_.of(work, slow).seconds; });
}

Plan PlacedKinds::plan(const TensorKinds& slow) const {
  Plan placed = plan_;
  PlanRoutes routes(placed, prices_.request().pricing.platform);
  const auto moves = [&](std::uint32_t tensor, std::uint32_t pool) {
    return pool == first_ && tensor != none && kinds_of_[tensor] &&
           slow.count(*kinds_of_[tensor]) != 0;
  };
  for (std::uint32_t t = 0; t < placed.tensors.size(); ++t)
    if (moves(t, placed.tensors[t].home)) placed.tensors[t].home = second_;
  for (Action& action : placed.actions) {
    for (Flow& flow : action.flows) {
      std::uint32_t& end = flow.from == first_ ? flow.from : flow.to;
      if (!moves(flow.tensor, end)) continue;
      end = second_;
      routes.send(action, flow);
    }
    for (Access& use : action.uses)
      if (moves(use.tensor, use.pool)) use.pool = second_;
    for (Placement& made : action.allocates)
      if (moves(made.tensor, made.pool)) made.pool = second_;
    if (action.is_transfer()) continue;
    take_price(action, prices_.of({action.stage, action.samples}, slow),
               placed.streams[action.stream]);
  }
  return placed;
}

}  // namespace sluice
