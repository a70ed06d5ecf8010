// Shares links between flows by max-min fairness, as SimGrid does in its model CM02 without latency, cross traffic and
// TCP windows. The method is progressive filling. Each link divides its bandwidth by the number of its flows. The
// link with the lowest quotient gives its flows this quotient as their rate. Then these steps repeat with the other
// links. Each link now divides its remaining bandwidth by the number of its flows that have no rate yet. When a flow
// starts or ends, all flows that are connected to it over links get new rates. Units are bytes, byte/s and seconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/tables.hpp"

namespace sluice {

class Sharing {
 public:
  struct Flow {
    std::uint32_t route = none;  ///< `none` if there is no flow
    double bytes_left = 0;       ///< bytes at `since`
    double rate = 0;
    double since = 0;
    double end() const { return since + bytes_left / rate; }
    double bytes_left_at(double now) const {
      return std::max(0.0, bytes_left - rate * (now - since));
    }
  };
  /// `flows` is the largest number of flows at one time. The caller gives each flow a number, which is less than
  /// `flows`.
  Sharing(const Plan& plan, std::size_t flows);

  /// start() adds a flow, and stop() removes a flow. The rates of the other flows change only when update() is called.
  void start(std::uint32_t number, const sluice::Flow& flow, double now);
  void stop(std::uint32_t number);
  bool changed() const { return !touched_.empty(); }
  /// Computes the rates again. Returns the numbers of the flows for which rate and end() are new.
  const std::vector<std::uint32_t>& update(double now);
  const Flow& flow(std::uint32_t number) const { return flows_[number]; }
  /// Returns the bytes that the present flows of a link still have to send.
  double bytes_left(std::uint32_t link, double now) const {
    double bytes = 0;
    for (const std::uint32_t number : links_[link].flows)
      bytes += flows_[number].bytes_left_at(now);
    return bytes;
  }
  void skip(double seconds) {
    for (Flow& flow : flows_) flow.since += seconds;
  }

 private:
  struct Link {
    std::vector<std::uint32_t> flows;  ///< numbers of flows
    /// The bandwidth, in byte/s, that no flow has been given yet.
    double rate_left = 0;
    std::uint32_t unrated_flows = 0;  ///< the number of flows that have not been given a rate
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
  std::vector<char> marked_;       ///< for each flow, whether it belongs to the component
  std::vector<double> next_rate_;  ///< indexed by flow
  std::vector<std::uint32_t> moved_;
};

}  // namespace sluice
