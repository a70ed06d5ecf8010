#include "profile/placements.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/suggest.hpp"
#include "model/catalog.hpp"
#include "profile/columns.hpp"
#include "profile/match.hpp"

namespace sluice {
namespace {

constexpr std::size_t most_placements = 1'000'000;

/// An operator with the names of its tensors.
struct Operator {
  const Layer* layer = nullptr;
  std::vector<std::string> reads;  ///< the inputs in their order, then the weights
  std::string writes;
  std::vector<ProfileRow> pending;
  std::set<std::size_t> neighbours;
};

bool is_operator(const Layer& layer) {
  return !layer.inputs.empty() && !is_view(layer) && !layer.config.empty();
}

std::string weights_name(const Model& model, const Layer& layer) {
  return "weights of " + (layer.tied ? model.layers[*layer.tied].name : layer.name);
}

/// Returns the layer that makes the output tensor of the layer `index`. A view makes no tensor, so its output tensor
/// was made by another layer.
std::uint32_t maker_of(const Model& model, std::uint32_t index) {
  while (is_view(model.layers[index]) && !model.layers[index].inputs.empty())
    index = model.layers[index].inputs.front();
  return index;
}

std::vector<Operator> operators_of(const Model& model) {
  std::vector<Operator> all;
  for (std::uint32_t l = 0; l < model.layers.size(); ++l) {
    const Layer& layer = model.layers[l];
    if (!is_operator(layer)) continue;
    Operator one{.layer = &layer, .writes = layer.name};
    for (const std::uint32_t input : layer.inputs)
      one.reads.push_back(model.layers[maker_of(model, input)].name);
    if (layer.parameters > 0 || layer.shared > 0) one.reads.push_back(weights_name(model, layer));
    all.push_back(std::move(one));
  }
  return all;
}

/// Marks each pair of operators that share a tensor as neighbours. All rows of a run are measured together. During a
/// run, a tensor stays in one memory, and two neighbours may want their common tensor in different memories. So two
/// neighbours must not be in the same run.
void join_neighbours(std::vector<Operator>& operators) {
  std::map<std::string, std::vector<std::size_t>> users;
  for (std::size_t o = 0; o < operators.size(); ++o) {
    std::set<std::string> tensors(operators[o].reads.begin(), operators[o].reads.end());
    tensors.insert(operators[o].writes);
    for (const std::string& tensor : tensors) users[tensor].push_back(o);
  }
  for (const auto& [tensor, of] : users)
    for (const std::size_t a : of)
      for (const std::size_t b : of)
        if (a != b) operators[a].neighbours.insert(b);
}

class Planner {
 public:
  Planner(const Model& model, const PlacementRequest& request)
      : model_(model), request_(request), operators_(operators_of(model)) {
    find_fixed();
    if (request.done)
      for (const ProfileRow& row : request.done->rows)
        if (row.processed != Processed::no) done_.insert(identity(row));
  }

  MeasurementPlan plan() {
    for (Operator& one : operators_)
      for (const std::string& pass : request_.passes)
        if (pass == "forward" || one.layer->backward.runs) list(one, pass);
    if (request_.pools.empty())
      one_run();
    else
      pack();
    return std::move(plan_);
  }

 private:
  std::string output_name() const {
    const auto last = static_cast<std::uint32_t>(model_.layers.size() - 1);
    return model_.layers[maker_of(model_, last)].name;
  }

  void find_fixed() {
    std::vector<std::string> known = {"weights", "input", "output"};
    for (const Layer& layer : model_.layers) known.push_back(layer.name);
    for (const std::string& name : request_.fixed) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw InputError(
            "no tensor is called '" + name + "'" + did_you_mean(name, known) +
            ": expected weights, input, output, or the name of the layer that makes the tensor");
      if (name == "weights")
        for (const Layer& layer : model_.layers) fixed_.insert(weights_name(model_, layer));
      else if (name == "input")
        for (const Layer& layer : model_.layers) {
          if (layer.inputs.empty()) fixed_.insert(layer.name);
        }
      else
        fixed_.insert(name == "output" ? output_name() : name);
    }
  }

  /// Returns the key by which an operator is found among the rows that were measured before. The device and the method
  /// of a measurement are not in the key. If the request names no pools, the key has no node and no memories, either.
  /// Operators that differ only in node or memories then have the same key.
  std::string identity(const ProfileRow& row) const {
    std::vector<std::string> but = {"outputs", "cache", "method", "device", "model", "level"};
    if (request_.pools.empty())
      for (const char* column : {"node", "input_pools", "output_pools"}) but.emplace_back(column);
    return key_of(row, but);
  }

