#include "run/recording/recording.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "run/recording/columns.hpp"
#include "trace/hdf5/writer.hpp"

namespace sluice {
namespace {

/// Visits every column of a recording, always in the same order. The writer and the reader both use
/// this function, so they agree about the order.
template <class Visitor>
void columns_of(Visitor& visit, Recording& r) {
  visit.numbers("spans/start", r.spans, &Span::start);
  visit.numbers("spans/end", r.spans, &Span::end);
  visit.numbers("spans/available", r.spans, &Span::available);
  visit.numbers("spans/waited", r.spans, &Span::waited);
  visit.numbers("spans/action", r.spans, &Span::action);
  visit.numbers("spans/iteration", r.spans, &Span::iteration);
  visit.numbers("spans/reason", r.spans, &Span::reason);
  visit.numbers("spans/blocker", r.spans, &Span::blocker);
  visit.numbers("spans/cause", r.spans, &Span::cause);
  visit.numbers("memory/time", r.memory, &MemoryEvent::time);
  visit.numbers("memory/pool", r.memory, &MemoryEvent::pool);
  visit.numbers("memory/tensor", r.memory, &MemoryEvent::tensor);
  visit.numbers("memory/delta", r.memory, &MemoryEvent::delta);
  visit.numbers("memory/level", r.memory, &MemoryEvent::level);
  visit.texts("streams/name", r.labels.streams, &Labels::Stream::name);
  visit.texts("streams/kind", r.labels.streams, &Labels::Stream::kind);
  visit.texts("streams/device", r.labels.streams, &Labels::Stream::device);
  visit.texts("pools/name", r.labels.pools, &Labels::Pool::name);
  visit.numbers("pools/capacity", r.labels.pools, &Labels::Pool::capacity);
  visit.texts("tensors/name", r.labels.tensors, &Labels::Tensor::name);
  visit.texts("tensors/class", r.labels.tensors, &Labels::Tensor::tensor_class);
  visit.numbers("tensors/bytes", r.labels.tensors, &Labels::Tensor::bytes);
  visit.texts("actions/name", r.labels.actions, &Labels::Action::name);
  visit.texts("actions/kind", r.labels.actions, &Labels::Action::kind);
  visit.texts("actions/section", r.labels.actions, &Labels::Action::section);
  visit.numbers("actions/stream", r.labels.actions, &Labels::Action::stream);
  visit.numbers("actions/stage", r.labels.actions, &Labels::Action::stage);
  visit.numbers("actions/micro_batch", r.labels.actions, &Labels::Action::micro_batch);
  visit.numbers("actions/bytes", r.labels.actions, &Labels::Action::bytes);
  visit.numbers("actions/flop", r.labels.actions, &Labels::Action::flop);
  visit.texts("stages/name", r.labels.stages, nullptr);
  visit.text("plan", r.header.plan);
  visit.values("series/time", r.series.time);
  visit.values("series/utilisation", r.series.utilisation);
  for (std::size_t s = 0; s < r.series.series.size(); ++s)
    visit.values("series/" + std::to_string(s), r.series.series[s].values);
}

/// A recording that will be written as bytes, with the place that each part gets in the bytes.
class Packing {
 public:
  // The cast is safe: the writer does not change the recording.
  explicit Packing(const Recording& recording) : recording_(const_cast<Recording&>(recording)) {
    columns_of(layout_, recording_);
    text_ = recording_json(recording_, layout_);
    begin_ = ColumnLayout::aligned(recording_head + text_.size());
  }

  std::size_t size() const { return begin_ + layout_.size(); }

  void write(char* data) const {
    const std::uint64_t length = text_.size();
    std::memcpy(data, recording_magic.data(), recording_magic.size());
    std::memcpy(data + recording_magic.size(), &length, sizeof length);
    std::memcpy(data + recording_head, text_.data(), text_.size());
    ColumnWriter writer(data + begin_);
    columns_of(writer, recording_);
  }

 private:
  Recording& recording_;
  ColumnLayout layout_;
  std::string text_;
  std::size_t begin_ = 0;
};

}  // namespace

MemoryFile packed(const Recording& recording) {
  const Packing packing(recording);
  MemoryFile memory = MemoryFile::make(packing.size());
  packing.write(memory.data());
  return memory;
}

std::string bytes_of(const Recording& recording) {
  const Packing packing(recording);
  std::string bytes(packing.size(), '\0');
  packing.write(bytes.data());
  return bytes;
}

Recording recording_from(std::string_view bytes) {
  Recording recording;
  const std::string_view text = json_text_in(bytes);
  const std::vector<ColumnPlace> places = read_recording_json(text, recording);
  const std::size_t begin =
      std::min(bytes.size(), ColumnLayout::aligned(recording_head + text.size()));
  ColumnReader reader(bytes.substr(begin), places);
  columns_of(reader, recording);
  return recording;
}

Recording recording_of(const TraceReader& trace) {
  // This number of spans and their memory events take about a gigabyte of memory.
  constexpr std::uint64_t most_spans = 10'000'000;
  if (trace.is_folded() && trace.span_count() > most_spans)
    throw InputError(
        trace.path() + ": error: the trace has " + std::to_string(trace.span_count()) +
        " spans. Most of them are repetitions of one period. At most " +
        std::to_string(most_spans) +
        " spans are read into memory at once. Use `sluice show` or `sluice export`, which read one span after "
        "the other; or read the period and the number of its repetitions (/folds) with h5py");
  Recording recording;
  recording.status = trace.status();
  recording.header = trace.header();
  recording.labels = trace.labels();
  trace.spans([&](const std::vector<Span>& spans) {
    recording.spans.insert(recording.spans.end(), spans.begin(), spans.end());
  });
  for (std::uint32_t pool = 0; pool < recording.labels.pools.size(); ++pool)
    trace.memory(pool, [&](const std::vector<MemoryEvent>& events) {
      recording.memory.insert(recording.memory.end(), events.begin(), events.end());
    });
  recording.summary = trace.summary();
  recording.series = trace.series();
  return recording;
}

void write_trace(const Recording& recording, const std::string& path,
                 const std::string& command_line) {
  TraceHeader header = recording.header;
  header.provenance = {{"command_line", command_line}};
  TraceWriter writer(path, std::move(header), recording.labels);
  for (const Span& span : recording.spans) {
    check_interrupt();
    writer.span(span);
  }
  for (const MemoryEvent& event : recording.memory) {
    check_interrupt();
    writer.memory(event);
  }
  writer.finish(recording.status, recording.summary, recording.series);
}

void sort_by_pool(std::vector<MemoryEvent>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const MemoryEvent& a, const MemoryEvent& b) { return a.pool < b.pool; });
}

}  // namespace sluice
