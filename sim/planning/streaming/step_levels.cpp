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
    // How the bytes of pieces that are there during a whole run change from one run to the next, for the previous step
    // and this step.
    std::vector<std::int64_t> changes(static_cast<std::size_t>(2 * runs + 1), 0);
    for (const RehearsedLoad& load : loads) {
      if (load.piece == RehearsedLoad::input) continue;
      const auto own = static_cast<std::int64_t>(load.run);
      const std::int64_t bytes =
          rehearsal.pieces(rehearsal.runs()[load.run].group)[static_cast<std::size_t>(load.piece)];
      std::int64_t run = first_covered(load.at);
      if (run >= own) continue;
      // During the first run, the piece may be missing at the beginning. It is there during all of the others.
      const std::int64_t begin = load.at - first_slot(run);
      if (begin > 0) covers_[place(run++)].emplace_back(begin, bytes);
      changes[static_cast<std::size_t>(run + runs)] += bytes;
      changes[static_cast<std::size_t>(own + runs)] -= bytes;
    }
    std::int64_t there = 0;
    std::vector<std::int64_t> all(covers_.size(), 0);
    for (std::int64_t q = -runs; q < runs; ++q) {
      there += changes[static_cast<std::size_t>(q + runs)];
      all[place(q)] += there;
    }
    for (std::size_t r = 0; r < covers_.size(); ++r)
      if (all[r] > 0) covers_[r].emplace_back(0, all[r]);
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
  /// Returns the index of a run in its step. Runs below 0 belong to the previous step.
  std::size_t place(std::int64_t run) const {
    return static_cast<std::size_t>(run < 0 ? run + static_cast<std::int64_t>(covers_.size())
                                            : run);
  }
  std::int64_t first_slot(std::int64_t run) const {
    return rehearsal_.runs()[place(run)].first_slot - (run < 0 ? rehearsal_.slots() : 0);
  }
  /// Returns the first run of the previous step or of this step that ends behind the slot.
  std::int64_t first_covered(std::int64_t slot) const {
    const std::int64_t in_step = slot < 0 ? slot + rehearsal_.slots() : slot;
    const std::vector<GroupRun>& runs = rehearsal_.runs();
    const auto found = std::ranges::partition_point(
        runs, [&](const GroupRun& run) { return run.last_slot() < in_step; });
    return (found - runs.begin()) - (slot < 0 ? static_cast<std::int64_t>(runs.size()) : 0);
  }

  const Rehearsal& rehearsal_;
  /// Indexed by run: the weights of later runs that are on the device. The first element of a pair is the micro-batch of
  /// this run from which on pieces are there, the second is the bytes of these pieces.
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> covers_;
};

}  // namespace

bool repeats_within_memory(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads) {
  return StepLevels(rehearsal, loads).fit();
}

}  // namespace sluice
