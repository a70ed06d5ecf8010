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
  /// At most so many flows at a time, which the caller numbers.
  Sharing(const Plan& plan, std::size_t flows);

  /// A flow begins, or is through. The rates change in update().
  void start(std::uint32_t number, const sluice::Flow& flow, double now);
  void stop(std::uint32_t number);
  bool changed() const { return !touched_.empty(); }
  /// Shares anew; returns the flows that have another rate and so another end().
  const std::vector<std::uint32_t>& update(double now);
  const Flow& flow(std::uint32_t number) const { return flows_[number]; }
  void skip(double seconds) {
    for (Flow& flow : flows_) flow.since += seconds;
  }

 private:
  struct Link {
    std::vector<std::uint32_t> flows;  ///< their numbers
    double left = 0;                   ///< byte/s that are not given out
    std::uint32_t open = 0;            ///< flows without a rate
    bool marked = false;
  };
  void collect_component();
  void fill();
  void settle(std::uint32_t number, double rate);

  const Plan& plan_;
  std::vector<Flow> flows_;  ///< indexed by number
  std::vector<Link> links_;
  std::vector<std::uint32_t> touched_;  ///< links where flows have started or ended
  std::vector<std::uint32_t> component_links_, component_;
  std::vector<char> marked_;       ///< per flow: in the component
  std::vector<double> next_rate_;  ///< indexed by flow
  std::vector<std::uint32_t> moved_;
};

}  // namespace sluice
