// Finds the best tape of a chain if copies run during computation. The cost of a copy then depends
// on the whole plan, so the caller, who can list and replay plans, judges the candidates.
//
// A candidate is a tape with the bytes that it may use, including early loads. The rungs are fixed budgets, from the
// least that works to 1.5 times what keeping everything needs. Each rung has a few candidates, which do not depend on
// the requested budget. They are those that are faster, by the estimate of fates/tape_time, than everything that needs
// less memory. The candidates come from four sources:
//   frontiers for several prices of a copy (frontier.hpp),
//   the relaxation that also gives the bound, rounded (rounding.hpp),
//   the strategies that treat every stage alike, and
//   a local search that changes one choice, in short chains two choices, at a time.
// The answer for a budget is the best candidate of all rungs that fits in it, so more memory never makes it slower. The
// search also tries the strategies that treat every stage alike, so that none of them is faster than the answer. It
// tries each within the whole budget, and within the next few smaller budgets that make a difference. Rungs whose bound
// is no better than the best result so far are skipped, because none of their candidates can be better. The effort
// depends only on the number of stages, never on a clock.
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

/// The result of a tape in the whole run, as it would be simulated if loads may use this many bytes to come
/// early.
struct Scored {
  double seconds = 0;      ///< infinity: the run blocks or does not fit
  std::int64_t bytes = 0;  ///< with fewer bytes than these, loads would come later
};
using FateScore = std::function<Scored(const Tape&, std::int64_t)>;

class FateSearch {
 public:
  struct Answer {
    Tape tape;
    std::int64_t bytes = 0;  ///< the bytes that the plan may use, including early loads
    double seconds = 0;      ///< its score; infinity: nothing was found
  };

  /// `one_of_several`: the caller also searches for other numbers of micro-batches side by side, and compares the
  /// answers. The search is then less thorough, and leaves the strategies that treat every stage alike to the
  /// caller.
  FateSearch(const Chain& chain, FateScore score, const FateRun& run, bool one_of_several = false);

  /// The least bytes that any tape found so far needs.
  std::int64_t least();

  /// The best candidate within a budget, if it takes less than `worth` seconds. The budget must be at least least()
  /// bytes.
  Answer within(std::int64_t budget, double worth = std::numeric_limits<double>::infinity());

  /// The number of tapes that have been listed and replayed so far.
  std::size_t judged() const { return judged_.size(); }

 private:
  using Key = std::vector<std::uint32_t>;
  struct Candidate {
    Tape tape;
    std::int64_t bytes = 0;  ///< of the whole rung, or as many as the tape needs
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
  /// The chain is searched as thoroughly as one with this number of stages.
  std::size_t looked_at_as_;
  std::vector<Tape> alike_;          ///< strategies that treat every stage alike
  std::vector<Frontier> frontiers_;  ///< indexed by price of a copy; the first one is serial
  std::vector<Rung> rungs_;
  std::map<std::pair<Key, std::int64_t>, Scored> judged_;
  // The tapes of the rung that is being searched, with their estimates.
  std::map<Key, std::pair<Tape, Estimate>> pool_;
  std::int64_t room_ = 0, left_ = 0;  ///< bytes; estimates that may still be made
};

/// Returns the choices of a tape. Choices cannot express that a stage runs three times: it becomes a stage that runs
/// again once.
Choices choices_of(const Chain& chain, const Tape& tape);

}  // namespace sluice
