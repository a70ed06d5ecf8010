// Replicas on equal devices: what is planned for one holds for the others.
#pragma once

#include <string>

#include "plan/plan.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Does a plan for one of these devices alone take as long on the other, where nothing else uses
/// its links? They are equal but for their names, and so is what joins them to host memory.
bool alike(const Platform& platform, const std::string& device, const std::string& other);

/// A plan for one device of a platform, on another one that is alike.
Plan moved(Plan plan, const Platform& platform, const std::string& from, const std::string& to);

}  // namespace sluice
