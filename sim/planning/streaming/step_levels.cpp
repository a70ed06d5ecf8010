#include <algorithm>
#include <utility>

#include "planning/streaming/load_order.hpp"

namespace sluice {
namespace {

/// Finds for each run of a step which weights of later runs are already on the device. Checks whether they fit. All
/// steps have the same loads.
class StepLevels {
 public:
  StepLevels(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads)
      : rehearsal_(rehearsal), covers_(rehearsal.runs().size()) {
    const auto runs = static_cast<std::int64_t>(covers_.size());
    for (const RehearsedLoad& load : loads) {
      if (load.piece == RehearsedLoad::input) continue;
      const GroupRun& own = rehearsal.runs()[load.run];
      const std::int64_t bytes = rehearsal.pieces(own.group)[static_cast<std::size_t>(load.piece)];
      for (std::int64_t q = static_cast<std::int64_t>(load.run) - 1;; --q) {
        const std::int64_t step = q < 0 ? -1 : 0, place = q - step * runs;
        if (place < 0) break;
        const GroupRun& run = rehearsal.runs()[static_cast<std::size_t>(place)];
        const std::int64_t first = run.first_slot + step * rehearsal.slots();
        if (first + run.count <= load.at) break;
        covers_[static_cast<std::size_t>(place)].emplace_back(
            std::max<std::int64_t>(0, load.at - first), bytes);
      }
    }
  }

  bool fit() {
    for (std::size_t r = 0; r < covers_.size(); ++r) {
      auto& covers = covers_[r];
      std::sort(covers.begin(), covers.end());
      std::int64_t ahead = 0;
      for (std::size_t c = 0; c < covers.size(); ++c) {
        ahead += covers[c].second;
        if (c + 1 < covers.size() && covers[c + 1].first == covers[c].first) continue;
        const std::int64_t end =
            c + 1 < covers.size() ? covers[c + 1].first : rehearsal_.runs()[r].count;
        for (const std::int64_t m : {covers[c].first, end - 1})
          if (rehearsal_.level(r, m) + ahead > rehearsal_.bytes()) return false;
      }
    }
    return true;
  }

 private:
  const Rehearsal& rehearsal_;
  /// Indexed by run: the weights of later runs that are on the device, one pair for each piece. The first element is
  /// the micro-batch of this run from which on the piece is there, the second is the bytes of the piece.
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> covers_;
};

}  // namespace

bool repeats_within_memory(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads) {
  return StepLevels(rehearsal, loads).fit();
}

}  // namespace sluice
