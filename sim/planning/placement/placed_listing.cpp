#include "planning/placement/placed_listing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "planning/placed_price.hpp"
#include "planning/placement/moving.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

class PlacedLister {
 public:
  explicit PlacedLister(const PlacedListing& listing)
      : request_(listing.request),
        common_(listing.common),
        asked_(listing.asked),
        question_(asked_.question()),
        builder_(request_.pricing.platform, listing.policy, request_.capacity_enforced),
        host_pool_(builder_.pool(common_.host)),
        schedule_(listing.schedule),
        cache_(listing.cache),
        cache_bytes_(listing.cache_bytes) {
    for (const TensorPath& path : schedule_.placing) fast_.push_back(path.use.front());
    // Some tensors with moves live longer than one round. Such a tensor is in slow memory when a round begins.
    for (const PlacementMove& move : schedule_.moves)
      if (question_.has_gap(move.tensor, 0)) fast_[move.tensor] = 0;
    stage_of_.resize(request_.pricing.model.layers.size());
    for (std::size_t s = 0; s < request_.pricing.stages.size(); ++s)
      for (std::uint32_t l = request_.pricing.stages[s].first; l <= request_.pricing.stages[s].last;
           ++l)
        stage_of_[l] = static_cast<std::int32_t>(s);
  }

