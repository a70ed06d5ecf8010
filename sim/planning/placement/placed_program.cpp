#include "planning/placement/placed_program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "planning/placed_price.hpp"
#include "planning/placement/moving.hpp"
#include "planning/program_listing.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

class PlacedProgram {
 public:
  explicit PlacedProgram(const PlacedListing& listing)
      : listing_(listing),
        request_(listing.request),
        common_(listing.common),
        asked_(listing.asked),
        question_(asked_.question()),
        draft_({common_.device.name}) {
    draft_.program.memories = {asked_.memories().fast, asked_.memories().slow, common_.host};
    for (const TensorPath& path : listing.schedule.placing)
      nodes_.push_back(path.use.front() ? fast_node : slow_node);
    // Some tensors with moves live longer than one round. Such a tensor is in slow memory when a round begins.
    for (const PlacementMove& move : listing.schedule.moves)
      if (question_.has_gap(move.tensor, 0)) nodes_[move.tensor] = slow_node;
    const std::vector<Stage>& stages = request_.pricing.stages;
    for (std::size_t s = 0; s < stages.size(); ++s)
      stage_of_.resize(stages[s].last + 1, static_cast<std::int32_t>(s));
  }

  Draft list() {
    if (listing_.cache_bytes > 0)
      draft_.program.places.push_back({.name = "cache",
                                       .tensor_class = TensorClass::workspace,
                                       .bytes = listing_.cache_bytes,
                                       .node = asked_.memories().fast});
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) add_tensor(t);
    moving_.emplace(asked_, listing_.schedule, draft_, instances_);
    for (std::uint32_t k = 0; k < question_.kernel_count(); ++k) {
      moving_->list_before(k);
      add_kernel(k);
    }
    moving_->end_round();
    end_micro_batches();
    add_loads();
    draft_.program.rounds = asked_.rounds();
    draft_.program.rounds_per_step = asked_.rounds() / request_.workload.steps;
    const auto price = [this](PlanBuilder& builder, PlanBuilder::Ref ref, std::int64_t operation,
                              const std::vector<std::uint32_t>& tensors) {
      this->price(builder, ref, kernel_of_.at(operation), tensors);
    };
    return list_program({.request = request_,
                         .program = draft_.program,
                         .name = listing_.policy,
                         .overlap = common_.overlap,
                         .facts = facts(),
                         .price = price});
  }

 private:
  const PlacementProblem::Tensor& tensor(std::uint32_t t) const { return question_.tensor(t); }
  bool lies_at_home(std::uint32_t t) const { return node_name(nodes_[t]) == common_.host; }
  const std::string& node_name(PlacedNode node) const { return draft_.program.node(node); }
  bool is_copy(std::uint32_t t) const { return asked_.copy_of(t) != none; }
  bool is_loaded(std::uint32_t t) const {
    return tensor(t).tensor_class == TensorClass::weight || tensor(t).begins == Begins::given;
  }

  void add_tensor(std::uint32_t t) {
    const PlacementProblem::Tensor& of = tensor(t);
    const bool stays = of.begins == Begins::stays && of.tensor_class != TensorClass::weight;
    instances_.push_back(none);
    if (is_copy(t) && lies_at_home(t)) return;  // fetch() finds the instance
    const PlacedKernel& first = asked_.kernels()[question_.uses(t).kernels.front()];
    const std::int32_t stage = first.query ? stage_of_[first.layer] : -1;
    draft_.go_to(nodes_[t]);
    // A load before the first round belongs to no micro-batch.
    instances_[t] = draft_.make(of.name, of.tensor_class, of.bytes, static_cast<std::size_t>(stage),
                                is_loaded(t) ? -1 : first.micro_batch);
    if (!stays && !is_loaded(t) && !asked_.is_answer(t)) return;
    draft_[instances_[t]].held = stays || lies_at_home(t);
    Program::Instance& made = draft_[instances_[t]];
    made.home = Program::Home::other;
    made.piece = static_cast<std::int32_t>(t);
    draft_.program.places.push_back({.number = stage,
                                     .piece = made.piece,
                                     .name = of.name,
                                     .tensor_class = of.tensor_class,
                                     .bytes = of.bytes,
                                     .node = stays ? node_name(nodes_[t]) : common_.host});
  }

  /// Adds the loads before the first round: first of weights, then of inputs. In each round, the input of the next
  /// round is loaded, too. This load starts when the first kernel that uses this round's input has ended.
  void add_loads() {
    std::vector<std::int64_t> users(draft_.program.instances.size(), -1);
    for (std::int64_t i = draft_.next(); i-- > 0;)
      for (const std::uint32_t used : draft_.program.operations[static_cast<std::size_t>(i)].uses)
        users[used] = i;
    for (const bool inputs : {false, true})
      for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) {
        if (!is_loaded(t) || lies_at_home(t) || inputs != (tensor(t).begins == Begins::given))
          continue;
        const std::uint32_t loaded = instances_[t];
        const std::int64_t user = users[loaded];
        draft_.program.loads.push_back({.instance = loaded, .needed = user, .once = true});
        if (!inputs) continue;
        draft_.wait(draft_.next(), user);
        draft_.wait(user, draft_.next(), 1);
        draft_.copy({.kind = ActionKind::load, .stage = draft_[loaded].stage},
                    {.to = loaded, .for_next_round = true});
      }
  }

  /// Says which computations end a micro-batch: the last one of each, unless the save of an answer ends it.
  void end_micro_batches() {
    std::int32_t next = -1;
    for (Program::Operation& operation : std::ranges::reverse_view(draft_.program.operations)) {
      if (record_of(operation.kind).transfers) continue;
      const std::int32_t here = operation.micro_batch;
      operation.ends_micro_batch = here >= 0 && here != next && answered_.count(here) == 0;
      next = here;
    }
  }

  /// Loads an offloaded tensor from host memory. If the tensor is placed in host memory, there is no load: kernels
  /// read the saved tensor there.
  void fetch(std::uint32_t t, const PlacedKernel& kernel) {
    const std::uint32_t saved = asked_.copy_of(t);
    const auto copy = copies_.find(saved);
    const std::uint32_t source = copy == copies_.end() ? instances_[saved] : copy->second;
    if (copy == copies_.end()) draft_.comes_with(source, draft_[source].first);
    if (lies_at_home(t)) {
      instances_[t] = source;
      return;
    }
    draft_.copy({.kind = ActionKind::load,
                 .stage = kernel.query ? stage_of_[kernel.layer] : -1,
                 .micro_batch = static_cast<std::int32_t>(kernel.micro_batch)},
                {.from = source, .to = instances_[t]});
  }

  void add_kernel(std::uint32_t k) {
    const PlacedKernel& kernel = asked_.kernels()[k];
    for (const std::uint32_t t : kernel.fetches) fetch(t, kernel);
    waiting_.push_back(k);
    // A kernel without a query has no operation: the next kernel's operation makes its results.
    if (!kernel.query) return;
    Program::Operation operation{.kind = kernel.kind,
                                 .stage = stage_of_[kernel.layer],
                                 .micro_batch = static_cast<std::int32_t>(kernel.micro_batch)};
    for (const std::uint32_t one : waiting_) touch(operation, one);
    waiting_.clear();
    moving_->computes(k);
    const std::int64_t here = draft_.next();
    kernel_of_[here] = k;
    draft_.add(std::move(operation));
    add_saves(k, here);
  }

  /// Makes the operation, which is added next, use the operands of kernel k: make, read or write each of them.
  void touch(Program::Operation& operation, std::uint32_t k) {
    const auto& passing = asked_.kernels()[k].passing;
    for (const auto& operand : question_.problem().kernels[k].operands) {
      const std::uint32_t t = operand.tensor;
      if (moving_->moves(t)) {
        moving_->use(operation, k, t, operand.written);
        continue;
      }
      if (std::ranges::count(passing, t) > 0) continue;
      const bool first = question_.uses(t).kernels.front() == k;
      if (first && tensor(t).begins == Begins::made && !is_copy(t) && !draft_[instances_[t]].held)
        draft_.makes(operation, instances_[t]);
      if (std::ranges::count(operation.uses, instances_[t]) == 0)
        draft_.use(operation, instances_[t]);
      // If the tensor came back from host memory, its load has written it, not the kernel.
      if (operand.written && !is_copy(t))
        draft_.program.writes.push_back({draft_.next(), instances_[t]});
    }
  }

  void price(PlanBuilder& builder, PlanBuilder::Ref ref, std::uint32_t k,
             const std::vector<std::uint32_t>& tensors) const {
    const PlacedKernel& kernel = asked_.kernels()[k];
    Query query = *kernel.query;
    std::vector<std::uint32_t> operands;
    for (std::size_t o = 0; o < query.operands.size(); ++o) {
      const std::uint32_t t = question_.problem().kernels[k].operands[kernel.operand_of[o]].tensor;
      const std::uint32_t used = moving_->moves(t) ? moving_->instance(t, k) : instances_[t];
      query.operands[o].pool = listing_.cache
                                   ? node_name(fast_node)
                                   : draft_.program.node(draft_.program.instances[used].device);
      operands.push_back(tensors[used]);
    }
    PlacedPrice price = placed_price(request_.pricing.platform, request_.pricing.cost, query);
    if (listing_.cache) price.price.seconds = listing_.cache->kernel_s[k];
    take_placed_price(builder, ref, common_.device, price, operands);
  }

  /// Saves a tensor to host memory after an operation. `copy` is the copy there, or `none` if the tensor is an answer.
  void save(std::uint32_t t, std::int64_t after, std::uint32_t copy) {
    const Program::Operation& last = draft_.program.operations[static_cast<std::size_t>(after)];
    draft_.wait(draft_.next(), after);
    draft_.copy({.kind = ActionKind::save,
                 .stage = last.stage,
                 .micro_batch = last.micro_batch,
                 .ends_micro_batch = copy == none && answered_.insert(last.micro_batch).second},
                {.from = instances_[t], .to = copy});
  }

  /// Saves what the kernel k makes and host memory gets: answers, and offloaded tensors. A tensor that is placed in
  /// host memory is there already. A kernel waits for the save of its answer of two rounds ago: at most one earlier
  /// answer is still in transfer.
  void add_saves(std::uint32_t k, std::int64_t operation) {
    for (const auto& operand : question_.problem().kernels[k].operands) {
      if (!asked_.is_answer(operand.tensor) || !common_.return_outputs ||
          lies_at_home(operand.tensor))
        continue;
      draft_.wait(operation, draft_.next(), 2);
      save(operand.tensor, operation, none);
    }
    for (const std::uint32_t t : asked_.kernels()[k].saves) {
      if (lies_at_home(t)) continue;
      draft_.go_to(host_node);
      copies_[t] = draft_.make_again(instances_[t], 0);
      draft_[copies_[t]].copy_of = instances_[t];
      draft_[copies_[t]].sent = true;
      save(t, operation, copies_[t]);
    }
  }

  std::vector<Fact> facts() const {
    const TwoMemories& memories = asked_.memories();
    std::int64_t fast = 0, slow = 0;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      if (!is_copy(t)) (nodes_[t] == fast_node ? fast : slow) += tensor(t).bytes;
    std::vector<Fact> facts = {Fact("placed_bytes", fast, "byte").said_of(memories.fast),
                               Fact("placed_bytes", slow, "byte").said_of(memories.slow)};
    if (listing_.cache)
      std::ranges::move(facts_of_cache(*listing_.cache, listing_.cache_bytes),
                        std::back_inserter(facts));
    std::int64_t to_fast = 0, to_slow = 0;
    for (const PlacementMove& move : listing_.schedule.moves)
      (move.to_fast ? to_fast : to_slow) += tensor(move.tensor).bytes;
    if (!listing_.schedule.moves.empty()) {
      facts.push_back(Fact("moved_bytes", to_fast, "byte").said_of("to " + memories.fast));
      facts.push_back(Fact("moved_bytes", to_slow, "byte").said_of("to " + memories.slow));
    }
    if (request_.workload.training && request_.fates)
      facts.emplace_back("fates", request_.strategy().name);
    facts.insert(facts.end(), asked_.facts_of_fates().begin(), asked_.facts_of_fates().end());
    return facts;
  }

  const PlacedListing& listing_;
  const PolicyRequest& request_;
  const CommonParameters& common_;
  const PlacedQuestion& asked_;
  const PlacementQuestion& question_;
  ProgramDraft draft_;
  std::optional<MovingTensors> moving_;
  std::vector<PlacedNode> nodes_;       ///< indexed by tensor of the problem: its first memory
  std::vector<std::int32_t> stage_of_;  ///< indexed by layer
  /// Indexed by tensor of the problem: its instance, or its first instance if it moves.
  std::vector<std::uint32_t> instances_;
  /// For each offloaded tensor: the copy in host memory.
  std::map<std::uint32_t, std::uint32_t> copies_;
  std::map<std::int64_t, std::uint32_t> kernel_of_;  ///< by operation
  std::vector<std::uint32_t> waiting_;  ///< the kernels whose results the next operation makes
  std::set<std::int64_t> answered_;     ///< the micro-batches of which an answer is saved
};

}  // namespace

Draft list_placed(const PlacedListing& listing) {
  return PlacedProgram(listing).list();
}

}  // namespace sluice
