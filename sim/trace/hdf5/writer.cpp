#include "trace/hdf5/writer.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/part_file.hpp"
#include "base/sha256.hpp"
#include "trace/hdf5/batches.hpp"
#include "trace/hdf5/column.hpp"
#include "trace/hdf5/folds.hpp"
#include "trace/hdf5/tables.hpp"

namespace sluice {

namespace {

/// The trace file that is being written. After a failed write, this object is never destroyed: HDF5 would crash.
struct Store {
  explicit Store(const std::string& path) : tree(path) {}

  Tree tree;
  ChunkFilter filter;
  std::vector<std::unique_ptr<Column>> columns;
  /// The writer of the labels, which exists only while labels are being written.
  std::optional<LabelWriter> labels;
};

/// Calls `column(T(), name, unit, long_name, get)` for each column of /spans, in the order of the file. T is the type
/// of a cell, and `get(span)` returns the cell of a span. `codes` are those of the actions.
template <class Each>
void for_span_columns(const std::vector<ActionCodes>& codes, Each&& column) {
  const auto code = [&](const Span& s) -> const ActionCodes& { return codes.at(s.action); };
  column(double(), "start", "s", "start", [](const Span& s) { return s.start; });
  column(double(), "end", "s", "end: the stream is free again",
         [](const Span& s) { return s.end; });
  column(double(), "available", "s", "end + latency: those who wait may start",
         [](const Span& s) { return s.available; });
  column(double(), "waited", "s", "the stream was idle before it",
         [](const Span& s) { return s.waited; });
  column(std::uint32_t(), "action", "", "action, a row of /labels/actions",
         [](const Span& s) { return s.action; });
  column(std::int64_t(), "iteration", "", "iteration of the body",
         [](const Span& s) { return s.iteration; });
  column(std::uint8_t(), "reason", "", "why it waited, a row of /labels/reasons",
         [](const Span& s) { return s.reason; });
  column(std::uint32_t(), "blocker", "",
         "what it waited for: an action (reason data) or a pool (memory); 4294967295: none",
         [](const Span& s) { return s.blocker; });
  column(std::int64_t(), "cause", "", "span that ended the last wait, a row of /spans; -1: none",
         [](const Span& s) { return s.cause; });
  column(std::uint32_t(), "stream", "", "stream of the action, a row of /labels/streams",
         [&](const Span& s) { return code(s).stream; });
  column(std::uint8_t(), "kind", "", "kind of the action, a row of /labels/kinds",
         [&](const Span& s) { return code(s).kind; });
  column(std::int32_t(), "stage", "", "stage of the action, a row of /labels/stages; -1: none",
         [&](const Span& s) { return code(s).stage; });
  column(std::int32_t(), "micro_batch", "", "micro-batch of the action; -1: none",
         [&](const Span& s) { return code(s).micro_batch; });
}

/// Calls `column`, as for_span_columns() does, for each column of the events of a pool.
template <class Each>
void for_event_columns(Each&& column) {
  column(double(), "time", "s", "time of the event", [](const MemoryEvent& e) { return e.time; });
  column(std::int64_t(), "level", "byte", "bytes in the pool afterwards",
         [](const MemoryEvent& e) { return e.level; });
  column(std::int64_t(), "delta", "byte", "bytes that enter (> 0) or leave (< 0)",
         [](const MemoryEvent& e) { return e.delta; });
  column(std::uint32_t(), "tensor", "", "tensor, a row of /labels/tensors",
         [](const MemoryEvent& e) { return e.tensor; });
}

/// A group with columns of equal lengths, which grow while the trace is being written.
struct GrowingTable {
  std::string group;
  std::vector<std::string> names = {};
  std::vector<Column*> columns = {};

  /// Returns a function for for_span_columns() or for_event_columns() that makes the columns.
  auto maker(Store& store, std::size_t chunk_rows) {
    return [this, &store, chunk_rows]<class T>(T, const char* name, const char* unit,
                                               const char* long_name, auto) {
      names.emplace_back(name);
      columns.push_back(
          store.columns
              .emplace_back(std::make_unique<Column>(store.tree, store.filter, group + "/" + name,
                                                     Cell::of<T>(), chunk_rows, unit, long_name))
              .get());
    };
  }

