// Replicas on equal devices: what is planned for one holds for the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "platform/platform.hpp"
#include "workload/workload.hpp"

namespace sluice {

/// Does a plan for one of these devices alone take as long on the other, where nothing else uses
/// its links? They are equal but for their names, and so is what joins them to host memory.
bool alike(const Platform& platform, const std::string& device, const std::string& other);

/// A plan for one device of a platform, on another one that is alike.
Plan moved(Plan plan, const Platform& platform, const std::string& from, const std::string& to);

/// What replica number k of `count` computes: an equal part of each batch in training, else some
/// batches.
Workload share_of(Workload workload, std::int64_t k, std::int64_t count);

/// The machine as one replica meets it: of each link and port that several replicas cross it has
/// its share. What a replica chooses by itself is chosen on that one.
Platform shared_out(Platform platform, const std::vector<std::string>& devices);

/// As many iterations in each: where replicas repeat after different rounds, or have different
/// shares, the bodies of some are several of their rounds.
std::vector<Plan> with_equal_rounds(std::vector<Plan> parts);

/// Transfers of several replicas on one link: `together`, `in_turn`, or, `auto`, whichever ends
/// first.
Plan with_transfers(Plan plan, const std::string& how);

}  // namespace sluice
