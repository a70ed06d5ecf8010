// Many independent pieces of work, each in a process of its own: SimGrid allows one engine in a
// process, and what crashes one piece leaves the others alone.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sluice {

struct PoolAnswer {
  std::string text;   ///< what the work returned
  std::string fault;  ///< how its process died instead; empty: it answered
};

/// Calls work(i) for each i in 0..count-1 in a forked child, at most `jobs` (at least 1) at a time,
/// and returns the answers by i: they depend neither on `jobs` nor on who ends first. What leaves
/// `work` as an exception is a fault. `progress` is called with the number of answers. The caller
/// must be single-threaded. Throws Interrupted on a signal and IoError where the system allows no
/// further process; no child is alive afterwards. Children do not outlive the caller.
std::vector<PoolAnswer> run_pool(std::size_t count, std::size_t jobs,
                                 const std::function<std::string(std::size_t)>& work,
                                 const std::function<void(std::size_t)>& progress = {});

/// How many processes this computer runs at once, at least 1.
std::size_t processors();

}  // namespace sluice
