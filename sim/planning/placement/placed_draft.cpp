#include "planning/placement/placed_draft.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "placement/ways.hpp"
#include "planning/placed_price.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

constexpr int nodes = 0;  ///< no branch and bound, so that a plan is made quickly
constexpr std::int64_t most_kernels = 20'000;

/// The number of micro-batches after which everything repeats: those of a batch in training, and
/// those of a step if each sample has its own cache.
std::int64_t micro_batches_of(const PolicyRequest& request) {
  const Workload& workload = request.workload;
  const auto& layers = request.pricing.model.layers;
  const bool caches = std::any_of(layers.begin(), layers.end(),
                                  [](const Layer& layer) { return layer.cached > 0; });
  const std::int64_t count = workload.training ? workload.batch / workload.micro_batch
                             : caches          ? workload.micro_batches_per_step()
                                               : 1;
  if (count * static_cast<std::int64_t>(layers.size()) > most_kernels)
    throw Infeasible("a placement is searched for at most " + std::to_string(most_kernels) +
                     " passes of layers; this one has " + std::to_string(count) +
                     " micro-batches of " + std::to_string(layers.size()) +
                     " layers each: use a larger workload.micro_batch");
  return count;
}

class PlacedLister {
 public:
  PlacedLister(const PolicyRequest& request, const Common& common, const std::string& policy,
               const std::string& way, bool inputs_in_place)
      : request_(request),
        common_(common),
        memories_(two_memories(request.pricing.platform, common.device.name)),
        micro_batches_(micro_batches_of(request)),
        work_(kernels(inputs_in_place, policy)),
        question_(work_.problem),
        builder_(request.pricing.platform, policy, request.capacity_enforced),
        host_pool_(builder_.pool(common.host)),
        way_(way) {
    find_answers();
    find_room();
    stage_of_.resize(request.pricing.model.layers.size());
    for (std::size_t s = 0; s < request.pricing.stages.size(); ++s)
      for (std::uint32_t l = request.pricing.stages[s].first; l <= request.pricing.stages[s].last;
           ++l)
        stage_of_[l] = static_cast<std::int32_t>(s);
  }

  /// Returns whether inputs are copied to another memory although the kernels could read host memory.
  bool loads_inputs() const {
    return memories_.slow == common_.host &&
           std::any_of(inputs_.begin(), inputs_.end(),
                       [this](std::uint32_t t) { return !lies_at_home(t); });
  }

