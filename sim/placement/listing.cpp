#include "placement/listing.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "plan/structure.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

enum : std::uint32_t { fast_pool, slow_pool };
enum : std::uint32_t { compute, synchronous, engine };        ///< streams
enum : std::uint32_t { engine_to_fast = 2, engine_to_slow };  ///< routes of the copy engine

/// A stay: the time that a tensor is in one memory. The plan has a tensor of its own for each stay.
struct Stay {
  std::uint32_t pool = fast_pool;
  std::uint32_t plan_tensor = none;
};

class Lister {
 public:
  Lister(const PlacementQuestion& question, const PlacementSchedule& schedule,
         std::int64_t capacity)
      : question_(question), schedule_(schedule), operands_(question.kernel_count()) {
    const PlacementProblem& problem = question.problem();
    plan_.name = problem.name.empty() ? "placement" : problem.name;
    plan_.pools = {
        {.name = problem.fast, .capacity = capacity, .owner = problem.device},
        {.name = problem.slow, .capacity = problem.slow_capacity, .owner = problem.device}};
    plan_.streams = {
        {.name = problem.device + ".compute", .device = problem.device},
        {.name = problem.device + ".synchronous",
         .kind = StreamKind::copy,
         .device = problem.device},
        {.name = problem.device + ".engine", .kind = StreamKind::copy, .device = problem.device}};
    add_routes("", problem.synchronous);
    if (problem.asynchronous) add_routes("engine.", *problem.asynchronous);
    begin_ = computation("begin", 0);
    end_ = computation("end", 0);
    moves_.resize(schedule.moves.size());
    for (std::uint32_t t = 0; t < question.tensor_count(); ++t) follow(t);
  }

  Plan list() {
    add(std::move(begin_));
    std::vector<std::vector<std::uint32_t>> arrive(question_.kernel_count() + 1);
    std::size_t next = 0;
    std::uint32_t last = 0;  // the last action on the compute stream
    for (std::uint32_t k = 0; k <= question_.kernel_count(); ++k) {
      std::vector<std::uint32_t> before = arrive[k];
      const std::size_t first = next;
      for (; next < schedule_.moves.size() && schedule_.moves[next].begin == k; ++next) {
        if (!schedule_.moves[next].synchronous()) continue;
        Action move = std::move(moves_[next]);
        for (const std::uint32_t wait : before) move.waits.push_back({wait, 0});
        move.waits.push_back({last, 0});
        before.push_back(add(std::move(move)));
      }
      if (first < next) last = list_engine(k, first, next, before, arrive, last);
      Action kernel = k < question_.kernel_count() ? kernel_of(k) : std::move(end_);
      for (const std::uint32_t wait : before) kernel.waits.push_back({wait, 0});
      last = add(std::move(kernel));
    }
    plan_.body_begin = plan_.body_end = static_cast<std::uint32_t>(plan_.actions.size());
    return std::move(plan_);
  }

 private:
  void add_routes(const std::string& prefix, const PlacementProblem::Rates& rates) {
    add_route(prefix + "to_fast", rates.to_fast, rates.fetch_setup_s);
    add_route(prefix + "to_slow", rates.to_slow, rates.save_setup_s);
  }

  void add_route(const std::string& name, double bandwidth, double setup_s) {
    const auto link = static_cast<std::uint32_t>(plan_.links.size());
    plan_.links.push_back({.name = name, .bandwidth = bandwidth});
    plan_.routes.push_back({.name = name, .links = {link}, .setup_s = setup_s});
  }

  std::uint32_t add(Action action) {
    plan_.actions.push_back(std::move(action));
    return static_cast<std::uint32_t>(plan_.actions.size() - 1);
  }

  Action computation(const std::string& name, double seconds) const {
    Action action;
    action.name = name;
    action.stream = compute;
    action.seconds = seconds;
    return action;
  }

