// Explains why an execution cannot go on: which action waits for what, and which tensors hold the
// memory. Both executors make this description, so that their messages are the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// The state in which nothing can happen any more.
struct Deadlock {
  struct Waiter {  ///< the head of a stream that cannot start
    std::uint32_t action = none;
    std::int64_t iteration = 0;
    /// The action that it waits for; none: it waits for a pool.
    std::uint32_t awaited_action = none;
    std::int64_t awaited_iteration = 0;
    /// The pool in which it waits for `bytes`; none: it waits for an action.
    std::uint32_t pool = none;
    std::int64_t bytes = 0;
    /// The number of requests listed before it, for which it must leave room.
    std::int64_t earlier = 0;
  };
  struct HeldTensor {  ///< an instance of a tensor in a pool
    std::uint32_t pool = none;
    std::uint32_t tensor = none;
    std::int64_t instance = 0;
  };
  double time = 0;
  std::vector<Waiter> waiters;
  std::vector<HeldTensor> held;
  std::vector<std::int64_t> levels;  ///< bytes, by pool
};

/// The whole explanation for an error message: the time, which action waits for what, and which tensors hold the
/// memory. For each pool in which an action waits for bytes, the explanation names the five largest tensors.
std::string describe(const Plan& plan, const Deadlock& blocking);

/// Returns text such as "5120000 B (5.12 MB)".
std::string bytes_text(std::int64_t bytes);

/// Returns "0F3" or, in the body, "0F3 (iteration 2)".
std::string action_label(const Plan& plan, std::uint32_t action, std::int64_t iteration);

}  // namespace sluice
