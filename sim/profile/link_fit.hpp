// Finds the bandwidth, set-up and latency of a link from measured copies between host memory and a device.
//
// A single copy of s bytes takes latency + set-up + s / bandwidth. If copies follow each other without a pause (the
// profile says `method: queued`), each copy takes set-up + s / bandwidth. A copy occupies the copy engine for this
// time. To distinguish latency and set-up, both single and queued copies must be measured. If only one of the two was
// measured, the whole time of a copy of 0 bytes counts as set-up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace sluice {

/// The parameters of copies that take constant + bytes / bandwidth seconds. The fit minimises the sum of the squares of
/// the relative errors.
struct CopyFit {
  std::size_t rows = 0;
  double constant_s = 0, bandwidth = 0;
  /// The median and the largest of the errors |fitted / measured - 1|.
  double median_error = 0, worst_error = 0;
};

/// One direction of copies from or to one kind of host memory.
struct LinkDirection {
  std::string direction;  ///< "down" (to the device) or "up"
  std::string memory;     ///< the kind of host memory: "pinned" or "pageable"
  /// The fit of the queued copies. If the profile has none, this is the fit of the single copies.
  CopyFit fit;
  std::optional<CopyFit> single;  ///< the fit of the single copies, if there are also queued copies
  double setup_s() const { return fit.constant_s; }
  double latency_s() const;
};

/// Fits the rows whose operator is `copy`. The fits are sorted by direction and memory. Throws InputError if the copies
/// of one fit all have the same size. Also throws InputError at a row without bytes or without a direction.
std::vector<LinkDirection> fit_link(const Profile& profile);

/// Returns a part of a platform file: a document with the key `links: {NAME: …}`. If `platform` is not empty, the
/// document is a variant of `platform`. The link has the directions (down, up) and kinds of memory (pinned, pageable)
/// that were measured. If only pageable memory was measured, the key `copies` of the link is `pageable`. The link then
/// keeps the rates of `platform` for pinned memory. Throws InputError if the link of `platform` has no bandwidth.
Value link_document(const std::vector<LinkDirection>& directions, const std::string& link,
                    const std::string& joins, const std::string& platform);

}  // namespace sluice