  /// Returns a function for for_span_columns() or for_event_columns() that appends `count` rows. It may be used once.
  template <class Row>
  auto appender(const Row* rows, std::size_t count) {
    return [this, rows, count, next = std::size_t{0}]<class T>(T, const char*, const char*,
                                                               const char*, auto get) mutable {
      columns[next++]->append<T>(count,
                                 [&](std::size_t i) { return static_cast<T>(get(rows[i])); });
    };
  }

  std::uint64_t rows() const { return columns.front()->rows(); }
};

/// Keeps an open trace file for ever. After a failed write, HDF5 would crash if it closed the file.
void keep_for_ever(std::unique_ptr<Store> store) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<Store>>;
  const std::lock_guard held(mutex);
  kept->push_back(std::move(store));
}

/// HDF5 crashes if it gets no memory. So this function tests in advance whether 160 MB are available. The writer needs
/// this memory for the pieces of the trace, for the thread that writes the pieces, and for the allocator. Throws
/// bad_alloc.
void require_memory() {
  constexpr std::size_t bytes = 160'000'000;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::munmap(memory, bytes);
}

}  // namespace

struct TraceWriter::State {
  State(const std::string& path, TraceHeader head, Labels tables, std::size_t rows)
      : part(path),
        header(std::move(head)),
        labels(std::move(tables)),
        chunk_rows(rows),
        folds(labels.pools.size()) {
    require_memory();
    guarded([&] {
      const auto held = hdf5::lock();
      store = std::make_unique<Store>(part.path());
      write_header();
    });
    queue.emplace(BatchQueue::Work{[this] { guarded([this] { prepare(); }); },
                                   [this](const Batch& batch) { guarded([&] { consume(batch); }); },
                                   [this] {
                                     bool more = false;
                                     guarded([&] { more = write_tables(); });
                                     return more;
                                   }});
  }

  ~State() {
    queue.reset();
    if (!store) return;
    const auto held = hdf5::lock();
    store.reset();
  }

  /// Runs the work, and turns a failure of HDF5 into an IoError. After a failure, no more data is written.
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (const hdf5::Failure& failure) {
      part.remove();
      if (store) {
        store->tree.abandon();
        keep_for_ever(std::move(store));
      }
      throw IoError("cannot write '" + part.target() + "': " + failure.what());
    }
  }

  void write_header();
  void prepare();
  void write_plan();
  bool write_tables();
  void consume(const Batch& batch);
  void finish(TraceStatus status, const Summary& summary, const SeriesTable& series);

  PartFile part;
  TraceHeader header;
  Labels labels;
  std::size_t chunk_rows;
  /// Only the thread of the simulation uses this member. finish() writes the folds when the simulation has ended.
  FoldWriter folds;
  std::unique_ptr<Store> store;
  std::vector<ActionCodes> codes;
  Codes kinds, sections{{"prologue", "body", "epilogue"}};
  GrowingTable spans{"/spans"};
  std::vector<GrowingTable> pools;
  std::uint64_t flushed_chunks = 0;
  std::string content_sha256;
  /// This member is declared last, so it is destroyed first: the queue's thread uses all other members.
  std::optional<BatchQueue> queue;
};

void TraceWriter::State::write_header() {
  Tree& tree = store->tree;
  tree.attribute("/", "filetype", "sluice-trace");
  tree.attribute("/", "version", std::vector<std::int32_t>{1, 1});
  tree.attribute("/", "Conventions", "CF-1.8");
  tree.attribute("/", "program_version", header.program_version);
  tree.attribute("/", "git_sha", header.git_sha);
  tree.attribute("/", "scenario_sha256", sha256_of(header.scenario));
  tree.attribute("/", "status", std::string(name_of(TraceStatus::running)));
  tree.group("/provenance");
  tree.attribute("/provenance", "executor", header.executor);
  tree.attribute("/provenance", "simgrid_version", header.simgrid_version);
  tree.attribute("/provenance", "simgrid_settings", header.simgrid_settings);
  for (const auto& [key, value] : header.provenance)
    tree.attribute("/provenance", hdf5::escaped(key), value);
  tree.flush();
}

void TraceWriter::State::prepare() {
  const auto held = hdf5::lock();
  Tree& tree = store->tree;
  tree.text("/scenario", header.scenario);
  tree.attribute("/scenario", "long_name", "the resolved scenario");
  codes = codes_of(labels.actions, kinds, sections);
  tree.group(spans.group);
  for_span_columns(codes, spans.maker(*store, chunk_rows));
  tree.group("/memory");
  for (const Labels::Pool& pool : labels.pools) {
    GrowingTable& events = pools.emplace_back("/memory/" + hdf5::escaped(pool.name));
    tree.group(events.group);
    for_event_columns(events.maker(*store, std::max<std::size_t>(1, chunk_rows / 2)));
  }
  tree.flush();
}

