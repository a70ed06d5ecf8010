#include "planning/placement/placed_question.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/never.hpp"
#include "planning/training/training.hpp"
#include "planning/weights_stay.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

constexpr std::int64_t most_kernels = 20'000;

/// Returns the number of micro-batches after which the placement repeats. In training, these are the micro-batches of a
/// batch. In inference of a model with caches, they are the micro-batches of a step. In all other inference, the number
/// is 1.
std::int64_t micro_batches_of(const PolicyRequest& request) {
  const Workload& workload = request.workload;
  const auto& layers = request.pricing.model.layers;
  const bool caches = std::any_of(layers.begin(), layers.end(),
                                  [](const Layer& layer) { return layer.cached > 0; });
  const std::int64_t count = workload.training ? workload.batch / workload.micro_batch
                             : caches          ? workload.micro_batches_per_step()
                                               : 1;
  if (count * static_cast<std::int64_t>(layers.size()) > most_kernels)
    throw Infeasible("the search for a placement takes at most " + std::to_string(most_kernels) +
                     " passes of layers; this run has " + std::to_string(count) +
                     " micro-batches, and each goes through " + std::to_string(layers.size()) +
                     " layers: use a larger workload.micro_batch");
  return count;
}

/// Returns those facts about the fates that also hold for two memories. The bounds, the gap and the seconds of single
/// stages hold only for the one memory for which the fates were chosen.
std::vector<Fact> facts_that_hold(std::vector<Fact> facts) {
  static const std::set<std::string> hold = {"budget_bytes", "selective", "fate_of_stage",
                                             "made_by_stage_bytes"};
  std::erase_if(facts, [](const Fact& fact) { return hold.count(fact.name) == 0; });
  return facts;
}

/// Returns for each tensor whether it is an answer: a kernel makes it, and no other kernel uses it.
std::vector<char> answers_of(const PlacementProblem& problem) {
  std::vector<int> uses(problem.tensors.size(), 0);
  for (const PlacementProblem::Kernel& kernel : problem.kernels)
    for (const PlacementProblem::Operand& operand : kernel.operands) ++uses[operand.tensor];
  std::vector<char> answers;
  for (std::size_t t = 0; t < uses.size(); ++t)
    answers.push_back(problem.tensors[t].begins == Begins::made && uses[t] == 1);
  return answers;
}

/// Returns for each tensor whether it must stay in one memory. Some of these tensors are offloaded to host memory or come
/// back from it. The others are operands of a kernel that computes nothing. The plan has no action for such a kernel, so
/// no move could wait for it.
std::vector<char> fixed_tensors(const PlacedKernels& work) {
  std::vector<char> fixed;
  for (const std::uint32_t copied : work.copy_of) fixed.push_back(copied != none);
  for (std::size_t k = 0; k < work.kernels.size(); ++k) {
    const PlacedKernel& kernel = work.kernels[k];
    for (const std::uint32_t t : kernel.saves) fixed[t] = 1;
    for (const std::uint32_t t : kernel.passing) fixed[t] = 1;
    if (kernel.query) continue;
    for (const PlacementProblem::Operand& operand : work.problem.kernels[k].operands)
      fixed[operand.tensor] = 1;
  }
  return fixed;
}

/// Returns the problem in which only those moves are allowed that a run can repeat in each round. If weights and state
/// move, they begin each round in slow memory. Inputs move only if slow memory is host memory, their home.
PlacementProblem repeatable(const PlacedKernels& work, bool slow_is_host) {
  using Moves = PlacementProblem::Moves;
  PlacementProblem problem = work.problem;
  const std::vector<char> fixed = fixed_tensors(work);
  for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
    PlacementProblem::Tensor& tensor = problem.tensors[t];
    const bool stays_loaded = tensor.begins == Begins::given && !slow_is_host;
    tensor.moves = fixed[t] || stays_loaded        ? Moves::none
                   : tensor.begins == Begins::made ? Moves::free
                                                   : Moves::from_slow;
  }
  return problem;
}

