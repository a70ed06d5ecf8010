// Replicas on equal devices: a plan that is made for one of these devices can be moved to each of the others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "planning/run_seconds.hpp"
#include "platform/platform.hpp"
#include "workload/workload.hpp"

namespace sluice {

/// Returns whether the two devices differ only in names. Their memories are compared, too, and so are the links between
/// these memories and host memory. A plan takes equally long on such devices if no other transfer uses the links.
bool alike(const Platform& platform, const std::string& device, const std::string& other);

/// `plan` is a plan for device `from`. Returns the same plan for device `to`. alike() must be true for the two devices.
Plan moved(Plan plan, const Platform& platform, const std::string& from, const std::string& to);

/// Returns the workload of replica k if `count` replicas share `workload`. In training, every replica computes an equal
/// part of each batch. In inference, every replica computes some of the batches.
Workload share_of(Workload workload, std::int64_t k, std::int64_t count);

/// Returns the machine for which the choices of one replica are made: each link, and each port of a memory, has only
/// the replica's share of its bandwidth.
Platform shared_out(Platform platform, const std::vector<std::string>& devices);

/// Returns whether several replicas use the same link. `share` is the machine that shared_out() makes from the machine
/// `whole`: a link that several replicas use has less bandwidth in `share`.
bool share_links(const Platform& whole, const Platform& share);

/// Returns a lower bound of the seconds of a run in which replicas run these plans together: the time that the busiest
/// link needs for its bytes.
double seconds_of_busiest_link(std::span<const Plan> parts, const Platform& platform);

/// Returns whether the memories of two of these devices have links in common: the links between the memories of a
/// device, or between one of them and host memory. Devices with the same second memory have links in common.
bool share_any_links(const Platform& platform, const std::vector<std::string>& devices);

/// Gives the plans of all replicas equally many iterations, because the joined plan has only one number of iterations.
/// For this, the body of a plan may become several rounds long.
std::vector<Plan> with_equal_rounds(std::vector<Plan> parts);

/// How transfers of several replicas use one link: at the same time, one after the other, or in the faster of both
/// ways.
enum class ReplicaTransfers : std::uint8_t { any, together, in_turn };

/// Makes the transfers use one link in this way. With `any`, the function simulates both ways, and takes the faster
/// one. Transfers also stay together if the plan ends in a deadlock when they run one after the other.
TimedPlan with_transfers(Plan plan, ReplicaTransfers how);

/// Returns plans in which the transfers take turns, in several orders (planning/turns.hpp). The orders do not depend on
/// the sizes of the memories: they come from simulations in which memory is unlimited.
std::vector<Plan> orders_in_any_memory(const Plan& plan);

}  // namespace sluice
