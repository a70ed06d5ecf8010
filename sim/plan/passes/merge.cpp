#include "plan/passes/merge.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"

namespace sluice {

namespace {

/// The things of one kind in the merged plan, such as its pools or its links. If the table has no thing with the name
/// of the given thing, enter() adds the given thing. Then it returns the number of the thing with this name.
template <class Thing>
class Table {
 public:
  explicit Table(std::vector<Thing>& things) : things_(things) {}
  std::uint32_t enter(const Thing& thing) {
    auto [found, fresh] =
        numbers_.try_emplace(thing.name, static_cast<std::uint32_t>(things_.size()));
    if (fresh) things_.push_back(thing);
    return found->second;
  }
  /// Returns the thing with this name, or null if there is no such thing.
  const Thing* find(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? nullptr : &things_[found->second];
  }

 private:
  std::vector<Thing>& things_;
  std::map<std::string, std::uint32_t> numbers_;
};

/// Returns the tensors that actions of the plan allocate in shared pools.
std::set<std::uint32_t> copied_to_shared(const Plan& plan) {
  std::set<std::uint32_t> copied;
  for (const Action& action : plan.actions)
    for (const Placement& made : action.allocates)
      if (plan.pools[made.pool].shared()) copied.insert(made.tensor);
  return copied;
}

class Merger {
 public:
  Merger()
      : pools_(plan_.pools),
        links_(plan_.links),
        routes_(plan_.routes),
        streams_(plan_.streams),
        weights_(plan_.tensors) {}

  Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names) {
    plan_.stages = parts.front().stages;
    plan_.steps_per_iteration = parts.front().steps_per_iteration;
    plan_.iterations_per_step = parts.front().iterations_per_step;
    std::size_t actions = 0;
    for (const Plan& part : parts) actions += part.actions.size();
    plan_.actions.reserve(actions);
    for (std::size_t k = 0; k < parts.size(); ++k) enter(parts[k], names[k]);
    for (Section section : {Section::prologue, Section::body, Section::epilogue}) {
      if (section == Section::body) plan_.body_begin = size();
      add_section(parts, names, section);
      if (section == Section::body) plan_.body_end = size();
    }
    for (std::size_t k = 0; k < parts.size(); ++k)
      for (std::uint32_t a = 0; a < parts[k].actions.size(); ++a)
        for (const Wait& wait : parts[k].actions[a].waits)
          plan_.actions[actions_[k][a]].waits.push_back({actions_[k][wait.action], wait.distance});
    return std::move(plan_);
  }

 private:
  struct Numbers {
    std::vector<std::uint32_t> pools, routes, streams, tensors, collectives;
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(plan_.actions.size()); }