  Draft list() {
    place();
    builder_.enter(Section::prologue);
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) add_tensor(t);
    for (const std::uint32_t t : inputs_)
      if (!lies_at_home(t)) loads_[t].first = load(t);
    builder_.enter(Section::body);
    for (std::uint32_t k = 0; k < question_.kernel_count(); ++k) list_kernel(k);
    for (const std::uint32_t t : inputs_)
      if (!lies_at_home(t)) load_next(t);
    say_facts();
    const Workload& workload = request_.workload;
    const std::int64_t per_step = workload.micro_batches_per_step() / micro_batches_;
    Plan plan = builder_.finish(checked_mul(workload.steps, per_step, "rounds of a run"));
    plan.iterations_per_step = per_step;
    return {std::move(plan), !common_.overlap};
  }

 private:
  PlacedKernels kernels(bool inputs_in_place, const std::string& policy) const {
    PlacedKernels work =
        placed_kernels({request_.pricing, request_.workload, policy, micro_batches_}, memories_);
    for (PlacementProblem::Tensor& tensor : work.problem.tensors)
      if (inputs_in_place && tensor.begins == Begins::given)
        tensor.pinned = PlacementProblem::Pinned::slow;
    return work;
  }

  const PlacementProblem::Tensor& tensor(std::uint32_t t) const { return question_.tensor(t); }
  const std::string& node_of(std::uint32_t t) const {
    return fast_[t] ? memories_.fast : memories_.slow;
  }
  bool lies_at_home(std::uint32_t t) const { return builder_.pool(node_of(t)) == host_pool_; }

  /// Finds the outputs that no layer reads; in inference they go to host memory.
  void find_answers() {
    answers_.assign(question_.tensor_count(), 0);
    if (request_.workload.training) return;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      answers_[t] = tensor(t).begins == Begins::made && question_.uses(t).count() == 1;
  }

  /// The bytes of one more input and one more answer, which are transferred during the computation.
  std::int64_t on_their_way() const {
    std::int64_t input = 0, answer = 0;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) {
      if (tensor(t).tensor_class == TensorClass::input) input += tensor(t).bytes;
      if (answers_[t]) answer += tensor(t).bytes;
    }
    return input + (common_.return_outputs ? answer : 0);
  }

  /// Finds the room also when capacities are not enforced: the plans with which this one is compared are limited too.
  void find_room() {
    const std::optional<std::int64_t> all = memories_.fast_capacity;
    room_ = all ? *all - on_their_way() : question_.peak();
    if (room_ < 0)
      throw Infeasible("an input and an answer in transfer take more than the " +
                       format_quantity(static_cast<double>(*all), Dimension::bytes) + " of '" +
                       memories_.fast + "': use a smaller workload.micro_batch");
  }

  void place() {
    const PlacementResult result = place_by_all(question_, {room_}, {way_}, nodes).front();
    if (!result.refused.empty()) throw Infeasible(result.refused);
    for (const TensorPath& path : result.schedule->placing) fast_.push_back(path.use.front());
    gap_ = result.gap();
  }

  /// Whether the tensor is in the memory where it is wanted during the whole run.
  bool is_held(std::uint32_t t) const {
    const PlacementProblem::Tensor& of = tensor(t);
    const bool stays = of.begins == Begins::stays && of.tensor_class != TensorClass::weight;
    return stays || ((of.begins != Begins::made || answers_[t]) && lies_at_home(t));
  }

  void add_tensor(std::uint32_t t) {
    const PlacementProblem::Tensor& of = tensor(t);
    const bool from_host = of.tensor_class == TensorClass::weight || of.begins == Begins::given;
    const std::string home = from_host || answers_[t]     ? common_.host
                             : of.begins == Begins::stays ? node_of(t)
                                                          : "";
    tensors_.push_back(builder_.tensor(of.name, of.tensor_class, of.bytes, home));
    if (of.begins == Begins::given) inputs_.push_back(t);
    if (of.tensor_class == TensorClass::weight && !lies_at_home(t)) loads_[t].first = load(t);
  }

  PlanBuilder::Ref load(std::uint32_t t) {
    return builder_.transfer(ActionKind::load, tensors_[t],
                             {.from = common_.host, .to = node_of(t), .release = false},
                             stage_of_first(t), -1);
  }
  std::int32_t stage_of_first(std::uint32_t t) const {
    for (const std::uint32_t k : question_.uses(t).kernels)
      if (work_.kernels[k].query) return stage_of_.at(work_.kernels[k].layer);
    return -1;
  }

  /// Lists the load of the next round's input, after this round's last users of that input have ended.
  void load_next(std::uint32_t t) {
    const PlanBuilder::Ref next = load(t);
    builder_.at(next).ahead = 1;
    builder_.wait(next, kernels_[question_.uses(t).kernels.front()]);
    loads_[t].second = next;
    builder_.wait(kernels_[question_.uses(t).kernels.front()], next, 1);
  }

  void list_kernel(std::uint32_t k) {
    const PlacedKernel& kernel = work_.kernels[k];
    kernels_.emplace_back();
    if (!kernel.query) {  // the next kernel makes what this one makes
      waiting_.push_back(k);
      return;
    }
    const bool update = kernel.micro_batch < 0;
    const PlanBuilder::Ref ref = builder_.compute(
        kernel.kind, common_.device.name, stage_of_[kernel.layer],
        static_cast<std::int32_t>(kernel.micro_batch), update ? 0 : request_.workload.micro_batch);
    kernels_.back() = ref;
    for (const std::uint32_t before : waiting_) touch(ref, before);
    waiting_.clear();
    touch(ref, k);
    price(ref, k);
    if (is_last_of_micro_batch(k)) builder_.at(ref).samples_done = samples_done(k);
    for (const auto& operand : question_.problem().kernels[k].operands)
      if (answers_[operand.tensor]) give_back(ref, operand.tensor);
  }

  /// The action makes, reads and writes the operands of kernel k.
  void touch(PlanBuilder::Ref ref, std::uint32_t k) {
    for (const auto& operand : question_.problem().kernels[k].operands) {
      const std::uint32_t t = operand.tensor, pool = builder_.pool(node_of(t));
      const bool first = question_.uses(t).kernels.front() == k;
      if (is_held(t)) continue;
      if (first && tensor(t).begins == Begins::made)
        builder_.at(ref).allocates.push_back({tensors_[t], pool});
      auto& uses = builder_.at(ref).uses;
      const auto known = std::find_if(uses.begin(), uses.end(), [&](const Access& use) {
        return use.tensor == tensors_[t] && use.pool == pool;
      });
      if (known == uses.end())
        uses.push_back({tensors_[t], pool, true, operand.written});
      else
        known->written |= operand.written;
      const auto load = loads_.find(t);
      if (first && load != loads_.end()) builder_.wait(ref, load->second.first);
    }
  }

  void price(PlanBuilder::Ref ref, std::uint32_t k) {
    const PlacedKernel& kernel = work_.kernels[k];
    Query query = *kernel.query;
    std::vector<std::uint32_t> tensors;
    for (std::size_t o = 0; o < query.operands.size(); ++o) {
      const std::uint32_t t = question_.problem().kernels[k].operands[kernel.operand_of[o]].tensor;
      query.operands[o].pool = node_of(t);
      tensors.push_back(tensors_[t]);
    }
    take_placed_price(builder_, ref, common_.device,
                      placed_price(request_.pricing.platform, request_.pricing.cost, query),
                      tensors);
  }

  bool is_last_of_micro_batch(std::uint32_t k) const {
    if (work_.kernels[k].micro_batch < 0) return false;
    return k + 1 == question_.kernel_count() ||
           work_.kernels[k + 1].micro_batch != work_.kernels[k].micro_batch;
  }

  /// If answers are saved, their samples are done when the save has arrived.
  std::int64_t samples_done(std::uint32_t k) const {
    bool saved = false;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      saved |= answers_[t] && is_saved(t) &&
               work_.kernels[question_.uses(t).kernels.front()].micro_batch ==
                   work_.kernels[k].micro_batch;
    return saved ? 0 : request_.workload.micro_batch;
  }
  bool is_saved(std::uint32_t t) const { return common_.return_outputs && !lies_at_home(t); }

  void give_back(PlanBuilder::Ref ref, std::uint32_t t) {
    if (!is_saved(t)) return;
    const std::int64_t micro_batch = builder_.at(ref).micro_batch;
    const PlanBuilder::Ref save = builder_.transfer(
        ActionKind::save, tensors_[t], {.from = node_of(t), .to = common_.host, .allocate = false},
        builder_.at(ref).stage, static_cast<std::int32_t>(micro_batch));
    builder_.wait(save, ref);
    builder_.wait(ref, save, 2);  // the previous answer may still be on its way
    if (done_.insert(micro_batch).second)
      builder_.at(save).samples_done = request_.workload.micro_batch;
  }

  void say_facts() {
    std::int64_t fast = 0, slow = 0;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      (fast_[t] ? fast : slow) += tensor(t).bytes;
    builder_.fact(Fact("placement", way_));
    builder_.fact(Fact("placed_bytes", fast, "byte").said_of(memories_.fast));
    builder_.fact(Fact("placed_bytes", slow, "byte").said_of(memories_.slow));
    if (gap_) builder_.fact(Fact("placement_gap", *gap_, "1"));
  }

  const PolicyRequest& request_;
  const Common& common_;
  TwoMemories memories_;
  std::int64_t micro_batches_;
  PlacedKernels work_;
  PlacementQuestion question_;
  PlanBuilder builder_;
  std::uint32_t host_pool_;
  std::string way_;
  std::int64_t room_ = 0;             ///< bytes of fast memory
  std::vector<char> fast_, answers_;  ///< indexed by tensor of the problem
  std::optional<double> gap_;
  std::vector<std::int32_t> stage_of_;  ///< indexed by layer
  std::vector<std::uint32_t> tensors_;  ///< of the plan, indexed by tensor of the problem
  std::vector<std::uint32_t> inputs_;
  /// The load of a tensor in the prologue and, for an input, its load in the body.
  std::map<std::uint32_t, std::pair<PlanBuilder::Ref, PlanBuilder::Ref>> loads_;
  std::vector<PlanBuilder::Ref> kernels_;  ///< per kernel; empty: it computes nothing
  std::vector<std::uint32_t> waiting_;     ///< kernels whose operands the next one allocates
  std::set<std::int64_t> done_;            ///< micro-batches whose samples a save has counted
};

}  // namespace

const std::vector<std::string>& placements_of_plans() {
  static const std::vector<std::string> ways = {"static", "first_touch", "all_slow"};
  return ways;
}

void require_placeable(const PolicyRequest& request, const Common& common) {
  PlacedLister(request, common, "", "", false);
}

Draft placed_draft(const PolicyRequest& request, const Common& common, const std::string& policy,
                   const std::string& way) {
  PlacedLister lister(request, common, policy, way, false);
  Draft draft = lister.list();
  if (!lister.loads_inputs()) return draft;
  // The search does not know how long loads take, so reading inputs in place may be faster.
  Draft in_place = PlacedLister(request, common, policy, way, true).list();
  const double loaded_s = run_seconds(finish(draft, request));
  const double in_place_s = run_seconds(finish(in_place, request));
  return in_place_s < loaded_s ? std::move(in_place) : std::move(draft);
}

}  // namespace sluice