  /// Lists the copy engine's moves that may begin when kernel k begins. They wait for a gate: an
  /// action without duration that waits for everything for which the kernel waits.
  std::uint32_t list_engine(std::uint32_t k, std::size_t first, std::size_t next,
                            std::vector<std::uint32_t>& before,
                            std::vector<std::vector<std::uint32_t>>& arrive, std::uint32_t last) {
    std::uint32_t gate = none;
    for (std::size_t m = first; m < next; ++m) {
      if (schedule_.moves[m].synchronous()) continue;
      if (gate == none) {
        Action action = computation("gate " + std::to_string(k), 0);
        for (const std::uint32_t wait : before) action.waits.push_back({wait, 0});
        gate = add(std::move(action));
        before.clear();
      }
      Action move = std::move(moves_[m]);
      move.waits.push_back({gate, 0});
      arrive[schedule_.moves[m].needed].push_back(add(std::move(move)));
    }
    return gate == none ? last : gate;
  }

  struct Operands {
    std::vector<Placement> makes;
    std::vector<Access> uses;
  };

  Action kernel_of(std::uint32_t k) {
    const PlacementProblem::Kernel& kernel = question_.problem().kernels[k];
    if (slow_.empty()) slow_ = slow_operands(question_, schedule_.placing);
    using Over = KernelTime::Line::Over;
    Action action = computation(std::to_string(k) + " " + kernel.name,
                                kernel.time.part(slow_[k], Over::device));
    if (const auto& rates = question_.problem().asynchronous) {
      flow(action, kernel.time.part(slow_[k], Over::fetching) * rates->to_fast, to_fast);
      flow(action, kernel.time.part(slow_[k], Over::saving) * rates->to_slow, to_slow);
    }
    for (const Placement& made : operands_[k].makes) action.allocates.push_back(made);
    for (const Access& use : operands_[k].uses) action.uses.push_back(use);
    return action;
  }

  /// Adds a flow to a kernel, for the bytes that it reads or writes in slow memory. The flow uses
  /// the link over which the copy engine moves tensors.
  static void flow(Action& action, double bytes, Flow way) {
    if (!(bytes > 0)) return;
    way.bytes = static_cast<std::int64_t>(std::llround(bytes));
    action.flows.push_back(way);
  }
  static constexpr Flow to_fast{
      .tensor = none, .from = slow_pool, .to = fast_pool, .route = engine_to_fast};
  static constexpr Flow to_slow{
      .tensor = none, .from = fast_pool, .to = slow_pool, .route = engine_to_slow};

  std::uint32_t plan_tensor(std::uint32_t t) {
    const PlacementProblem::Tensor& tensor = question_.tensor(t);
    const std::size_t number = ++copies_[t];
    plan_.tensors.push_back({.name = std::to_string(t) + " " + tensor.name +
                                     (number > 1 ? " #" + std::to_string(number) : ""),
                             .tensor_class = tensor.tensor_class,
                             .bytes = tensor.bytes});
    return static_cast<std::uint32_t>(plan_.tensors.size() - 1);
  }

  Stay stay_from(std::uint32_t t, std::uint32_t pool, Action& maker) {
    const Stay stay{pool, plan_tensor(t)};
    maker.allocates.push_back({stay.plan_tensor, pool});
    return stay;
  }
  static void read(Action& action, const Stay& stay) {
    action.uses.push_back({stay.plan_tensor, stay.pool});
  }

