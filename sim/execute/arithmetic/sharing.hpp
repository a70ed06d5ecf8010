// Max-min fair sharing of links between flows, as SimGrid's model has it (CM02 without latency,
// cross traffic or windows): by progressive filling, a link that can give each of its flows the
// least gives them that, and so on with what is left. Recomputed where a flow starts or ends, for
// the flows that are connected to it through links. Bytes, byte/s, seconds.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/tables.hpp"

namespace sluice {

class Sharing {
 public:
  struct Flow {
    std::uint32_t route = none;  ///< none: nothing flows
    double left = 0;             ///< bytes at `since`
    double rate = 0;
    double since = 0;
    double end() const { return since + left / rate; }
  };
  explicit Sharing(const Plan& plan);

  /// A stream's transfer begins to flow, or has ended. The rates change in update().
  void start(std::uint32_t stream, std::uint32_t action, double now);
  void stop(std::uint32_t stream);
  bool changed() const { return !touched_.empty(); }
  /// Shares anew; returns the streams whose flow has another rate and so another end().
  const std::vector<std::uint32_t>& update(double now);
  const Flow& flow(std::uint32_t stream) const { return flows_[stream]; }
  void skip(double seconds) {
    for (Flow& flow : flows_) flow.since += seconds;
  }

 private:
  struct Link {
    std::vector<std::uint32_t> flows;  ///< streams
    double left = 0;                   ///< byte/s that are not given out
    std::uint32_t open = 0;            ///< flows without a rate
    bool marked = false;
  };
  void collect_component();
  void fill();
  void settle(std::uint32_t stream, double rate);

  const Plan& plan_;
  std::vector<Flow> flows_;  ///< by stream
  std::vector<Link> links_;
  std::vector<std::uint32_t> touched_;  ///< links where flows have started or ended
  std::vector<std::uint32_t> component_links_, component_;
  std::vector<char> marked_;       ///< by stream: in the component
  std::vector<double> next_rate_;  ///< by stream
  std::vector<std::uint32_t> moved_;
};

}  // namespace sluice