/// Returns the two memories of the device that computes. Throws InputError if no links join them: tensors that are loaded
/// could not reach the second memory.
TwoMemories joined_memories(const Platform& platform, const std::string& device) {
  TwoMemories memories = two_memories(platform, device);
  if (!memories.joined) {
    platform.path(memories.slow, memories.fast);
    platform.path(memories.fast, memories.slow);
  }
  return memories;
}

PlacementProblem slow_only_problem(PlacementProblem problem, const std::vector<char>& answers,
                                   PlacedQuestion::SlowOnlyKinds slow_only) {
  for (std::size_t t = 0; t < problem.tensors.size(); ++t)
    if ((slow_only.inputs && problem.tensors[t].begins == Begins::given) ||
        (slow_only.answers && answers[t]) ||
        (slow_only.weights && problem.tensors[t].tensor_class == TensorClass::weight))
      problem.tensors[t].pinned = PlacementProblem::Pinned::slow;
  return problem;
}

}  // namespace

FateChoice placed_fates(const PolicyRequest& request, const CommonParameters& common) {
  if (!request.workload.training || !request.fates) return {};
  const TrainingOrder order{.policy = "resident",
                            .in_flight = 1,
                            .devices = {common.device.name},
                            .overlap = common.overlap};
  const std::vector<Stage> stages = held_once(request.pricing.stages);
  PolicyRequest asked = with_stages(request, stages);
  if (request.strategy().searches) try {
      return choose_fates(asked, order, never);
    } catch (const Infeasible&) {
      // No fates fit into the first memory. But tensors may still fit into both memories together.
    }
  asked.capacity_enforced = false;
  FateChoice chosen = choose_fates(asked, order, never);
  chosen.selective |= request.strategy().selective;
  return chosen;
}

FateChoice fates_behind_cache(FateChoice fates, const PolicyRequest& request,
                              const CommonParameters& common) {
  if (two_memories(request.pricing.platform, common.device.name).slow == common.host)
    std::erase_if(fates.tape, [](const TapeOp& op) {
      return op.kind == TapeOp::Kind::save || op.kind == TapeOp::Kind::load;
    });
  return fates;
}

PlacedQuestion::PlacedQuestion(const PolicyRequest& request, const CommonParameters& common,
                               const FateChoice& fates, const std::string& policy,
                               SlowOnlyKinds slow_only)
    : memories_(joined_memories(request.pricing.platform, common.device.name)),
      micro_batches_(micro_batches_of(request)),
      facts_(facts_that_hold(fates.facts)),
      work_(placed_kernels({request.pricing, request.workload, policy, micro_batches_,
                            fates.tape.empty() ? nullptr : &fates.tape, fates.selective},
                           memories_)),
      answers_(request.workload.training ? std::vector<char>(work_.problem.tensors.size(), 0)
                                         : answers_of(work_.problem)),
      question_(slow_only_problem(repeatable(work_, memories_.slow == common.host), answers_,
                                  slow_only)) {
  for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) {
    if (question_.tensor(t).begins == Begins::given) input_bytes_ += question_.tensor(t).bytes;
    if (answers_[t] && common.return_outputs) answer_bytes_ += question_.tensor(t).bytes;
  }
  rounds_ =
      checked_mul(request.workload.steps,
                  request.workload.micro_batches_per_step() / micro_batches_, "rounds of a run");
  // Capacities are not enforced in plans that are only compared. So the bytes of fast memory are limited here.
  room_ = question_.peak();
  if (memories_.fast_capacity)
    room_ = *memories_.fast_capacity - (slow_only.inputs ? 0 : input_bytes_) -
            (slow_only.answers ? 0 : answer_bytes_);
}

bool PlacedQuestion::has_weights() const {
  return std::ranges::any_of(question_.problem().tensors,
                             [](const PlacementProblem::Tensor& tensor) {
                               return tensor.tensor_class == TensorClass::weight;
                             });
}

}  // namespace sluice