  /// Makes the stays of a tensor. The action that begins a stay allocates its tensor, and the
  /// actions during the stay use this tensor.
  void follow(std::uint32_t t) {
    const TensorPath& path = schedule_.placing[t];
    const TensorUses& uses = question_.uses(t);
    const bool stays = question_.tensor(t).begins == Begins::stays;
    std::optional<Stay> in_fast, in_slow;
    // Returns the current stay in slow memory. It began with a save, or else at the start of the
    // run.
    const auto slow = [&]() -> const Stay& {
      if (!in_slow) in_slow = stay_from(t, slow_pool, begin_);
      return *in_slow;
    };
    const auto save = [&](std::size_t m) {
      read(moves_[m], *in_fast);
      in_slow = stay_from(t, slow_pool, moves_[m]);
    };
    find_moves(t);
    if (question_.has_gap(t, 0) && path.gap[0]) in_fast = stay_from(t, fast_pool, begin_);
    for (std::size_t i = 0; i < uses.count(); ++i) {
      if (i > 0 && saves_[i] != none) save(saves_[i]);
      if (!path.gap[i]) in_fast.reset();
      if (fetches_[i] != none) {
        read(moves_[fetches_[i]], slow());
        in_fast = stay_from(t, fast_pool, moves_[fetches_[i]]);
      }
      Operands& of = operands_[uses.kernels[i]];
      std::optional<Stay>& here = path.use[i] ? in_fast : in_slow;
      if (i == 0 && !question_.has_gap(t, 0)) {
        here = Stay{path.use[i] ? fast_pool : slow_pool, plan_tensor(t)};
        of.makes.push_back({here->plan_tensor, here->pool});
      } else if (!path.use[i]) {
        slow();
      }
      of.uses.push_back({.tensor = here->plan_tensor,
                         .pool = here->pool,
                         .read = true,
                         .written = uses.written[i] != 0});
      if (uses.written[i] && path.use[i]) in_slow.reset();
    }
    if (!stays) return;
    if (saves_[0] != none) save(saves_[0]);
    read(end_, path.gap[0] ? *in_fast : slow());
  }

  void find_moves(std::uint32_t t) {
    fetches_.assign(question_.uses(t).count(), none);
    saves_ = fetches_;
    if (first_move_.empty())
      for (std::uint32_t m = 0; m < schedule_.moves.size(); ++m)
        first_move_[schedule_.moves[m].tensor].push_back(m);
    for (const std::uint32_t m : first_move_[t]) {
      const PlacementMove& move = schedule_.moves[m];
      (move.to_fast ? fetches_ : saves_)[move.use] = m;
      Action& action = moves_[m];
      action.name = std::string(move.to_fast ? "fetch " : "save ") + std::to_string(m);
      action.kind = ActionKind::move;
      action.stream = move.synchronous() ? synchronous : engine;
      const std::uint32_t route = (move.synchronous() ? 0 : 2) + (move.to_fast ? 0 : 1);
      action.flows.push_back({.tensor = none,
                              .from = move.to_fast ? slow_pool : fast_pool,
                              .to = move.to_fast ? fast_pool : slow_pool,
                              .route = route,
                              .bytes = question_.tensor(t).bytes});
    }
  }

  const PlacementQuestion& question_;
  const PlacementSchedule& schedule_;
  Plan plan_;
  Action begin_, end_;
  std::vector<Action> moves_;
  std::vector<Operands> operands_;
  std::vector<std::vector<char>> slow_;
  std::map<std::uint32_t, std::size_t> copies_;
  /// For each tensor, the indices of its moves in `schedule_.moves`.
  std::map<std::uint32_t, std::vector<std::uint32_t>> first_move_;
  /// follow() looks at one tensor at a time. These two lists have an element for each use of this tensor: the index in
  /// `schedule_.moves` of the fetch or the save with this PlacementMove::use, or `none`.
  std::vector<std::uint32_t> fetches_, saves_;
};

}  // namespace

Plan plan_of(const PlacementQuestion& question, const PlacementSchedule& schedule,
             std::int64_t capacity) {
  return Lister(question, schedule, capacity).list();
}

double simulated_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule,
                         std::int64_t capacity) {
  const Plan plan = plan_of(question, schedule, capacity);
  check_structure(plan);
  const ReplayResult result = replay(plan);
  if (result.blocking)
    throw Infeasible("the run of this placement ends in a deadlock:\n" +
                     describe(plan, *result.blocking));
  return result.makespan;
}

}  // namespace sluice
