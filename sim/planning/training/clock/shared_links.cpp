// The links that copies of several streams share in a training step (step_clock.hpp).
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "planning/training/step_clock.hpp"

namespace sluice {

/// Finds the links that copies of different streams use. Copies of one stream take turns anyway. `share` is the
/// platform with each replica's share of the links, or null.
void StepClock::find_shared_links(const Platform& platform, const Users& users,
                                  const Platform* share) {
  struct Link {
    std::set<std::size_t> streams;
    std::vector<CopyStream*> users;
  };
  std::map<std::uint32_t, Link> links;
  for (const auto& [way, path] : users)
    for (const std::uint32_t channel : path->channels) {
      links[channel].streams.insert(way->stream);
      links[channel].users.push_back(way);
    }
  for (const auto& [channel, link] : links) {
    const double whole = platform.channels[channel].bandwidth;
    const double own = share ? share->channels[channel].bandwidth : whole;
    if (link.streams.size() < 2 && own == whole) continue;
    for (CopyStream* way : link.users) way->shared.emplace_back(shared_links_, 1 / own);
    ++shared_links_;
  }
}

/// Returns the seconds in which the busiest shared link carries its part of all bytes that the run copies.
double StepClock::seconds_on_links() const {
  std::vector<double> busy(shared_links_, 0);
  const auto cross = [&](const CopyStream& way, double bytes) {
    for (const auto& [link, per_byte] : way.shared) busy[link] += bytes * per_byte;
  };
  for (const Program::Staying& stays : step_.staying)
    cross(down_[stays.device], static_cast<double>(stays.weights));
  if (real_)
    for (const auto& [stage, bytes] : real_->begins_bytes)
      cross(real_->begins, static_cast<double>(bytes));
  for (const Program::Instance& made : step_.instances) {
    const double bytes = static_cast<double>(rounds_) * static_cast<double>(made.bytes);
    if (made.loaded) cross(stream_of(made), bytes);
    if (made.saved_at >= 0) cross(up_[made.device], bytes);
  }
  return busy.empty() ? 0 : *std::max_element(busy.begin(), busy.end());
}

}  // namespace sluice
