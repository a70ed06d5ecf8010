// Describes a deadlock: a state from which an execution cannot go on. The description says which actions wait, what
// each of them waits for, and which tensors occupy the memory. Both executors use this description, so their messages
// are equal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// The state of an execution in which no action can start or end any more.
struct Deadlock {
  struct Waiter {  ///< a stream whose head cannot start
    std::uint32_t action = none;
    std::int64_t iteration = 0;
    /// The action for which the head (the stream's next action) waits. If the head waits for bytes,
    /// the value is `none`.
    std::uint32_t awaited_action = none;
    std::int64_t awaited_iteration = 0;
    /// The pool in which the head waits for `bytes`. If the head waits for an action, the value is
    /// `none`.
    std::uint32_t pool = none;
    std::int64_t bytes = 0;
    /// The number of requests for this pool that are listed earlier and wait. The head must leave
    /// room for these requests.
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

/// Returns the text of an error message. The text says the time of the deadlock, which actions wait, and for which
/// actions or bytes they wait. The text also names the five largest tensors of each pool with too few free bytes.
std::string describe(const Plan& plan, const Deadlock& blocking);

/// Returns text such as "5120000 B (5.12 MB)".
std::string bytes_text(std::int64_t bytes);

/// Returns the name of an action, such as "0F3". For an action of the body, the text has the iteration, too: "0F3
/// (iteration 2)".
std::string action_label(const Plan& plan, std::uint32_t action, std::int64_t iteration);

}  // namespace sluice
