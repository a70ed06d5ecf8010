// Replicas on equal devices: a plan for one of them is valid for the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "platform/platform.hpp"
#include "workload/workload.hpp"

namespace sluice {

/// Whether a plan for one of these devices takes as long on the other when nothing else uses its
/// links. This is so if the devices, their memories, and the links between these memories and host
/// memory differ only in their names.
bool alike(const Platform& platform, const std::string& device, const std::string& other);

/// Moves a plan for one device of a platform to another device for which alike() is true.
Plan moved(Plan plan, const Platform& platform, const std::string& from, const std::string& to);

/// The work of replica number k of `count`. In training, every replica computes an equal part of each batch. In
/// inference, every replica computes some of the batches.
Workload share_of(Workload workload, std::int64_t k, std::int64_t count);

/// The machine as a single replica sees it, with only a share of each link and port that several replicas use. The
/// choices for one replica are made on this machine.
Platform shared_out(Platform platform, const std::vector<std::string>& devices);

/// Gives all parts the same number of iterations, because one plan for all parts has only one number of iterations. If
/// replicas repeat after different rounds, or have different shares of the work, some bodies become several rounds
/// long.
std::vector<Plan> with_equal_rounds(std::vector<Plan> parts);

/// Sets how transfers of several replicas use one link: at the same time (`together`) or one after the other
/// (`in_turn`). With `auto`, the plan that ends first is taken.
Plan with_transfers(Plan plan, const std::string& how);

}  // namespace sluice
