// Finds the best tape of a chain where copies run beside computation. The cost of a copy then
// depends on the whole plan, so the caller, who can list and replay plans, judges the candidates.
//
// A candidate is a tape with the bytes that it may use, including early loads. The rungs are
// budgets from the least that works to half as much again as keeping everything needs. Each rung
// has a few candidates, whatever the budget that is asked for. They are those that, by
// fates/tape_time, are faster than everything that needs less, among
//   frontiers for several prices of a copy (frontier.hpp),
//   the relaxation that also bounds them, rounded (rounding.hpp),
//   the strategies that treat every stage alike, and
//   a local search that changes one choice, in short chains two choices, at a time.
// The answer for a budget is the best of the candidates of all rungs that fit in it, so more memory
// is not slower. It also covers the strategies that treat every stage alike, within the whole
// budget and the next few lesser budgets that change anything, so none of them is faster. Rungs
// whose bound is no better than what was found are left out, because none of their candidates could
// be better. How much is searched depends on the number of stages alone, never on a clock.
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

/// The result of a tape in the whole run, as it would be simulated if loads may come early within
/// so many bytes.
struct Scored {
  double seconds = 0;      ///< infinity: the run blocks or does not fit
  std::int64_t bytes = 0;  ///< with no more bytes than these, loads would come as they do
};
using FateScore = std::function<Scored(const Tape&, std::int64_t)>;

class FateSearch {
 public:
  struct Answer {
    Tape tape;
    std::int64_t bytes = 0;  ///< what the plan may use, early loads included
    double seconds = 0;      ///< its score; infinity: nothing was found
  };

  /// `one_of_several`: the search is for one of several numbers of micro-batches side by side. It
  /// then looks less closely, and leaves the strategies that treat every stage alike to the caller,
  /// who compares.
  FateSearch(const Chain& chain, FateScore score, const FateRun& run, bool one_of_several = false);

  /// The least bytes that any of the tapes found needs.
  std::int64_t least();

  /// The best candidate within a budget of at least least(), among those that take less than
  /// `worth` seconds.
  Answer within(std::int64_t budget, double worth = std::numeric_limits<double>::infinity());

  /// The number of tapes that have been listed and replayed so far.
  std::size_t judged() const { return judged_.size(); }

 private:
  using Key = std::vector<std::uint32_t>;
  struct Candidate {
    Tape tape;
    std::int64_t bytes = 0;  ///< of the whole rung, or what the tape needs
    double about = 0;        ///< seconds
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
  AboutSeconds about_within(const Tape& tape, const TapeMemory& memory, std::int64_t bytes) const;
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
  std::size_t looked_at_as_;         ///< the chain is searched as closely as one with this number
                                     ///< of stages
  std::vector<Tape> alike_;          ///< strategies that treat every stage alike
  std::vector<Frontier> frontiers_;  ///< by price of a copy, the first one serial
  std::vector<Rung> rungs_;
  std::map<std::pair<Key, std::int64_t>, Scored> judged_;
  // Of the rung that is being searched:
  std::map<Key, std::pair<Tape, Estimate>> pool_;
  std::int64_t room_ = 0, left_ = 0;  ///< bytes; estimates that may still be asked for
};

/// What a tape chooses, as far as choices can express it: a stage that runs a third time appears as
/// one that runs again.
Choices choices_of(const Chain& chain, const Tape& tape);

}  // namespace sluice
