// The partial segments of a frontier (frontier_solver.hpp): how they are solved, and how their tapes are written.
#include <algorithm>

#include "fates/optimal/frontier_solver.hpp"

namespace sluice {
namespace {

/// The greatest number of stages for which the search tries partial segments. Their number grows with the third power
/// of the number of stages.
constexpr std::size_t most_partial_stages = 12;

/// Returns how many triples of stages s < m <= t there are with t < n.
constexpr std::size_t triples(std::size_t n) { return (n + 1) * n * (n - 1) / 6; }

/// How many rows there are for each of these triples, in a partial segment and in each of its openings.
constexpr std::size_t rows_of_triple = 6;

}  // namespace

std::size_t Frontier::Solver::count_partial_rows(const Frontier& frontier) {
  const std::size_t n = frontier.chain_.stages.size();
  const bool branches = std::any_of(frontier.carried_.begin(), frontier.carried_.end(),
                                    [](const ChainCarried& carried) { return carried.before > 0; });
  if (n > most_partial_stages || !frontier.parts_all_ || branches) return 0;
  return 3 * triples(n) * rows_of_triple;  // for each Partial, one partial segment and two openings
}

std::size_t Frontier::Solver::partial_row(const Frontier& frontier, const Partial& partial) {
  const auto [s, m, t, ready, leaves] = partial;
  const std::size_t state = static_cast<std::size_t>(ready) * 2 + (leaves ? 1 : 0);
  const std::size_t triple = triples(t) + m * (m - 1) / 2 + s;
  return count_segments(frontier) + triple * rows_of_triple + state;
}

std::size_t Frontier::Solver::opening_row(const Frontier& frontier, const Opening& opening) {
  const std::size_t n = frontier.chain_.stages.size();
  return partial_row(frontier, opening.passes) + (opening.stays ? 2 : 1) * triples(n) * rows_of_triple;
}

/// Solves the partial segments from s to t, and the openings of them and of segment s … t.
void Frontier::Solver::solve_partial(std::size_t s, std::size_t t) {
  const auto each_partial = [&](Ready ready, const auto& use) {
    for (std::size_t m = s + 1; m <= t; ++m)
      for (const bool leaves : {false, true})
        if (!leaves || may_part(m - 1)) use(Partial{s, m, t, ready, leaves});
  };
  for (const Ready ready : {Ready::no, Ready::here, Ready::away}) {
    if (!may_be(t, ready) || !is_part(s, t, ready)) continue;
    each_partial(ready, [&](const Partial& partial) {
      for (const bool stays : {false, true}) open({partial, stays});
    });
    if (s == 0 || ready == Ready::away) continue;
    each_partial(ready, [&](const Partial& partial) { solve_partial(partial); });
  }
}

/// Finds the openings of a segment or partial segment. An opening begins with the forward passes of the stages s … k
/// - 1, for any k up to m. Then the backward passes t … m are executed from boundary k. For this, segment k … t is
/// executed if k equals m, and otherwise a partial segment.
void Frontier::Solver::open(const Opening& opening) {
  const auto [s, m, t, ready, leaves] = opening.passes;
  const bool stays = opening.stays;
  const Segment segment{.s = s, .t = t, .ready = ready};
  best_.clear();
  for (std::size_t k = s + 1; k <= m; ++k) {
    const ChainStage& stage = chain_.stages[k - 1];
    const bool keeps = leaves && k == m, read = keeps && stage.reads_output;
    const std::int64_t held = (stays ? boundary(s) : 0) + (keeps ? stage.inner.bytes : 0);
    add_after(passes_before(segment, k, keeps, stays),
              k == m ? row_of(Segment{.s = k, .t = t, .needed = read, .ready = ready})
                     : row_of(Partial{k, m, t, ready, leaves}),
              held);
  }
  store(opening_row(opening));
}

/// Finds the ways to execute a partial segment. Either boundary s leaves the device in the opening. Or it stays in an
/// opening that ends with the backward pass of a stage l, where l > m. In this case, a partial segment from s to l - 1
/// follows.
void Frontier::Solver::solve_partial(const Partial& partial) {
  const auto [s, m, t, ready, leaves] = partial;
  best_.clear();
  add_after({.split = static_cast<std::uint16_t>(m)}, opening_row({.passes = partial}), 0);
  for (std::size_t l = m + 1; l <= t; ++l)
    for (const bool keeps : {true, false}) {
      if (keeps ? !may_part(l - 1) : may_part(l - 1) && keeps_nothing(l - 1)) continue;
      const ParetoNode node{.split = static_cast<std::uint16_t>(l), .keeps = keeps};
      join({node, opening_row({.passes = {s, l, t, ready, keeps}, .stays = true})},
           row_of(Partial{s, m, l - 1, keeps ? Ready::here : Ready::no, leaves}));
    }
  store(row_of(partial));
}

void Frontier::Solver::write_opening(const Frontier& frontier, const Opening& opening,
                                     std::uint32_t point, Tape& tape) {
  const auto [s, m, t, ready, leaves] = opening.passes;
  const ParetoNode& node = frontier.segments_[opening_row(frontier, opening)].at(point);
  const std::size_t k = node.split;
  write_passes(s, k, node.keeps, tape);
  if (k < m) return write_partial(frontier, {k, m, t, ready, leaves}, node.first, tape);
  const bool read = leaves && frontier.chain_.stages[k - 1].reads_output;
  frontier.write({.s = k, .t = t, .needed = read, .ready = ready}, node.first, tape);
}

void Frontier::Solver::write_partial(const Frontier& frontier, const Partial& partial,
                                     std::uint32_t point, Tape& tape) {
  const auto [s, m, t, ready, leaves] = partial;
  const ParetoNode& node = frontier.segments_[partial_row(frontier, partial)].at(point);
  const std::size_t l = node.split;
  if (l == m) return write_opening(frontier, {.passes = partial}, node.first, tape);
  write_opening(frontier, {.passes = {s, l, t, ready, node.keeps}, .stays = true}, node.first,
                tape);
  write_partial(frontier, {s, m, l - 1, node.keeps ? Ready::here : Ready::no, leaves}, node.second,
                tape);
}

}  // namespace sluice