  void enter(const Plan& part, const std::string& name) {
    Numbers numbers;
    std::vector<std::uint32_t> links;
    for (const Pool& pool : part.pools) {
      numbers.pools.push_back(pools_.enter(pool));
      // If a device's own pool has a limit in this plan, the pool of the merged plan gets the same limit. The limit of
      // a shared pool is for this plan alone, and the other plans use the pool, too.
      if (pool.limit && !pool.shared()) plan_.pools[numbers.pools.back()].limit = pool.limit;
    }
    for (const Link& link : part.links) links.push_back(links_.enter(link));
    for (Route route : part.routes) {
      for (std::uint32_t& link : route.links) link = links[link];
      numbers.routes.push_back(routes_.enter(route));
    }
    const std::size_t before = plan_.streams.size();
    for (const Stream& stream : part.streams) {
      numbers.streams.push_back(streams_.enter(stream));
      shares_streams_ = shares_streams_ || numbers.streams.back() < before;
    }
    const std::set<std::uint32_t> copied = copied_to_shared(part);
    for (std::uint32_t t = 0; t < part.tensors.size(); ++t) {
      Tensor tensor = part.tensors[t];
      tensor.part = static_cast<std::uint32_t>(numbers_.size());
      if (tensor.home != none) tensor.home = numbers.pools[tensor.home];
      const bool shared =
          tensor.home != none && plan_.pools[tensor.home].shared() && copied.count(t) == 0;
      if (!shared || tensor.tensor_class != TensorClass::weight) {
        tensor.name = name + "/" + tensor.name;
        numbers.tensors.push_back(static_cast<std::uint32_t>(plan_.tensors.size()));
        plan_.tensors.push_back(std::move(tensor));
        continue;
      }
      // Two parts may divide the same weights into pieces of different sizes. So the name of such a piece contains its
      // size.
      if (const Tensor* other = weights_.find(tensor.name); other && other->bytes != tensor.bytes)
        tensor.name += "." + std::to_string(tensor.bytes) + "B";
      numbers.tensors.push_back(weights_.enter(tensor));
    }
    for (Collective collective : part.collectives) {
      collective.name = name + "/" + collective.name;
      numbers.collectives.push_back(static_cast<std::uint32_t>(plan_.collectives.size()));
      plan_.collectives.push_back(std::move(collective));
    }
    if (part.iterations > 0) {
      if (plan_.iterations > 0 && plan_.iterations != part.iterations)
        throw InternalError("plans with different numbers of iterations cannot be merged");
      plan_.iterations = part.iterations;
    }
    for (Fact fact : part.facts) {
      fact.replica = name;
      plan_.facts.push_back(std::move(fact));
    }
    numbers_.push_back(std::move(numbers));
    actions_.emplace_back(part.actions.size());
  }

  /// Adds the actions of a section, one part after the other. But if parts share a stream, such as the copy engine of a
  /// memory that they share, the parts take turns. Otherwise the first actions of a part would wait for the last
  /// actions of another part.
  void add_section(const std::vector<Plan>& parts, const std::vector<std::string>& names,
                   Section section) {
    struct Turn {
      double done;  ///< which share of the part's section comes before the action
      std::size_t part;
      std::uint32_t action;
    };
    std::vector<Turn> turns;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::uint32_t begin = parts[k].section_begin(section),
                          end = parts[k].section_end(section);
      for (std::uint32_t a = begin; a < end; ++a)
        turns.push_back({shares_streams_ ? (a - begin) / static_cast<double>(end - begin) : 0, k, a});
    }
    if (shares_streams_) std::ranges::stable_sort(turns, {}, &Turn::done);
    for (const Turn& turn : turns)
      add_action(parts[turn.part], names[turn.part], turn.part, turn.action);
  }

  void add_action(const Plan& part, const std::string& name, std::size_t k, std::uint32_t a) {
    const Numbers& numbers = numbers_[k];
    Action action = part.actions[a];
    action.name = name + "/" + name_of(action);
    action.stream = numbers.streams[action.stream];
    for (Flow& flow : action.flows) {
      if (flow.tensor != none) flow.tensor = numbers.tensors[flow.tensor];
      flow.route = numbers.routes[flow.route];
      for (std::uint32_t* pool : {&flow.from, &flow.to})
        if (*pool != none) *pool = numbers.pools[*pool];
    }
    if (action.collective != none) action.collective = numbers.collectives[action.collective];
    for (Placement& made : action.allocates)
      made = {numbers.tensors[made.tensor], numbers.pools[made.pool]};
    for (Access& use : action.uses) {
      use.tensor = numbers.tensors[use.tensor];
      use.pool = numbers.pools[use.pool];
    }
    action.waits.clear();
    actions_[k][a] = size();
    plan_.actions.push_back(std::move(action));
  }

  Plan plan_;
  Table<Pool> pools_;
  Table<Link> links_;
  Table<Route> routes_;
  Table<Stream> streams_;
  Table<Tensor> weights_;  ///< the weights that all parts read from a shared pool
  std::vector<Numbers> numbers_;
  std::vector<std::vector<std::uint32_t>> actions_;
  bool shares_streams_ = false;  ///< whether two parts have a stream in common
};

}  // namespace

Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names) {
  return Merger().merge(parts, names);
}

}  // namespace sluice
