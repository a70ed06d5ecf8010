// Copies between a host's memory and a device as they were measured, and the link that they say.
//
// A copy of s bytes by itself takes latency + set-up + s / bandwidth. Of copies that follow each
// other without a pause (method: queued) each takes set-up + s / bandwidth: what the engine is
// occupied for. The two are told apart only where both were measured; else what is left at 0 bytes
// is taken for set-up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace sluice {

/// seconds = constant + bytes / bandwidth, by least squares of relative errors.
struct CopyFit {
  std::size_t rows = 0;
  double constant_s = 0, bandwidth = 0;
  double median_error = 0, worst_error = 0;  ///< of |fitted / measured - 1|
};

/// One direction of copies from or to one kind of host memory.
struct LinkDirection {
  std::string direction;          ///< "down": to the device; "up"
  std::string memory;             ///< "pinned", "pageable"
  CopyFit fit;                    ///< queued where there are such rows, else single ones
  std::optional<CopyFit> single;  ///< beside queued ones
  double setup_s() const { return fit.constant_s; }
  double latency_s() const;
};

/// Of the rows whose operator is `copy`, in the order of direction and memory. Throws InputError:
/// no copies, a row without bytes or a direction, fewer than two sizes.
std::vector<LinkDirection> fit_link(const Profile& profile);

/// `links: {NAME: …}` of a platform; over `platform` as its base where that is not empty. Down and
/// up, pinned and pageable where they were measured. Where only pageable memory was, the link keeps
/// its own rates of pinned memory and its copies are said to be pageable. Throws InputError: it has
/// none.
Value link_document(const std::vector<LinkDirection>& directions, const std::string& link,
                    const std::string& joins, const std::string& platform);

}  // namespace sluice
