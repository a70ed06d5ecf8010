#include "policy/settle/unequal_replicas.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/never.hpp"
#include "planning/equal_replicas.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/fastest_ways.hpp"
#include "policy/settle/one_replica.hpp"
#include "policy/settle/replicas.hpp"
#include "policy/settle/replicas_alone.hpp"
#include "policy/settle/ring_seconds.hpp"
#include "policy/settle/settle.hpp"

namespace sluice {
namespace {

/// The parts of the slowest replica's seconds that the other replicas may take. A replica with a small part loads
/// little, or early, and leaves the links to the slowest one.
constexpr std::array<double, 12> parts_of_slowest = {1.0, 0.95, 0.9, 0.85, 0.8, 0.7,
                                                     0.6, 0.5,  0.4, 0.3,  0.2, 0.1};

/// The indices of replicas with equal devices. All of them have the same way.
using ReplicaKind = std::vector<std::size_t>;

class UnequalReplicas {
 public:
  UnequalReplicas(const Policy& policy, const PolicyRequest& request, Keys keys, std::string text)
      : policy_(policy),
        request_(request),
        keys_(std::move(keys)),
        text_(std::move(text)),
        devices_(replica_devices(request, keys_.reader())) {
    for (std::size_t k = 0; k < devices_.size(); ++k) {
      const auto kind = std::ranges::find_if(kinds_, [&](const ReplicaKind& one) {
        return alike(platform(), devices_[one.front()], devices_[k]);
      });
      if (kind == kinds_.end())
        kinds_.push_back({k});
      else
        kind->push_back(k);
    }
  }
  UnequalReplicas(const UnequalReplicas&) = delete;

  bool alike_devices() const { return kinds_.size() == 1; }

  /// Returns a bound of the runs of all replicas: the greatest bound of a replica alone.
  ReplicaBound bound(bool opens) const {
    ReplicaBound all;
    if (sums()) all.seconds = all_reduce_seconds(request_, devices_);
    bool named = true;
    for (const ReplicaKind& kind : kinds_) {
      const Alone alone(*this, kind);
      const ReplicaBound one = bound_of_ways(alone.candidates(), opens);
      all.seconds = std::max(all.seconds, one.seconds);
      all.ways += one.ways;
      named = named && !one.same_ways.empty();
      all.same_ways += one.same_ways + "|";
    }
    if (!named) all.same_ways.clear();
    return all;
  }

  /// Returns the fastest combination. If no combination takes less than `worth` seconds, the result may have no plan.
  Settled fastest(double worth) const { return Search(*this, worth).fastest(); }

 private:
  /// The request of the first replica of a kind, as if it ran alone.
  class Alone {
   public:
    Alone(const UnequalReplicas& all, const ReplicaKind& kind)
        : policy_(all.policy_),
          replicas_{.share = &all.platform(),
                    .sums_share_links = true,
                    .judged_together = true,
                    .few_listings = true},
          one_(all.policy_, all.request_, all.keys_.reader(), all.platform(), kind.front()) {
      one_.request.replicas = &replicas_;
    }
    Alone(const Alone&) = delete;

    std::vector<Candidate> candidates() const {
      return policy_.candidates(one_.request, one_.keys.reader());
    }
    /// Returns the candidates. If the replica makes no choices, its plan is the only candidate.
    std::vector<Candidate> candidates_or_plan(const std::string& device) const {
      std::vector<Candidate> all = candidates();
      if (!all.empty()) return all;
      const auto simulate = [this, device](double, const auto& settled) {
        std::vector<Plan> only = {settle(policy_, one_.request, one_.keys.reader()).plan};
        keep_within_need(only, {device});
        const double seconds = run_seconds(only.front());
        settled({.seconds = seconds, .plan = keeping(std::move(only.front()))});
      };
      all.push_back({.simulate = simulate});
      return all;
    }

   private:
    const Policy& policy_;
    EqualReplicas replicas_;
    OneReplica one_;
  };

  /// Compares the combinations in the order of the seconds of the slowest replica.
  class Search {
   public:
    Search(const UnequalReplicas& all, double worth) : all_(all), best_s_(worth) {
      for (const ReplicaKind& kind : all.kinds_) {
        const std::string& device = all.devices_[kind.front()];
        const auto& one = alone_.emplace_back(std::make_unique<Alone>(all, kind));
        ways_.emplace_back(one->candidates_or_plan(device), device);
      }
    }

    Settled fastest() {
      double slowest_s = 0;
      for (FastestWays& ways : ways_) slowest_s = std::max(slowest_s, ways.fastest());
      for (; slowest_s < never; slowest_s = after(slowest_s)) compare(slowest_s);
      return best_;
    }

   private:
    using Combination = std::vector<SharedWay>;  ///< indexed by kind

