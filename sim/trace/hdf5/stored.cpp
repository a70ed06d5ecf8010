#include "trace/hdf5/stored.hpp"

#include <string>

namespace sluice {

namespace {

/// The sum of two iteration numbers cannot overflow if each is at most this number.
constexpr std::int64_t most_iterations = std::int64_t{1} << 62;

/// Collects rows, and passes the rows on in blocks.
template <class Row>
class Blocks {
 public:
  explicit Blocks(const std::function<void(const std::vector<Row>&)>& take) : take_(take) {}

  void add(const Row& row) {
    rows_.push_back(row);
    if (rows_.size() == static_cast<std::size_t>(block_rows)) hand_over();
  }
  void hand_over() {
    if (!rows_.empty()) take_(rows_);
    rows_.clear();
  }

 private:
  const std::function<void(const std::vector<Row>&)>& take_;
  std::vector<Row> rows_;
};

}  // namespace

StoredSpans::StoredSpans(const FileReader& file, const Labels& labels, bool without_causes,
                         std::uint64_t all)
    : columns_(file, "/spans"),
      actions_(labels.actions.size()),
      pools_(labels.pools.size()),
      without_causes_(without_causes),
      all_(all) {
  for (const char* name :
       {"start", "end", "available", "waited", "action", "iteration", "reason", "blocker"})
    columns_.open(name);
  if (!without_causes) columns_.open("cause");
}

void StoredSpans::read(std::int64_t first, std::int64_t count, std::vector<Span>& block) const {
  const auto begin = static_cast<std::uint64_t>(first);
  const auto n = static_cast<std::size_t>(count);
  block.assign(n, Span{});
  columns_.read<double>(0, begin, n, [&](auto i, auto v) { block[i].start = v; });
  columns_.read<double>(1, begin, n, [&](auto i, auto v) { block[i].end = v; });
  columns_.read<double>(2, begin, n, [&](auto i, auto v) { block[i].available = v; });
  columns_.read<double>(3, begin, n, [&](auto i, auto v) { block[i].waited = v; });
  columns_.read<std::uint32_t>(
      4, begin, n, [&](auto i, auto v) { block[i].action = within(v, actions_, "action"); });
  columns_.read<std::int64_t>(5, begin, n, [&](auto i, auto v) { block[i].iteration = v; });
  columns_.read<std::uint8_t>(6, begin, n, [&](auto i, auto v) {
    block[i].reason = static_cast<WaitReason>(within(v, 3, "reason"));
  });
  columns_.read<std::uint32_t>(7, begin, n, [&](auto i, auto v) {
    const bool memory = block[i].reason == WaitReason::memory;
    block[i].blocker = v == Span::nobody ? v : within(v, memory ? pools_ : actions_, "blocker");
  });
  if (without_causes_) return;
  columns_.read<std::int64_t>(
      8, begin, n, [&](auto i, auto v) { block[i].cause = v == -1 ? v : within(v, all_, "span"); });
}

std::vector<Span> StoredSpans::period(const Fold& fold) const {
  std::vector<Span> spans;
  read(fold.spans.first, fold.spans.count, spans);
  for (const Span& span : spans)
    if (span.iteration < -most_iterations || span.iteration > most_iterations)
      throw hdf5::Failure("iteration " + std::to_string(span.iteration) + " does not exist");
  return spans;
}

std::string events_group(const Labels& labels, std::uint32_t pool) {
  return "/memory/" + hdf5::escaped(labels.pools.at(pool).name);
}

StoredEvents::StoredEvents(const FileReader& file, const Labels& labels, std::uint32_t pool)
    : columns_(file, events_group(labels, pool)), tensors_(labels.tensors.size()), pool_(pool) {
  for (const char* name : {"time", "level", "delta", "tensor"}) columns_.open(name);
}

void StoredEvents::read(std::int64_t first, std::int64_t count,
                        std::vector<MemoryEvent>& block) const {
  const auto begin = static_cast<std::uint64_t>(first);
  const auto n = static_cast<std::size_t>(count);
  block.assign(n, MemoryEvent{});
  columns_.read<double>(0, begin, n, [&](auto i, auto v) { block[i].time = v; });
  columns_.read<std::int64_t>(1, begin, n, [&](auto i, auto v) { block[i].level = v; });
  columns_.read<std::int64_t>(2, begin, n, [&](auto i, auto v) { block[i].delta = v; });
  columns_.read<std::uint32_t>(
      3, begin, n, [&](auto i, auto v) { block[i].tensor = within(v, tensors_, "tensor"); });
  for (MemoryEvent& event : block) event.pool = pool_;
}

void repeat_spans(const Fold& fold, const std::vector<Span>& period, const Labels& labels,
                  const std::function<void(const std::vector<Span>&)>& take) {
  std::vector<std::uint32_t> streams;
  for (const Span& span : period) streams.push_back(labels.actions[span.action].stream);
  const std::vector<MemoryEvent> no_events;
  const Repetition repetition{fold.times, fold.seconds, fold.iterations,
                              period,     no_events,    streams};
  Sequence sequence(repetition, 0);
  Blocks<Span> blocks(take);
  for (std::int64_t k = 1; k <= fold.times; ++k)
    for (std::size_t i = 0; i < period.size(); ++i) {
      Span span = repetition.span(i, k);
      sequence.fit(span, streams[i]);
      blocks.add(span);
    }
  blocks.hand_over();
}

void repeat_events(const Fold& fold, const std::vector<std::vector<MemoryEvent>>& period,
                   std::uint32_t pool,
                   const std::function<void(const std::vector<MemoryEvent>&)>& take) {
  std::vector<MemoryEvent> events;
  std::vector<std::size_t> next(period.size(), 0);
  for (const std::uint32_t p : fold.order) events.push_back(period[p][next[p]++]);
  const std::vector<Span> no_spans;
  const std::vector<std::uint32_t> no_streams;
  const Repetition repetition{fold.times, fold.seconds, fold.iterations,
                              no_spans,   events,       no_streams};
  Sequence sequence(repetition, 0);
  Blocks<MemoryEvent> blocks(take);
  for (std::int64_t k = 1; k <= fold.times; ++k)
    for (std::size_t i = 0; i < events.size(); ++i) {
      MemoryEvent event = repetition.event(i, k);
      // The events of all pools together must be in the order of time. So fit() gets the events of
      // other pools, too.
      sequence.fit(event);
      if (event.pool == pool) blocks.add(event);
    }
  blocks.hand_over();
}

}  // namespace sluice
