#include "trace/hdf5/folds.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "trace/hdf5/table.hpp"

namespace sluice {

using hdf5::Failure;

namespace {

/// The largest number of rows of a table, if all repetitions of folds are counted as rows.
constexpr std::int64_t most_rows = std::int64_t{1} << 62;

void write_periods(Tree& tree, ChunkFilter& filter, const std::vector<Fold>& folds) {
  Table table(tree, filter, "/folds", folds.size());
  table.numbers<std::int64_t>("first_row", "",
                              "first span of the period, a row of /spans as it is stored",
                              [&](std::size_t i) { return folds[i].spans.first; });
  table.numbers<std::int64_t>("rows", "", "spans of the period",
                              [&](std::size_t i) { return folds[i].spans.count; });
  table.numbers<std::int64_t>("times", "", "how often the period comes again",
                              [&](std::size_t i) { return folds[i].times; });
  table.numbers<double>("period", "s", "later each time",
                        [&](std::size_t i) { return folds[i].seconds; });
  table.numbers<std::int64_t>("iterations", "", "of the body, later each time",
                              [&](std::size_t i) { return folds[i].iterations; });
  table.numbers<std::int64_t>("events", "", "memory events of the period, rows of /folds/order",
                              [&](std::size_t i) { return folds[i].order.size(); });
  table.dimension("fold");
}

/// Writes /folds/pools. Each row is for one fold and one pool, and says which events of this pool belong to the period
/// of the fold.
void write_pools(Tree& tree, ChunkFilter& filter, const std::vector<Fold>& folds,
                 std::size_t pools) {
  Table table(tree, filter, "/folds/pools", folds.size() * pools);
  const auto of = [&](std::size_t i) -> const StoredRows& {
    return folds[i / pools].pools[i % pools];
  };
  table.numbers<std::uint32_t>("fold", "", "a row of /folds",
                               [&](std::size_t i) { return i / pools; });
  table.numbers<std::uint32_t>("pool", "", "a row of /labels/pools",
                               [&](std::size_t i) { return i % pools; });
  table.numbers<std::int64_t>("first_row", "",
                              "first event of the period, a row of the pool as it is stored",
                              [&](std::size_t i) { return of(i).first; });
  table.numbers<std::int64_t>("rows", "", "events of the period",
                              [&](std::size_t i) { return of(i).count; });
  table.dimension("place");
}

void write_order(Tree& tree, ChunkFilter& filter, const std::vector<Fold>& folds) {
  std::vector<std::uint32_t> order;
  for (const Fold& fold : folds) order.insert(order.end(), fold.order.begin(), fold.order.end());
  Table table(tree, filter, "/folds/order", order.size());
  table.numbers<std::uint32_t>("pool", "", "of each event of the period, a row of /labels/pools",
                               [&](std::size_t i) { return order[i]; });
  table.dimension("event");
}

[[noreturn]] void refuse(const std::string& what) {
  throw Failure("/folds does not match the rest of the file: " + what);
}

/// Adds to `all` the number of rows in the repetitions of a fold. Throws if `all` is then above `most_rows`.
void add_rows(std::int64_t& all, const StoredRows& rows, std::int64_t times) {
  std::int64_t more = 0;
  if (__builtin_mul_overflow(rows.count, times, &more) || __builtin_add_overflow(all, more, &all) ||
      all > most_rows)
    refuse("there are more than 2^62 rows");
}

void check(const Fold& fold, std::int64_t spans, const std::vector<std::int64_t>& events) {
  std::int64_t later = 0;
  if (__builtin_mul_overflow(fold.times, fold.iterations, &later) || later > most_rows)
    refuse("there are more than 2^62 iterations");
  if (fold.times < 1 || fold.iterations < 1 || !(fold.seconds >= 0) || !std::isfinite(fold.seconds))
    refuse("a period needs at least one repetition, one iteration, and at least 0 seconds");
  if (fold.spans.first < 0 || fold.spans.count < 1 || fold.spans.count > spans ||
      fold.spans.first > spans - fold.spans.count)
    refuse("a period has spans that the trace lacks");
  std::vector<std::int64_t> ordered(events.size(), 0);
  for (const std::uint32_t pool : fold.order) {
    if (pool >= events.size()) refuse("an event of a period has no pool");
    ++ordered[pool];
  }
  for (std::size_t p = 0; p < events.size(); ++p) {
    const StoredRows& rows = fold.pools[p];
    if (rows.count != ordered[p] || rows.first < 0 || rows.count > events[p] ||
        rows.first > events[p] - rows.count)
      refuse("a period has events that the trace lacks");
  }
}

}  // namespace

void FoldWriter::add(const Repetition& r) {
  Fold fold{.times = r.times, .seconds = r.seconds, .iterations = r.iterations};
  const auto count = static_cast<std::int64_t>(r.spans.size());
  fold.spans = {spans_ - count, count};
  fold.pools.resize(events_.size());
  for (const MemoryEvent& event : r.memory) {
    ++fold.pools[event.pool].count;
    fold.order.push_back(event.pool);
  }
  for (std::size_t p = 0; p < events_.size(); ++p)
    fold.pools[p].first = events_[p] - fold.pools[p].count;
  folds_.push_back(std::move(fold));
}

void FoldWriter::write(Tree& tree, ChunkFilter& filter) const {
  write_periods(tree, filter, folds_);
  write_pools(tree, filter, folds_, events_.size());
  write_order(tree, filter, folds_);
}

std::vector<Fold> read_folds(const FileReader& file, std::int64_t spans,
                             const std::vector<std::int64_t>& events) {
  if (!file.has("/folds")) return {};
  const auto whole = [&](const std::string& path) {
    return file.column<std::int64_t>("/folds/" + path);
  };
  const auto first = whole("first_row"), rows = whole("rows"), times = whole("times"),
             iterations = whole("iterations"), counts = whole("events"),
             pool_first = whole("pools/first_row"), pool_rows = whole("pools/rows");
  const auto period = file.column<double>("/folds/period");
  const auto order = file.column<std::uint32_t>("/folds/order/pool");
  const std::size_t count = first.size();
  for (const std::size_t size :
       {rows.size(), times.size(), iterations.size(), counts.size(), period.size()})
    if (size != count) refuse("its columns are of unequal length");
  if (pool_first.size() != count * events.size() || pool_rows.size() != pool_first.size())
    refuse("its table 'pools' does not have one row for each fold and each pool");
  std::vector<Fold> folds(count);
  std::size_t next = 0;
  std::int64_t end = 0, all = spans;
  std::vector<std::int64_t> all_events = events, ends(events.size(), 0);
  for (std::size_t f = 0; f < count; ++f) {
    Fold& fold = folds[f];
    fold = {{first[f], rows[f]}, times[f], period[f], iterations[f], {}, {}};
    for (std::size_t p = 0; p < events.size(); ++p)
      fold.pools.push_back({pool_first[f * events.size() + p], pool_rows[f * events.size() + p]});
    if (counts[f] < 0 || static_cast<std::size_t>(counts[f]) > order.size() - next)
      refuse("a period has more events than the table 'order' has rows for them");
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(next);
    fold.order.assign(begin, begin + static_cast<std::ptrdiff_t>(counts[f]));
    next += fold.order.size();
    check(fold, spans, events);
    if (fold.spans.first < end) refuse("its periods are not in the order of the spans");
    end = fold.spans.end();
    add_rows(all, fold.spans, fold.times);
    for (std::size_t p = 0; p < events.size(); ++p) {
      if (fold.pools[p].first < ends[p]) refuse("its periods are not in the order of the events");
      ends[p] = fold.pools[p].end();
      add_rows(all_events[p], fold.pools[p], fold.times);
    }
  }
  return folds;
}

}  // namespace sluice
