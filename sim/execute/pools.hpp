// The pools of a running engine: byte-exact grants, all pools of an action at once or none. A pool
// owned by one device grants in listing order, a shared one in the order of (time of the request,
// stream). Knows nothing of SimGrid: the engine says who asks, and is told who may go on.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "execute/instances.hpp"

namespace sluice {

class Pools {
 public:
  /// `granted(stream, time)` is called for each request at the moment it is granted.
  using Granted = std::function<void(std::uint32_t stream, double time)>;
  Pools(const PlanIndex& index, Instances& instances, Granted granted);

  /// The head of `stream` asks for its bytes at `time`. It is granted by settle(), by a later
  /// release, or by another grant that gives it its turn.
  void request(std::uint32_t stream, std::uint32_t action, std::int64_t iteration, double time);
  /// Grants to this stream if it is its turn and there is room; true when it holds its bytes.
  bool settle(std::uint32_t stream);
  /// Bytes were released in this pool.
  void released(std::uint32_t pool, double time);

  /// The pool that the head of this stream waits for; none when it waits for none.
  std::uint32_t awaited(std::uint32_t stream) const { return requests_[stream].pool; }
  /// The action whose turn it is in that pool, where this stream waits for its turn and not for
  /// room.
  std::uint32_t turn_before(std::uint32_t stream) const;

 private:
  struct Request {
    bool open = false;
    bool settled = false;  ///< others of the same moment have had the time to ask, too
    std::uint32_t action = none;
    std::int64_t iteration = 0;
    double time = 0;
    std::uint32_t pool = none;  ///< the one that could not grant
  };
  bool grantable(std::uint32_t stream);
  void take(std::uint32_t stream, double time);
  void offer(std::uint32_t pool, double time);  ///< to whoever is next

  const PlanIndex& index_;
  Instances& instances_;
  Granted granted_;
  std::vector<Request> requests_;                 ///< by stream
  std::vector<Cursor> turn_;                      ///< by owned pool: whose allocation is next
  std::vector<std::deque<std::uint32_t>> queue_;  ///< by shared pool: streams
};

}  // namespace sluice