/// Writes the plan, which must be the last text that is written. HDF5 would copy a large plan if a text came after it.
void TraceWriter::State::write_plan() {
  store->tree.text("/plan", header.plan);
  store->tree.attribute("/plan", "long_name", "the plan that was executed");
  header.plan = {};
}

/// Writes the tables that do not depend on the spans, one piece per call. Returns false when all these tables are
/// written.
bool TraceWriter::State::write_tables() {
  if (const auto make = std::exchange(header.make_plan, {})) {
    header.plan = make();
    return true;
  }
  if (!store->labels) {
    store->labels.emplace(store->tree, store->filter, labels, codes, kinds, sections);
    return true;
  }
  const auto held = hdf5::lock();
  if (store->labels->step()) return true;
  store->labels.reset();
  labels = {};  // This assignment also frees the memory of the labels.
  store->tree.flush();
  return false;
}

void TraceWriter::State::consume(const Batch& batch) {
  const auto held = hdf5::lock();
  for_span_columns(codes, spans.appender(batch.spans.data(), batch.spans.size()));
  for (const MemoryEvent& event : batch.events)
    for_event_columns(pools.at(event.pool).appender(&event, 1));
  // A flush writes all small pieces of the file that have changed. So the writer flushes only once per 16 chunks.
  const std::uint64_t chunks = spans.rows() / chunk_rows / 16;
  if (std::exchange(flushed_chunks, chunks) != chunks) store->tree.flush();
}

void TraceWriter::State::finish(TraceStatus status, const Summary& summary,
                                const SeriesTable& series) {
  queue->finish();
  // This call returns the free pieces of the simulation's memory to the system. Otherwise HDF5 would put its many small
  // blocks into these pieces. Then no page with such a block could be returned.
  malloc_trim(0);
  guarded([&] {
    const auto held = hdf5::lock();
    Tree& tree = store->tree;
    const std::uint64_t span_rows = spans.rows();
    std::vector<std::uint64_t> event_rows;
    for (const GrowingTable& events : pools) event_rows.push_back(events.rows());
    for (auto& column : store->columns) column->finish();
    tree.dimension(spans.group, "span", span_rows, spans.names);
    for (std::size_t i = 0; i < pools.size(); ++i)
      tree.dimension(pools[i].group, "event", event_rows[i], pools[i].names);
    if (!folds.empty()) {
      folds.write(tree, store->filter);
      tree.attribute("/", "version", std::vector<std::int32_t>{2, 0});
    }
    write_summary(tree, summary);
    write_series(tree, store->filter, series);
    write_plan();
    if (!header.answer.empty()) tree.attribute("/provenance", "answer", header.answer);
    tree.attribute("/", "status", std::string(name_of(status)));
    content_sha256 = tree.content_sha256();
    tree.attribute("/", "content_sha256", content_sha256);
    tree.close();
    store.reset();
  });
  part.commit();
}

TraceWriter::TraceWriter(const std::string& path, TraceHeader header, Labels labels,
                         std::size_t chunk_rows)
    : state_(std::make_unique<State>(path, std::move(header), std::move(labels), chunk_rows)) {}

TraceWriter::~TraceWriter() = default;

void TraceWriter::span(const Span& span) {
  Batch& batch = state_->queue->current();
  batch.spans.push_back(span);
  state_->folds.span();
  if (batch.spans.size() == Batch::rows) state_->queue->hand_over();
}

void TraceWriter::memory(const MemoryEvent& event) {
  Batch& batch = state_->queue->current();
  batch.events.push_back(event);
  state_->folds.event(event.pool);
  if (batch.events.size() == Batch::rows) state_->queue->hand_over();
}

void TraceWriter::repeat(const Repetition& repetition) {
  if (!repetition.is_folded()) return Sink::repeat(repetition);
  state_->folds.add(repetition);
}

void TraceWriter::finish(TraceStatus status, const Summary& summary, const SeriesTable& series,
                         const std::string& answer) {
  if (!state_->content_sha256.empty()) throw InternalError("a trace is finished twice");
  if (!answer.empty()) state_->header.answer = answer;
  state_->finish(status, summary, series);
}

const std::string& TraceWriter::content_sha256() const {
  return state_->content_sha256;
}

}  // namespace sluice
