// Finds the best tape of a chain if copies run during computation. In this case, the cost of a copy depends on the
// whole plan. So the caller, who can make and replay plans, gives a function that returns the seconds of a candidate.
//
// A candidate is a tape together with the bytes that it may use, including bytes for early loads. The rungs are fixed
// budgets. The first rung is the bytes of the smallest tape. The last rung is 1.5 times the bytes of the tape that
// keeps all tensors. Each rung has a few candidates, which do not depend on the requested budget. The code of
// tape_time.hpp estimates the seconds of tapes. By this estimate, a candidate is faster than all tapes that were found
// with fewer bytes. In short chains, it may also be a little slower. The candidates come from:
//   1. frontiers for several prices of a copy (frontier.hpp)
//   2. roundings of the relaxation that also gives the bound (rounding.hpp)
//   3. the tapes that treat every stage alike (choices.hpp)
//   4. a local search that changes one choice at a time, and in short chains also two choices
// The answer for a budget is the best of those candidates of all rungs that fit into the budget. So more memory never
// makes the answer slower. The search also replays each tape that treats every stage alike, first with the whole
// budget. In each of a few further replays of the tape, the device has one byte less than the replay before used, so
// that some loads come later. So no such tape is faster than the answer. The search goes from rungs with many bytes to
// rungs with fewer bytes. Each rung has a lower bound of the seconds of all tapes within its bytes. If this bound is
// not below the seconds of the best result so far, the search ends: no tape within these bytes or fewer is faster. The
// effort of the search depends only on the number of stages, and never on a clock.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fates/choices.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/frontier.hpp"
#include "fates/tape_time.hpp"

namespace sluice {

/// The result of simulating the whole run with a tape. In this run, the device may use a given number of bytes, which
/// includes the bytes for early loads.
struct Scored {
  /// The seconds of the run. If the run ends in a deadlock or does not fit, the number is infinite.
  double seconds = 0;
  /// The bytes that the run uses. With fewer bytes, some loads would come later.
  std::int64_t bytes = 0;
};
using FateScore = std::function<Scored(const Tape&, std::int64_t)>;

class FateSearch {
 public:
  struct Answer {
    Tape tape;
    std::int64_t bytes = 0;  ///< the bytes that the plan may use, including early loads
    /// The seconds of the best candidate. If no candidate was found, the number is infinite.
    double seconds = 0;
  };

  /// If `one_of_several` is true, the caller makes several searches, and compares the answers
  /// (FateRequest::one_of_several). In this case, the search tries fewer candidates, and the caller tries the tapes
  /// that treat every stage alike.
  FateSearch(const Chain& chain, FateScore score, const FateRun& run, bool one_of_several = false);

  /// Returns the bytes of the smallest tape that was found so far.
  std::int64_t least();

  /// Returns the best candidate within a budget. If no candidate takes less than `worth` seconds, the seconds of the
  /// answer are infinite. The budget must not be below least().
  Answer within(std::int64_t budget, double worth = std::numeric_limits<double>::infinity());

  /// Returns how many pairs of a tape and a budget have been replayed so far.
  std::size_t judged() const { return judged_.size(); }

 private:
  using Key = std::vector<std::uint32_t>;
  struct Candidate {
    Tape tape;
    std::int64_t bytes = 0;  ///< the bytes of the candidate, at most the bytes of the rung
    double about = 0;        ///< estimated seconds
  };
  struct Estimate {
    std::int64_t peak = 0;
    double about = 0;
  };
  struct Rung {
    std::int64_t bytes = 0;
    std::optional<FateBound> bound = {};
    std::vector<Candidate> candidates = {};
    bool searched = false;
  };

  void prepare();
  const FateBound& bound(Rung& rung);
  void search(std::size_t rung);
  void shortlist(Rung& rung, std::int64_t below, std::int64_t estimates);
  int rungs_in_vain() const;
  double worth_a_replay() const;
  EstimatedSeconds estimate_within(const Tape& tape, const TapeMemory& memory,
                                   std::int64_t bytes) const;
  void consider_alike(std::int64_t bytes, Answer& best);
  Scored consider(const Tape& tape, std::int64_t bytes, Answer& best);
  double least_seconds(const Tape& tape) const;
  double estimate(const Tape& tape);
  double take(const Tape& tape, Candidate& best);
  void round(const FateBound& bound, Candidate& best);
  void descend(std::vector<Fate> fates, Candidate& best);
  void improve(Candidate& best);
  bool improve_once(Choices& choices, Candidate& best);

  Chain chain_;
  FateScore score_;
  FateRun run_;
  bool one_of_several_;
  /// For a longer chain, the search makes fewer frontiers, rungs and estimates. It counts as many stages as the chain
  /// has, but at least 41 if `one_of_several` is true: the caller then makes several searches, and each does less work.
  std::size_t looked_at_as_;
  std::vector<Tape> alike_;  ///< the tapes of the strategies that treat every stage alike
  /// The frontiers differ in the number by which the seconds of copies are multiplied (FrontierSettings::copy_price).
  /// If `looked_at_as_` is at most 100, this number is 1 in the first frontier, as if copies and computation took
  /// turns. If host memory is limited, there are further frontiers, whose tapes use fewer bytes of it.
  std::vector<Frontier> frontiers_;
  std::vector<Rung> rungs_;
  std::map<std::pair<Key, std::int64_t>, Scored> judged_;
  // The tapes of the rung that is being searched, with their estimates.
  std::map<Key, std::pair<Tape, Estimate>> pool_;
  /// `room_` is the bytes of this rung. `left_` is the number of estimates that may still be made.
  std::int64_t room_ = 0, left_ = 0;
};

/// Returns the choices of a tape. Choices cannot express that a stage runs three times. In the result, such a stage
/// runs twice.
Choices choices_of(const Chain& chain, const Tape& tape);

}  // namespace sluice
