#include "placement/schedule.hpp"

#include <algorithm>

namespace sluice {

PlacementSchedule synchronous_schedule(const PlacementQuestion& question, Placing placing) {
  std::vector<PlacementMove> moves = moves_of(question, placing);
  return {std::move(placing), std::move(moves)};
}

double move_seconds(const PlacementQuestion& question, const PlacementMove& move) {
  const PlacementProblem& problem = question.problem();
  const PlacementProblem::Rates& rates =
      move.synchronous() ? problem.synchronous : *problem.asynchronous;
  return move.to_fast ? question.fetch_s(move.tensor, rates) : question.save_s(move.tensor, rates);
}

std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question,
                                     const PlacementSchedule& schedule) {
  std::vector<std::int64_t> bytes = fast_bytes(question, schedule.placing);
  for (const PlacementMove& move : schedule.moves) {
    const std::uint32_t first =
        move.to_fast ? move.begin : save_in(question, move.tensor, move.use).begin;
    for (std::uint32_t k = first; k < std::min(move.needed, question.kernel_count()); ++k)
      bytes[k] += question.tensor(move.tensor).bytes;
  }
  return bytes;
}

double predicted_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule) {
  return predicted_seconds(question, kernel_seconds(question, schedule.placing), schedule.moves);
}

double predicted_seconds(const PlacementQuestion& question, const std::vector<double>& kernel_s,
                         const std::vector<PlacementMove>& moves) {
  // For each kernel, the time at which the last move for which it waits has ended.
  std::vector<double> arrived(question.kernel_count() + 1, 0);
  double clock = 0, engine = 0;
  std::size_t next = 0;
  for (std::uint32_t k = 0; k <= question.kernel_count(); ++k) {
    clock = std::max(clock, arrived[k]);
    const std::size_t first = next;
    for (; next < moves.size() && moves[next].begin == k; ++next)
      if (moves[next].synchronous()) clock += move_seconds(question, moves[next]);
    for (std::size_t m = first; m < next; ++m) {
      if (moves[m].synchronous()) continue;
      engine = std::max(engine, clock) + move_seconds(question, moves[m]);
      arrived[moves[m].needed] = std::max(arrived[moves[m].needed], engine);
    }
    if (k < question.kernel_count()) clock += kernel_s[k];
  }
  return clock;
}

}  // namespace sluice