  void list(Operator& one, const std::string& pass) {
    ProfileRow row = row_for(*one.layer, request_.samples, request_.dtype, pass);
    row.model = model_.name;
    if (request_.pools.empty()) {
      add_once(one, std::move(row));
      return;
    }
    row.node = one.layer->name;
    std::vector<std::string> free;  // the tensors whose memory can be chosen, each tensor once
    for (const std::string& tensor : tensors_of(one))
      if (fixed_.count(tensor) == 0 && std::find(free.begin(), free.end(), tensor) == free.end())
        free.push_back(tensor);
    std::map<std::string, std::size_t> place;
    for (;;) {
      add(one, placed(row, one, place));
      // Goes to the next placement. `place` counts up like a number: each free tensor is a digit, and the number of
      // pools is the base.
      std::size_t t = 0;
      while (t < free.size() && ++place[free[t]] == request_.pools.size()) place[free[t++]] = 0;
      if (t == free.size()) return;
    }
  }

  static std::vector<std::string> tensors_of(const Operator& one) {
    std::vector<std::string> tensors = one.reads;
    tensors.push_back(one.writes);
    return tensors;
  }

  ProfileRow placed(ProfileRow row, const Operator& one,
                    std::map<std::string, std::size_t>& place) {
    for (const std::string& tensor : one.reads)
      row.input_pools.push_back(request_.pools[place[tensor]]);
    row.output_pools = {request_.pools[place[one.writes]]};
    return row;
  }

  void add(Operator& one, ProfileRow row) {
    if (++plan_.wanted > most_placements)
      throw InputError(
          "there are more than a million placements: keep some tensors in the first memory with --fixed, such as "
          "--fixed weights,input");
    if (done_.count(identity(row)) != 0)
      ++plan_.done;
    else
      one.pending.push_back(std::move(row));
  }

  /// Adds a row for an operator. If an equal operator has a row, no row is added: the `occurrences` of that row grow by
  /// 1.
  void add_once(Operator& one, ProfileRow row) {
    const auto [known, fresh] = first_.emplace(identity(row), &one);
    if (fresh) {
      add(one, std::move(row));
      return;
    }
    for (ProfileRow& first : known->second->pending)
      if (identity(first) == known->first) ++first.occurrences;
  }

  void one_run() {
    for (Operator& one : operators_)
      for (ProfileRow& row : one.pending) plan_.profile.rows.push_back(std::move(row));
    plan_.runs = plan_.least_runs = plan_.profile.rows.size();
  }

  void pack() {
    join_neighbours(operators_);
    for (const Operator& one : operators_) {
      plan_.least_runs = std::max(plan_.least_runs, one.pending.size());
      for (const std::size_t other : one.neighbours)
        plan_.least_runs =
            std::max(plan_.least_runs, one.pending.size() + operators_[other].pending.size());
    }
    std::vector<std::size_t> next(operators_.size());
    for (std::size_t left = plan_.left(); left > 0;) left -= run(next);
  }

  /// Fills the next run. The operators with the most pending rows get their places in the run first. Returns the number
  /// of rows in the run.
  std::size_t run(std::vector<std::size_t>& next) {
    std::vector<std::size_t> order;
    for (std::size_t o = 0; o < operators_.size(); ++o)
      if (next[o] < operators_[o].pending.size()) order.push_back(o);
    const auto left = [&](std::size_t o) { return operators_[o].pending.size() - next[o]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return left(a) > left(b); });
    ++plan_.runs;
    std::set<std::size_t> taken;
    for (const std::size_t o : order) {
      const auto& near = operators_[o].neighbours;
      if (std::any_of(near.begin(), near.end(), [&](std::size_t n) { return taken.count(n) != 0; }))
        continue;
      taken.insert(o);
      ProfileRow row = std::move(operators_[o].pending[next[o]++]);
      row.run = static_cast<std::int64_t>(plan_.runs);
      plan_.profile.rows.push_back(std::move(row));
    }
    return taken.size();
  }

  const Model& model_;
  const PlacementRequest& request_;
  std::vector<Operator> operators_;
  std::set<std::string> fixed_, done_;
  std::map<std::string, Operator*> first_;
  MeasurementPlan plan_;
};

}  // namespace

MeasurementPlan plan_measurements(const Model& model, const PlacementRequest& request) {
  MeasurementPlan plan = Planner(model, request).plan();
  plan.profile.header.set("format", Value::make(std::string("sluice-profile/1")));
  plan.profile.header.set("name", Value::make("to be measured of " + model.name));
  return plan;
}

}  // namespace sluice
