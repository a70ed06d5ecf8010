// The ways to list the loads of a training run whose number of micro-batches side by side is settled. What is tried is
// in tried_loads.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/room_shares.hpp"
#include "planning/training/training.hpp"
#include "planning/training/tried_loads.hpp"

namespace sluice {

/// Returns a text that is the same for two orders and steps that lead to the same plans. In this text, the last layers
/// of the stages stand for the cut.
std::string step_text(const PolicyRequest& request, const TrainingOrder& order,
                      const ChosenStep& step);

class PeaksOfBatches;

/// The ways to train with a given number of micro-batches side by side. They differ in the places of the loads.
class TrainingWays {
 public:
  /// If `stages` holds the stages of the request, the object keeps them alive.
  TrainingWays(const PolicyRequest& request, TrainingOrder order,
               std::shared_ptr<PeaksOfBatches> peaks,
               std::shared_ptr<const std::vector<Stage>> stages);

  /// Returns the greatest number of different ways, including those that do not fit.
  std::int64_t count() const;

  /// Returns one candidate for all ways, or nothing if the step cannot fit. `at_least` is a lower bound of the
  /// candidate's seconds. The ways are listed only when the judge opens the candidate, because another strategy may
  /// already have had the same ways.
  static std::vector<Candidate> opened(const std::shared_ptr<const TrainingWays>& ways,
                                       double at_least);

 private:
  struct LoadChoice {
    ChosenStep::EarlyLoadLimits limits;
    /// How many micro-batches more the step has whose limits lead to the places of the loads.
    std::int64_t more = 0;
    double at_least = 0;
    /// The places of the loads. Null if the limits lead to these places for the step itself.
    std::shared_ptr<const std::vector<LoadPlace>> places = {};
    /// Returns the places, or null if there are none.
    const std::vector<LoadPlace>* listed_places() const {
      return places && !places->empty() ? places.get() : nullptr;
    }
    /// Whether a way that was found earlier has the same places of loads. The runs of the two ways stay within
    /// different numbers of bytes.
    bool listed_again = false;
  };
  /// The ways that were found so far. There is one map for each order of the loads (LoadOrder).
  /// The key is a list of the places of all loads. The value has the bytes within which runs with these places stay,
  /// for each way. Ways with equal places and bytes are equal.
  using SeenWays =
      std::array<std::map<std::vector<LoadPlace>, std::set<DeviceBytes>>, load_orders.size()>;
  struct LimitedOffer {
    ChosenStep::EarlyLoadLimits limits;
    ChosenStep::Offer offer;
  };

  /// Returns a candidate for the step, with a bound that needs the whole step. `memory` limits the bytes of each
  /// device, and `at_least` is a lower bound of the seconds of all ways.
  static std::vector<Candidate> with_step(const std::shared_ptr<const TrainingWays>& ways,
                                          const std::optional<std::int64_t>& memory,
                                          double at_least);
  /// Returns a candidate for each way that fits, but only one for ways that are equal as SeenWays defines it.
  static std::vector<Candidate> listed(const std::shared_ptr<const TrainingWays>& ways,
                                       const std::shared_ptr<const ChosenStep>& step);
  /// For replicas that delay each other. Returns one candidate for all these ways. Each way is simulated with a
  /// replica's share of the links. It is left out if another way stays within as many bytes and is faster. Of ways that
  /// are equally fast, only a few are not left out. For each of the others, the judge compares the run of all replicas
  /// together, unless the bound of this run is not below the seconds of the best run so far.
  static std::vector<Candidate> fastest_within(const std::shared_ptr<const TrainingWays>& ways,
                                               const std::shared_ptr<const ChosenStep>& step,
                                               std::vector<LoadChoice> all);
  static Settled settled(const std::shared_ptr<const TrainingWays>& ways,
                         const std::shared_ptr<const ChosenStep>& step, const LoadChoice& way);
  /// Returns where the seconds of a run are kept for machines that differ only in the bytes of their memories, or null.
  /// A run that stays within its own limits is the same on all of them. If the seconds are not known yet, they are 0.
  double* known_seconds(const TrainingOrder& order) const;
  /// Returns whether host memory may be full in the run of a plan. With more memory of a device, other tensors are in
  /// host memory at the same time, and may not fit there. So such a run does not use the whole memory of the device.
  bool run_may_fill_host(const Plan& plan) const;
  /// Returns the simulated seconds of a plan, or 0 if the platform is a shown machine. Then the judge simulates the
  /// plan for the real machine instead.
  double seconds(const Plan& plan) const;

