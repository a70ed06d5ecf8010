// The part of processes.hpp that runs in child processes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/processes.hpp"

namespace sluice {

/// The exit code of Infeasible. The answer of a child that ends with this code also has a shortage.
inline constexpr int code_of_infeasible = 4;

/// Does the work under these limits and writes the answer to `descriptor`. The first byte of the answer is the exit
/// code. If `work` returns a result, the exit code is 0, and the result follows. Otherwise the message of the error
/// follows. If `work` throws Infeasible, a packed list of its message and its shortage follows.
void answer(const std::function<std::string()>& work, const ChildLimits& limits, int descriptor);

/// Starts the program of set_child_program(). It does the work and writes the answer to `descriptor`, as answer() does.
/// Returns the id of its process. Throws InternalError if no program was set, and the errors of fork_child.
pid_t spawn_child(const ChildWork& work, std::string_view request, const ChildLimits& limits,
                  int descriptor);

}  // namespace sluice
