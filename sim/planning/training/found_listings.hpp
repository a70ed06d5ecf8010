// Lists the loads of each tape that a search for fates tries in several ways, and remembers which way was the fastest.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "fates/tape.hpp"
#include "planning/training/pace.hpp"
#include "planning/training/training.hpp"

namespace sluice {

struct ListedScore {
  Scored scored = {std::numeric_limits<double>::infinity(), 0};
  TriedListing listing = {};
};
/// Lists the loads of a run in several ways, and returns the fastest. All runs stay within Listing::capacity. The bytes
/// are those that the first device needs if the loads are listed as score() lists them. The function leaves out ways
/// whose lower bound is above `worth` seconds.
ListedScore score_listings(const Listing& listing, double worth);

class FoundListings {
 public:
  struct TriedTape {
    const Chain* chain;
    Tape tape;
    std::int64_t bytes = 0;
  };
  /// Returns the score of the fastest way to list the loads of the tape. `fastest` is the seconds of the fastest tape
  /// so far, and is updated.
  Scored score(const Listing& listing, TriedTape tried, double& fastest) {
    const ListedScore best = score_listings(listing, fastest);
    if (best.scored.seconds <= fastest * (1 + 1e-12))
      found_.emplace_back(std::move(tried), best.listing);
    fastest = std::min(fastest, best.scored.seconds);
    return best.scored;
  }
  /// Returns the fastest way to list the loads of the tape that the search has chosen.
  TriedListing listing(const Chain& chain, const FateChoice& chosen) const {
    for (const auto& [tried, listing] : found_)
      if (tried.chain == &chain && tried.bytes == chosen.bytes && tried.tape == chosen.tape)
        return listing;
    return {};
  }

 private:
  /// The tapes that were at least as fast as all tapes before them.
  std::vector<std::pair<TriedTape, TriedListing>> found_;
};

}  // namespace sluice