  Draft list() {
    builder_.enter(Section::prologue);
    if (cache_bytes_ > 0)
      builder_.tensor("cache", TensorClass::workspace, cache_bytes_, asked_.memories().fast);
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) add_tensor(t);
    for (const std::uint32_t t : inputs_)
      if (!lies_at_home(t)) loads_[t] = load(t);
    MovingTensors::PlanTensors tensors{tensors_, {}, loads_};
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) tensors.held.push_back(is_held(t));
    moving_.emplace(asked_, schedule_, builder_, tensors);
    builder_.enter(Section::body);
    for (std::uint32_t k = 0; k < question_.kernel_count(); ++k) {
      moving_->list_before(k);
      list_kernel(k);
    }
    moving_->end_round();
    for (const std::uint32_t t : inputs_)
      if (!lies_at_home(t)) load_next(t);
    say_facts();
    Plan plan = builder_.finish(asked_.rounds());
    plan.iterations_per_step = asked_.rounds() / request_.workload.steps;
    return {std::move(plan), !common_.overlap};
  }

 private:
  const PlacementProblem::Tensor& tensor(std::uint32_t t) const { return question_.tensor(t); }
  const std::string& node_in(bool fast) const {
    return fast ? asked_.memories().fast : asked_.memories().slow;
  }
  const std::string& node_of(std::uint32_t t) const { return node_in(fast_[t] != 0); }
  bool lies_at_home(std::uint32_t t) const { return builder_.pool(node_of(t)) == host_pool_; }

  /// Returns whether the tensor is in one memory during the whole run, and never in another memory.
  bool is_held(std::uint32_t t) const {
    const PlacementProblem::Tensor& of = tensor(t);
    const bool stays = of.begins == Begins::stays && of.tensor_class != TensorClass::weight;
    return stays || ((of.begins != Begins::made || asked_.is_answer(t)) && lies_at_home(t));
  }

  void add_tensor(std::uint32_t t) {
    const PlacementProblem::Tensor& of = tensor(t);
    const bool from_host = of.tensor_class == TensorClass::weight || of.begins == Begins::given;
    const std::uint32_t saved = asked_.copy_of(t);
    if (saved != none &&
        lies_at_home(t)) {  // no load: kernels read the saved tensor in host memory
      tensors_.push_back(tensors_[saved]);
      return;
    }
    const std::string home = from_host || asked_.is_answer(t) ? common_.host
                             : of.begins == Begins::stays     ? node_of(t)
                                                              : "";
    tensors_.push_back(builder_.tensor(of.name, of.tensor_class, of.bytes, home));
    if (of.begins == Begins::given) inputs_.push_back(t);
    if (of.tensor_class == TensorClass::weight && !lies_at_home(t)) loads_[t] = load(t);
  }

  PlanBuilder::Ref load(std::uint32_t t) {
    return builder_.transfer(ActionKind::load, tensors_[t],
                             {.from = common_.host, .to = node_of(t), .release = false},
                             stage_of_first(t), -1);
  }
  std::int32_t stage_of_first(std::uint32_t t) const {
    for (const std::uint32_t k : question_.uses(t).kernels)
      if (asked_.kernels()[k].query) return stage_of_.at(asked_.kernels()[k].layer);
    return -1;
  }

  /// Loads the input of the next round. The load starts when the first kernel that uses this round's input has ended.
  void load_next(std::uint32_t t) {
    const PlanBuilder::Ref next = load(t);
    builder_.at(next).ahead = 1;
    builder_.wait(next, kernels_[question_.uses(t).kernels.front()]);
    builder_.wait(kernels_[question_.uses(t).kernels.front()], next, 1);
  }

  /// Saves the tensor to host memory after the action `ref`, unless the tensor is placed in host memory anyway.
  void save_offloaded(PlanBuilder::Ref ref, std::uint32_t t) {
    if (lies_at_home(t)) return;
    saves_[t] =
        builder_.transfer(ActionKind::save, tensors_[t], {.from = node_of(t), .to = common_.host},
                          builder_.at(ref).stage, builder_.at(ref).micro_batch);
    builder_.wait(saves_[t], ref);
  }

  /// Loads an offloaded tensor from host memory. If the tensor is placed in host memory, there is no load: kernels
  /// read the saved tensor there.
  void fetch(std::uint32_t t, const PlacedKernel& kernel) {
    const std::uint32_t saved = asked_.copy_of(t);
    const auto save = saves_.find(saved);
    const PlanBuilder::Ref there =
        save != saves_.end() ? save->second : kernels_[question_.uses(saved).kernels.front()];
    arrivals_[t] = there;
    if (lies_at_home(t)) return;
    arrivals_[t] = builder_.transfer(
        ActionKind::load, tensors_[t], {.from = common_.host, .to = node_of(t), .release = false},
        kernel.query ? stage_of_[kernel.layer] : -1, static_cast<std::int32_t>(kernel.micro_batch));
    builder_.at(arrivals_[t]).uses.push_back({tensors_[saved], host_pool_});
    builder_.wait(arrivals_[t], there);
  }

  void list_kernel(std::uint32_t k) {
    const PlacedKernel& kernel = asked_.kernels()[k];
    for (const std::uint32_t t : kernel.fetches) fetch(t, kernel);
    kernels_.emplace_back();
    if (!kernel
             .query) {  // A kernel without a query has no action: the next kernel's action makes its results.
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
    moving_->computes(ref, k);
    price(ref, k);
    if (is_last_of_micro_batch(k)) builder_.at(ref).samples_done = samples_done(k);
    for (const auto& operand : question_.problem().kernels[k].operands)
      if (asked_.is_answer(operand.tensor)) give_back(ref, operand.tensor);
    for (const std::uint32_t t : kernel.saves) save_offloaded(ref, t);
  }

  /// Makes the action `ref` use the operands of kernel k: allocate, read or write each of them.
  void touch(PlanBuilder::Ref ref, std::uint32_t k) {
    for (const auto& operand : question_.problem().kernels[k].operands) {
      if (moving_->moves(operand.tensor)) {
        moving_->use(ref, k, operand.tensor, operand.written);
        continue;
      }
      const std::uint32_t t = operand.tensor, pool = builder_.pool(node_of(t));
      const bool first = question_.uses(t).kernels.front() == k;
      const auto& passing = asked_.kernels()[k].passing;
      if (is_held(t) || std::find(passing.begin(), passing.end(), t) != passing.end()) continue;
      if (first && tensor(t).begins == Begins::made && asked_.copy_of(t) == none)
        builder_.at(ref).allocates.push_back({tensors_[t], pool});
      // If the tensor came back from host memory, its load has written it, not the kernel.
      const bool written = operand.written && asked_.copy_of(t) == none;
      auto& uses = builder_.at(ref).uses;
      const auto known = std::find_if(uses.begin(), uses.end(), [&](const Access& use) {
        return use.tensor == tensors_[t] && use.pool == pool;
      });
      if (known == uses.end())
        uses.push_back({.tensor = tensors_[t], .pool = pool, .written = written});
      else
        known->written |= written;
      const auto load = loads_.find(t);
      if (first && load != loads_.end()) builder_.wait(ref, load->second);
      const auto arrival = arrivals_.find(t);
      if (arrival == arrivals_.end()) continue;
      builder_.wait(ref, arrival->second);
      arrivals_.erase(arrival);
    }
  }

  void price(PlanBuilder::Ref ref, std::uint32_t k) {
    const PlacedKernel& kernel = asked_.kernels()[k];
    Query query = *kernel.query;
    std::vector<std::uint32_t> tensors;
    for (std::size_t o = 0; o < query.operands.size(); ++o) {
      const std::uint32_t t = question_.problem().kernels[k].operands[kernel.operand_of[o]].tensor;
      const bool moves = moving_->moves(t);
      query.operands[o].pool = node_in(cache_ || (moves ? moving_->is_fast(t, k) : fast_[t] != 0));
      tensors.push_back(moves ? moving_->plan_tensor(t, k) : tensors_[t]);
    }
    PlacedPrice price = placed_price(request_.pricing.platform, request_.pricing.cost, query);
    if (cache_) price.price.seconds = cache_->kernel_s[k];
    take_placed_price(builder_, ref, common_.device, price, tensors);
  }

  bool is_last_of_micro_batch(std::uint32_t k) const {
    const std::vector<PlacedKernel>& kernels = asked_.kernels();
    if (kernels[k].micro_batch < 0) return false;
    // The loop skips the loss, a kernel without a query, which computes nothing. If the model has no weights, no
    // backward pass follows the loss.
    std::size_t next = k + 1;
    while (next < kernels.size() && !kernels[next].query) ++next;
    return next == kernels.size() || kernels[next].micro_batch != kernels[k].micro_batch;
  }

  /// Returns the number of samples that are done at the end of kernel k, the last kernel of a micro-batch. If the
  /// answer of this micro-batch is saved, the number is 0, because its samples are done only when the save has arrived.
  std::int64_t samples_done(std::uint32_t k) const {
    bool saved = false;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      saved |= asked_.is_answer(t) && is_saved(t) &&
               asked_.kernels()[question_.uses(t).kernels.front()].micro_batch ==
                   asked_.kernels()[k].micro_batch;
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
    builder_.wait(ref, save, 2);  // at most one earlier answer is still in transfer
    if (done_.insert(micro_batch).second)
      builder_.at(save).samples_done = request_.workload.micro_batch;
  }

  void say_facts() {
    std::int64_t fast = 0, slow = 0;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      if (asked_.copy_of(t) == none) (fast_[t] ? fast : slow) += tensor(t).bytes;
    builder_.fact(Fact("placed_bytes", fast, "byte").said_of(asked_.memories().fast));
    builder_.fact(Fact("placed_bytes", slow, "byte").said_of(asked_.memories().slow));
    if (cache_)
      for (const Fact& fact : facts_of_cache(*cache_, cache_bytes_)) builder_.fact(fact);
    std::int64_t to_fast = 0, to_slow = 0;
    for (const PlacementMove& move : schedule_.moves)
      (move.to_fast ? to_fast : to_slow) += tensor(move.tensor).bytes;
    if (!schedule_.moves.empty()) {
      builder_.fact(Fact("moved_bytes", to_fast, "byte").said_of("to " + asked_.memories().fast));
      builder_.fact(Fact("moved_bytes", to_slow, "byte").said_of("to " + asked_.memories().slow));
    }
    if (request_.workload.training && request_.fates)
      builder_.fact({"fates", request_.strategy().name});
    for (const Fact& fact : asked_.facts_of_fates()) builder_.fact(fact);
  }

  const PolicyRequest& request_;
  const CommonParameters& common_;
  const PlacedQuestion& asked_;
  const PlacementQuestion& question_;
  PlanBuilder builder_;
  std::uint32_t host_pool_;
  const PlacementSchedule& schedule_;
  const CachedRun* cache_;
  std::int64_t cache_bytes_;
  std::optional<MovingTensors> moving_;
  std::vector<char> fast_;              ///< indexed by tensor of the problem
  std::vector<std::int32_t> stage_of_;  ///< indexed by layer
  /// The tensors of the plan, indexed by tensor of the problem.
  std::vector<std::uint32_t> tensors_;
  std::vector<std::uint32_t> inputs_;
  std::map<std::uint32_t, PlanBuilder::Ref> loads_;  ///< the loads in the prologue
  std::map<std::uint32_t, PlanBuilder::Ref> saves_;  ///< the saves of offloaded tensors
  /// For each tensor: the transfer or the kernel for which the next use of the tensor waits.
  std::map<std::uint32_t, PlanBuilder::Ref> arrivals_;
  /// The actions, indexed by kernel. A kernel that computes nothing has no action, so its element is empty.
  std::vector<PlanBuilder::Ref> kernels_;
  std::vector<std::uint32_t> waiting_;  ///< the kernels whose results the next kernel makes
  std::set<std::int64_t> done_;  ///< the micro-batches whose samples are done when a save arrives
};

}  // namespace

Draft list_placed(const PlacedListing& listing) {
  return PlacedLister(listing).list();
}

}  // namespace sluice
