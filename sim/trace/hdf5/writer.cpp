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

  Column& column(const std::string& path, Cell cell, std::size_t chunk_rows, const char* unit,
                 const char* long_name) {
    return *columns.emplace_back(
        std::make_unique<Column>(tree, filter, path, cell, chunk_rows, unit, long_name));
  }

  Tree tree;
  ChunkFilter filter;
  std::vector<std::unique_ptr<Column>> columns;
  /// The writer of the labels, which exists only while labels are being written.
  std::optional<LabelWriter> labels;
};

constexpr std::array<const char*, 13> span_columns = {
    "start",   "end",   "available", "waited", "action", "iteration",  "reason",
    "blocker", "cause", "stream",    "kind",   "stage",  "micro_batch"};
constexpr std::array<const char*, 4> memory_columns = {"time", "level", "delta", "tensor"};

struct Spans {
  Column &start, &end, &available, &waited, &action, &iteration, &reason, &blocker, &cause, &stream,
      &kind, &stage, &micro_batch;
};
struct Memory {
  std::string group;
  Column &time, &level, &delta, &tensor;
};

Spans make_spans(Store& store, std::size_t rows) {
  store.tree.group("/spans");
  const auto make = [&](const std::string& name, Cell cell, const char* unit,
                        const char* long_name) -> Column& {
    return store.column("/spans/" + name, cell, rows, unit, long_name);
  };
  // C++ evaluates a braced list from left to right. So the file has the columns in the order of this list.
  return {
      make("start", Cell::f64(), "s", "start"),
      make("end", Cell::f64(), "s", "end: the stream is free again"),
      make("available", Cell::f64(), "s", "end + latency: those who wait may start"),
      make("waited", Cell::f64(), "s", "the stream was idle before it"),
      make("action", Cell::u32(), "", "action, a row of /labels/actions"),
      make("iteration", Cell::i64(), "", "iteration of the body"),
      make("reason", Cell::u8(), "", "why it waited, a row of /labels/reasons"),
      make("blocker", Cell::u32(), "",
           "what it waited for: an action (reason data) or a pool (memory); 4294967295: none"),
      make("cause", Cell::i64(), "", "span that ended the last wait, a row of /spans; -1: none"),
      make("stream", Cell::u32(), "", "stream of the action, a row of /labels/streams"),
      make("kind", Cell::u8(), "", "kind of the action, a row of /labels/kinds"),
      make("stage", Cell::i32(), "", "stage of the action, a row of /labels/stages; -1: none"),
      make("micro_batch", Cell::i32(), "", "micro-batch of the action; -1: none")};
}

Memory make_memory(Store& store, const std::string& group, std::size_t rows) {
  store.tree.group(group);
  const auto make = [&](const std::string& name, Cell cell, const char* unit,
                        const char* long_name) -> Column& {
    return store.column(group + "/" + name, cell, rows, unit, long_name);
  };
  return {group, make("time", Cell::f64(), "s", "time of the event"),
          make("level", Cell::i64(), "byte", "bytes in the pool afterwards"),
          make("delta", Cell::i64(), "byte", "bytes that enter (> 0) or leave (< 0)"),
          make("tensor", Cell::u32(), "", "tensor, a row of /labels/tensors")};
}

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
  void add_spans(const std::vector<Span>& spans);
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
  std::optional<Spans> spans;
  std::vector<Memory> pools;
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
  spans.emplace(make_spans(*store, chunk_rows));
  tree.group("/memory");
  for (const Labels::Pool& pool : labels.pools)
    pools.push_back(make_memory(*store, "/memory/" + hdf5::escaped(pool.name),
                                std::max<std::size_t>(1, chunk_rows / 2)));
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

void TraceWriter::State::add_spans(const std::vector<Span>& rows) {
  const auto add = [&]<class T>(T, Column& column, auto get) {
    column.append<T>(rows.size(), [&](std::size_t i) { return static_cast<T>(get(rows[i])); });
  };
  const auto code = [&](const Span& s) -> const ActionCodes& { return codes.at(s.action); };
  add(double(), spans->start, [](const Span& s) { return s.start; });
  add(double(), spans->end, [](const Span& s) { return s.end; });
  add(double(), spans->available, [](const Span& s) { return s.available; });
  add(double(), spans->waited, [](const Span& s) { return s.waited; });
  add(std::uint32_t(), spans->action, [](const Span& s) { return s.action; });
  add(std::int64_t(), spans->iteration, [](const Span& s) { return s.iteration; });
  add(std::uint8_t(), spans->reason, [](const Span& s) { return s.reason; });
  add(std::uint32_t(), spans->blocker, [](const Span& s) { return s.blocker; });
  add(std::int64_t(), spans->cause, [](const Span& s) { return s.cause; });
  add(std::uint32_t(), spans->stream, [&](const Span& s) { return code(s).stream; });
  add(std::uint8_t(), spans->kind, [&](const Span& s) { return code(s).kind; });
  add(std::int32_t(), spans->stage, [&](const Span& s) { return code(s).stage; });
  add(std::int32_t(), spans->micro_batch, [&](const Span& s) { return code(s).micro_batch; });
}

void TraceWriter::State::consume(const Batch& batch) {
  const auto held = hdf5::lock();
  add_spans(batch.spans);
  for (const MemoryEvent& event : batch.events) {
    Memory& pool = pools.at(event.pool);
    pool.time.append<double>(1, [&](std::size_t) { return event.time; });
    pool.level.append<std::int64_t>(1, [&](std::size_t) { return event.level; });
    pool.delta.append<std::int64_t>(1, [&](std::size_t) { return event.delta; });
    pool.tensor.append<std::uint32_t>(1, [&](std::size_t) { return event.tensor; });
  }
  // A flush writes all small pieces of the file that have changed. So the writer flushes only once per 16 chunks.
  const std::uint64_t chunks = spans->start.rows() / chunk_rows / 16;
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
    const std::uint64_t span_rows = spans->start.rows();
    std::vector<std::uint64_t> event_rows;
    for (const Memory& pool : pools) event_rows.push_back(pool.time.rows());
    for (auto& column : store->columns) column->finish();
    tree.dimension("/spans", "span", span_rows, {span_columns.begin(), span_columns.end()});
    for (std::size_t i = 0; i < pools.size(); ++i)
      tree.dimension(pools[i].group, "event", event_rows[i],
                     {memory_columns.begin(), memory_columns.end()});
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
