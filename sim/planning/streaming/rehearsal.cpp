#include "planning/streaming/rehearsal.hpp"

#include <algorithm>
#include <limits>

#include "planning/streaming/load_order.hpp"
#include "planning/streaming/run_clock.hpp"

namespace sluice {

namespace {

std::vector<GroupPieces> pieces_of_groups(const StreamedCase& streamed,
                                          const StreamedChoice& choice) {
  std::vector<GroupPieces> pieces;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g)
    pieces.push_back(group_pieces(streamed, choice, g));
  return pieces;
}

std::int64_t sum(const std::vector<std::int64_t>& bytes, std::size_t first, std::size_t end) {
  std::int64_t all = 0;
  for (std::size_t i = first; i < end; ++i) all += bytes[i];
  return all;
}

}  // namespace

Rehearsal::Rehearsal(const StreamedCase& streamed, const StreamedChoice& choice)
    : streamed_(streamed),
      choice_(choice),
      runs_(group_runs(streamed.groups.size(), streamed.micro_batches, choice.in_flight)),
      pieces_(pieces_of_groups(streamed, choice)),
      levels_(streamed_, choice_, runs_, constant()) {
  for (const GroupPieces& pieces : pieces_)
    turns_.push_back(sum(pieces.bytes, pieces.kept, pieces.bytes.size()));
  saves_before_.push_back(0);
  for (const GroupRun& run : runs_)
    saves_before_.push_back(saves_before_.back() + (saves(run) ? run.count : 0));
  levels_.set_room(bytes());
}

/// Returns for each group the bytes that are on the device from the start to the end of a run of the group: the group's
/// weights, all weights that stay, the group's workspace, and the caches.
std::vector<std::int64_t> Rehearsal::constant() const {
  std::int64_t stay = streamed_.caches;
  for (const GroupPieces& pieces : pieces_) stay += sum(pieces.bytes, 0, pieces.kept);
  std::vector<std::int64_t> bytes;
  for (std::size_t g = 0; g < pieces_.size(); ++g)
    bytes.push_back(stay + streamed_.groups[g].bytes.workspace +
                    sum(pieces_[g].bytes, pieces_[g].kept, pieces_[g].bytes.size()));
  return bytes;
}

void Rehearsal::set_ahead(std::int64_t bytes) {
  choice_.ahead = bytes;
  levels_.set_room(this->bytes());
}

bool Rehearsal::saves_answers(const GroupRun& run) const {
  return saves(run) && (!choice_.offloads(run.group) || run.group + 1 == streamed_.groups.size());
}

Rehearsal::Copy Rehearsal::save_copy(const GroupRun& run) const {
  const bool real = streamed_.real && saves_answers(run);
  const CopyTime& up = real ? streamed_.real->answers : streamed_.up;
  return {saves(run) ? up.seconds(levels_.saved_bytes(run)) : 0, up.latency_s,
          real ? streamed_.real->answers_engine : RealCopies::up_engine};
}

Rehearsal::Copy Rehearsal::input_copy(const GroupRun& run) const {
  const bool real = streamed_.real && run.group == 0;
  const CopyTime& down = real ? streamed_.real->inputs : streamed_.down;
  return {loads_input(run) ? down.seconds(streamed_.groups[run.group].bytes.input) : 0,
          down.latency_s, real ? streamed_.real->inputs_engine : RealCopies::down_engine};
}

RehearsedOrder Rehearsal::order() const {
  RehearsedOrder best = order_loads(*this);
  if (streamed_.steps == 1 || !streamed_.overlap) return best;
  double best_s = seconds(best.loads);
  for (RehearsedOrder& across : orders_across_steps(*this)) {
    best.used = std::max(best.used, across.used);
    // If `across` has no loads, loads across steps do not fit into bytes() bytes. With fewer bytes,
    // loads have another order, which may fit. So `best` is the result only for exactly bytes() bytes.
    if (across.loads.empty()) best.used = bytes();
    const double across_s = across.loads.empty() ? best_s : seconds(across.loads);
    if (across_s >= best_s) continue;
    best.loads = std::move(across.loads);
    best_s = across_s;
  }
  return best;
}

std::vector<RehearsedLoad> Rehearsal::prologue(const std::vector<RehearsedLoad>& loads) const {
  std::vector<RehearsedLoad> early;
  for (const RehearsedLoad& load : loads)
    if (load.at < 0) early.push_back(load);
  const auto earlier = [](const RehearsedLoad& a, const RehearsedLoad& b) { return a.at < b.at; };
  std::stable_sort(early.begin(), early.end(), earlier);
  if (!kept_in_prologue(streamed_)) return early;
  std::vector<RehearsedLoad> all;
  std::size_t next = 0;
  for (std::size_t r = 0; r < streamed_.groups.size(); ++r) {
    while (next < early.size() && early[next].slot < runs_[r].first_slot) ++next;
    const std::int64_t at = next < early.size() ? early[next].at : 0;
    for (std::size_t piece = 0; piece < kept(runs_[r].group); ++piece)
      all.push_back({r, runs_[r].first_slot, static_cast<std::int32_t>(piece), at,
                     streamed_.down.seconds(pieces(runs_[r].group)[piece])});
  }
  all.insert(all.end(), early.begin(), early.end());
  std::stable_sort(all.begin(), all.end(), earlier);
  return all;
}

double Rehearsal::seconds(const std::vector<RehearsedLoad>& loads) const {
  return RunClock(*this, loads).makespan();
}

}  // namespace sluice
