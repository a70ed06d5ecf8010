// The best tape of a chain where copies run beside computation: what a copy costs then depends on
// the whole plan, so candidates are judged by whoever can list and replay them.
//
// Candidates come from frontiers for several prices of a copy (plan/passes/frontier), from the
// relaxation that also bounds them (plan/passes/fate_rounding), and from a local search around the
// best of these that changes one choice, in short chains two choices, at a time. What a budget
// allows is searched after fixed budgets below it, rungs that depend on the chain alone, in rising
// order, and never falls behind the best of those: so the answer for more memory is not slower. How
// much is searched depends on the number of stages alone, never on a clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "plan/passes/fates.hpp"
#include "plan/passes/frontier.hpp"

namespace sluice {

/// Seconds of a tape as it would be simulated where loads may come early within so many bytes;
/// infinity: it blocks or does not fit.
using FateScore = std::function<double(const Tape&, std::int64_t)>;

class FateSearch {
 public:
  struct Answer {
    Tape tape;
    std::int64_t bytes = 0;  ///< what the plan may use, early loads included
    double seconds = 0;      ///< its score
  };

  FateSearch(const Chain& chain, FateScore score) : FateSearch(chain, score, Frontier(chain)) {}
  /// `serial`: the chain's frontier, where the caller has it already.
  FateSearch(const Chain& chain, FateScore score, Frontier serial);

  /// The least bytes that any tape found needs.
  std::int64_t least() const { return frontiers_.front().points().front().peak; }

  /// The best within a budget of at least least().
  Answer within(std::int64_t budget);

 private:
  Answer search(std::int64_t bytes, std::int64_t judgements);
  double judge(const Tape& tape, std::int64_t bytes);
  /// Its seconds; `best` becomes the better one.
  double consider(const Tape& tape, std::int64_t bytes, Answer& best);
  void round(std::int64_t bytes, Answer& best);
  void descend(std::vector<Fate> fates, std::int64_t bytes, Answer& best);
  void improve(std::int64_t bytes, Answer& best);
  bool improve_once(std::int64_t bytes, Choices& choices, Answer& best);

  Chain chain_;
  FateScore score_;
  std::vector<Frontier> frontiers_;  ///< by price of a copy, the first one serial
  std::vector<std::int64_t> rungs_;
  std::vector<Answer> answers_;  ///< of the rungs searched so far
  std::map<std::pair<std::vector<std::uint32_t>, std::int64_t>, double> judged_;
  std::int64_t left_ = 0;  ///< judgements that this rung may still ask for
};

/// What a tape chooses, as far as choices can say it: a stage that runs a third time says that it
/// runs again.
Choices choices_of(const Chain& chain, const Tape& tape);

}  // namespace sluice