  /// Returns the ways of the step, and after them the ways with the places of the loads of larger steps.
  std::vector<LoadChoice> ways(const ChosenStep& step) const;
  /// Returns, for each pace, ways with different rooms for early loads (see rooms()), and at most TriedCounts::listings
  /// further ways. Of these, the first is the listing that needs the most bytes, and each one after it needs fewer
  /// bytes than the one before. After them come the ways of add_late_ways(). Ways that do not fit are left out.
  /// `offered` is the step, or a larger step.
  template <class Offered>
  std::vector<LoadChoice> ways(const ChosenStep& step, const Offered& offered,
                               const TriedCounts& tried, SeenWays& seen) const;
  /// Adds to `ways` the ways to use the offer `one`: those that fit into memory and are not in `seen` yet. With
  /// `offer.most` bytes, the listing is the same as with the offer's room. But if transfers share links, it may matter
  /// within how many bytes the run stays. Then there are two ways: one stays within the offer's room, the other within
  /// `offer.most` bytes. If only one of the two ways were tried, a larger memory could lead to the other way, and make
  /// the run slower.
  void add_ways(const ChosenStep& step, const LimitedOffer& one, SeenWays& seen,
                std::vector<LoadChoice>& ways) const;
  /// Adds offers for different rooms, with this sequence of loads. Early loads may fill the devices up to the bytes of
  /// a room. If several rooms lead to the same listing, adds an offer only for the smallest of these rooms.
  template <class Offered>
  void add_rooms(const Offered& offered, const LoadSequence& sequence, const RoomShares& shares,
                 std::size_t each_room, std::vector<LimitedOffer>& all) const;
  /// Adds ways that list each load before the operation that needs it. The copy engine may still start such a load
  /// earlier. But the load gets memory only if the operations listed before it have all the memory that they need, also
  /// while tensors are being saved. If an operation needs several loads, they come in each of three orders.
  template <class Offered>
  void add_late_ways(const ChosenStep& step, const Offered& offered, const TriedCounts& tried,
                     SeenWays& seen, std::vector<LoadChoice>& ways) const;

  /// Returns how rooms are shared out that are tried for a step with these peaks. If devices take turns, the device
  /// with the smallest of them need not have room for the greatest peak.
  std::vector<RoomShares> shares_of(const DeviceBytes& peaks) const;
  /// Returns the bytes. If devices do not differ, the greatest number stands for all of them.
  DeviceBytes counted(const DeviceBytes& bytes) const {
    return devices_differ_ ? bytes : bytes.greatest();
  }
  /// Returns the rooms that are tried, the smallest first. `each` is TriedCounts::each_room. A room is the step's peak
  /// plus bytes for early loads, so the smallest room is the peak alone. A plan that is made to be changed may use the
  /// whole memory of its machine, unless transfers share a link: plans for other machines have other rooms.
  std::vector<std::int64_t> rooms(std::int64_t peak, const RoomShares& shares,
                                  std::size_t each) const;
  /// Returns whether there are the ways of add_late_ways(). Their run may use the whole memory of the device.
  bool lists_late() const { return run_room_ && !unlimited_.made_to_change; }
  /// Returns whether few ways are tried, because they take long to simulate: the order is one of many with different
  /// tensors that stay, and several devices take turns, or replicas sum gradients. Or each way of a replica in two
  /// memories is simulated with all replicas. Or the replicas are not equal (EqualReplicas::few_listings).
  bool tries_few() const {
    return simulates_all_ || few_listings_ ||
           (one_of_many(order_) &&
            (order_.devices.size() > 1 || (whole_ && whole_->sums_gradients)));
  }
  /// Returns whether runs also stay within more bytes than their loads need (run_parts).
  bool uses_idle_links() const { return shared_ && !tries_few(); }
  /// Returns the number of paces that are tried.
  std::size_t paces_of(const TriedCounts& tried) const {
    return counts_latency_ ? tried.paces : std::min(tried.paces, paces_without_latency);
  }
  std::int64_t per_batch() const {
    return unlimited_.workload.batch / unlimited_.workload.micro_batch;
  }
  bool limited() const { return capacity_.least() < no_limit; }
  bool fits(const DeviceBytes& bytes) const { return bytes.within(capacity_); }
  /// Returns whether two transfers of the run may use one link at the same time, and slow each other down.
  bool shares_links() const;

  bool enforced_;
  DeviceBytes capacity_;  ///< capacities() of the devices
  bool devices_differ_ = false;  ///< devices_differ()
  /// How many bytes of each device a run may use. If empty, each way has its own limit: the bytes up to which its early
  /// loads may fill a device.
  std::optional<DeviceBytes> run_room_;
  /// If the request is for one of several replicas that delay each other: for the machine with its share of the links.
  PolicyRequest unlimited_;
  /// The request for the whole links, if the request is for one of several replicas that share links, or that sum
  /// gradients and are simulated together.
  std::optional<PolicyRequest> whole_ = {};
  bool shared_ = false;  ///< whether these replicas share links
  /// If `whole_` is given: whether no transfer of all replicas uses a link at the same time as another transfer.
  bool links_are_free_ = false;
  bool simulates_all_ =
      false;  ///< whether all ways of a replica in two memories are simulated with all replicas
  bool few_listings_ = false;  ///< EqualReplicas::few_listings
  TrainingOrder order_;
  std::shared_ptr<PeaksOfBatches> peaks_;
  std::shared_ptr<const std::vector<Stage>> stages_;  ///< the stages to which the request refers
  bool counts_latency_;  ///< whether paces with different latencies are tried
};

}  // namespace sluice
