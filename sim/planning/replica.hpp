// Replicas on equal devices. A plan for one of these devices is also valid for the other devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "platform/platform.hpp"
#include "workload/workload.hpp"

namespace sluice {

/// Returns whether the two devices are equal apart from names. Their memories and their links to host memory
/// must be equal, too. A plan then takes equally long on both devices if no other transfer uses the links.
bool alike(const Platform& platform, const std::string& device, const std::string& other);

/// Returns the plan for device `from` as a plan for device `to`. alike() must be true for these two devices.
Plan moved(Plan plan, const Platform& platform, const std::string& from, const std::string& to);

/// Returns the work of replica k of `count` replicas. In training, every replica computes an equal part of each batch.
/// In inference, every replica computes some of the batches.
Workload share_of(Workload workload, std::int64_t k, std::int64_t count);

/// Returns the machine as a single replica sees it. Each link and port has only the replica's share of the bandwidth.
/// The choices for one replica are made on this machine.
Platform shared_out(Platform platform, const std::vector<std::string>& devices);

/// Returns whether replicas share a link. shared_out() has made the machine `share` from the
/// machine `whole`. If a link has less bandwidth in `share`, replicas share the link.
bool share_links(const Platform& whole, const Platform& share);

/// Gives the plans of all replicas equally many iterations, because the joined plan has only one number of iterations.
/// If the plans have different numbers of iterations, some bodies become several rounds long.
std::vector<Plan> with_equal_rounds(std::vector<Plan> parts);

/// Sets how transfers of several replicas use one link: at the same time (`together`) or one after the other
/// (`in_turn`). With `auto`, the function takes the way whose run ends first.
Plan with_transfers(Plan plan, const std::string& how);

}  // namespace sluice