    /// Returns the seconds of the next slower way that may be a part of the fastest combination, or infinity.
    double after(double seconds) {
      for (;;) {
        double next = never, rest = never;
        for (const FastestWays& ways : ways_) {
          rest = std::min(rest, ways.rest_at_least());
          for (const SharedWay& way : ways.found())
            if (way->seconds > seconds && way->at_least < best_s_)
              next = std::min(next, way->seconds);
        }
        if (rest >= std::min(next, best_s_)) return next;
        for (FastestWays& ways : ways_) ways.find_within(rest);
      }
    }

    /// Compares the combinations in which the slowest replica takes so many seconds if it runs alone. First come those
    /// in which the others are fast.
    void compare(double slowest_s) {
      for (std::size_t slowest = 0; slowest < ways_.size(); ++slowest) {
        const SharedWay way = ways_[slowest].within(slowest_s);
        if (!way || way->seconds != slowest_s) continue;
        std::vector<Combination> all;
        for (const double part : parts_of_slowest) {
          Combination one;
          for (std::size_t k = 0; k < ways_.size(); ++k)
            one.push_back(k == slowest ? way : ways_[k].within(part * slowest_s));
          if (std::ranges::count(one, nullptr) > 0) break;
          if (all.empty() || all.back() != one) all.push_back(std::move(one));
        }
        for (auto one = all.rbegin(); one != all.rend(); ++one) take(*one);
      }
    }

    void take(const Combination& combination) {
      std::vector<Plan> parts = all_.parts_of(combination);
      if (!(seconds_of_busiest_link(parts, all_.platform()) < best_s_)) return;
      TimedPlan joint =
          joined(all_.policy_, all_.request_, all_.keys_.reader(), std::move(parts), best_s_);
      const double seconds = joint.seconds();
      if (!(seconds < best_s_)) return;
      best_s_ = seconds;
      best_ = {.seconds = seconds,
               .text = all_.text_of(combination),
               .plan = keeping(std::move(joint.plan))};
    }

    const UnequalReplicas& all_;
    std::vector<std::unique_ptr<Alone>> alone_;  ///< indexed by kind, like ways_
    std::vector<FastestWays> ways_;
    double best_s_;
    Settled best_ = {};
  };

  const Platform& platform() const { return request_.pricing.platform; }
  bool sums() const { return sums_gradients(request_.workload, keys_.reader()); }

  std::vector<Plan> parts_of(const std::vector<SharedWay>& combination) const {
    std::vector<Plan> parts(devices_.size());
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const Plan& plan = *combination[k]->plan;
      const std::size_t first = kinds_[k].front();
      for (const std::size_t other : kinds_[k])
        parts[other] =
            other == first ? plan : moved(plan, platform(), devices_[first], devices_[other]);
    }
    return parts;
  }

  std::string text_of(const std::vector<SharedWay>& combination) const {
    std::string text = text_;
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      if (!combination[k]->text.empty())
        text =
            sluice::joined(text, devices_[kinds_[k].front()] + ": {" + combination[k]->text + "}");
    return text;
  }

  const Policy& policy_;
  const PolicyRequest& request_;
  Keys keys_;
  std::string text_;
  std::vector<std::string> devices_;
  std::vector<ReplicaKind> kinds_;
};

}  // namespace

std::optional<Candidate> candidate_of_unequal_replicas(const Policy& policy,
                                                       const PolicyRequest& request, Keys keys,
                                                       const std::string& text) {
  const std::vector<std::string> devices = replica_devices(request, keys.reader());
  const bool one_memory = std::ranges::all_of(devices, [&](const std::string& device) {
    return request.pricing.platform.device(device).memories.size() == 1;
  });
  if (!request.workload.training || request.strategy().searches || !one_memory ||
      !share_any_links(request.pricing.platform, devices) || !policy.candidates)
    return {};
  const auto all = std::make_shared<const UnequalReplicas>(policy, request, std::move(keys), text);
  if (all->alike_devices()) return {};
  const ReplicaBound bound = all->bound(/*opens=*/false);
  if (bound.ways == 0) return {};
  const auto open = [all, text] {
    std::vector<Candidate> opened;
    ReplicaBound better;
    try {
      better = all->bound(/*opens=*/true);
    } catch (const InputError&) {
      return opened;  // the scenario did not ask for these ways, so the error is ignored
    } catch (const Infeasible&) {
      return opened;
    }
    opened.push_back(
        {.at_least = better.seconds,
         .simulate = [all](double worth, const auto& settled) { settled(all->fastest(worth)); }});
    if (!better.same_ways.empty()) opened.back().same_ways = text + ";" + better.same_ways;
    return opened;
  };
  return Candidate{.at_least = bound.seconds, .ways = bound.ways, .open = open};
}

}  // namespace sluice
