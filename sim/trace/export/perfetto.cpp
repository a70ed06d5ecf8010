// Writes Perfetto's trace, which consists of TracePackets of protocol buffers. The field numbers come from Perfetto's
// public schema. tests/support/perfetto_subset.proto has the part of the schema that is used here.
//
// Each device is a process, each of its streams is a track, and each memory is a counter. Each track has a separate
// packet sequence, whose packets are in the order of time. The reader must merge the sequences by time, as Perfetto
// does. A packet contains its names as texts, not as numbers that stand for names in other packets. So a packet can be
// read without any other packet.
#include "trace/export/export.hpp"
#include "trace/export/proto.hpp"
#include "trace/export/text.hpp"
#include "trace/export/timeline.hpp"

namespace sluice {
namespace {

namespace field {
constexpr int trace_packet = 1;
constexpr int timestamp = 8, sequence_id = 10, track_event = 11, sequence_flags = 13, clock_id = 58,
              track_descriptor = 60;
constexpr int uuid = 1, track_name = 2, process = 3, parent_uuid = 5, counter = 8;
constexpr int pid = 1, process_name = 6;
constexpr int unit = 3;
constexpr int annotation = 4, type = 9, track_uuid = 11, category = 22, event_name = 23,
              counter_value = 30, flow_id = 47, terminating_flow_id = 48;
constexpr int annotation_int = 4, annotation_double = 5, annotation_string = 6,
              annotation_name = 10;
}  // namespace field

enum EventType { slice_begin = 1, slice_end = 2, counter_sample = 4 };
constexpr std::uint64_t state_cleared = 1;  // SEQ_INCREMENTAL_STATE_CLEARED
constexpr std::uint64_t size_in_bytes = 3;  // UNIT_SIZE_BYTES
// The number of the clock that Perfetto's time axis shows.
constexpr std::uint64_t boottime = 6;

class PerfettoWriter {
 public:
  PerfettoWriter(const TraceReader& trace, const Write& write)
      : trace_(trace),
        labels_(trace.labels()),
        groups_(labels_),
        outlet_(write),
        proto_(outlet_.text()) {
    for (const Labels::Action& action : labels_.actions)
      names_.push_back({valid_utf8(action.name), valid_utf8(action.kind),
                        valid_utf8(stage_of(labels_, action))});
  }

  void write() {
    for (std::size_t g = 0; g < groups_.names.size(); ++g) describe_group(g);
    for (std::uint32_t s = 0; s < labels_.streams.size(); ++s) describe_stream(s);
    for (std::uint32_t p = 0; p < labels_.pools.size(); ++p) describe_pool(p);
    for_each_slice(trace_, [this](const Slice& slice) {
      begin(slice);
      end(slice);
    });
    for (std::uint32_t p = 0; p < labels_.pools.size(); ++p)
      for_each_level(trace_, p, [&](auto time, auto level) { sample(p, time, level); });
    outlet_.finish();
  }

 private:
  // Tracks are numbered from 1. The first numbers are for the groups of tracks (TrackGroups), the next numbers for the
  // streams, and the last numbers for the pools. The number 0 stands for the trace as a whole.
  std::uint64_t group_track(std::size_t group) const { return group + 1; }
  std::uint64_t stream_track(std::uint32_t stream) const {
    return groups_.names.size() + stream + 1;
  }
  std::uint64_t pool_track(std::uint32_t pool) const {
    return groups_.names.size() + labels_.streams.size() + pool + 1;
  }

  /// Writes a packet into the sequence of a track.
  template <class Fill>
  void packet(std::uint64_t track, Fill&& fill) {
    proto_.message(field::trace_packet, [&] {
      proto_.integer(field::sequence_id, track);
      fill();
    });
    outlet_.pass();
  }

  /// Writes the first packet of a track.
  template <class Fill>
  void describe(std::uint64_t track, Fill&& fill) {
    packet(track, [&] {
      proto_.integer(field::sequence_flags, state_cleared);
      proto_.message(field::track_descriptor, [&] {
        proto_.integer(field::uuid, track);
        fill();
      });
    });
  }

  void describe_group(std::size_t group) {
    describe(group_track(group), [&] {
      const std::string name = valid_utf8(groups_.names[group]);
      proto_.text(field::track_name, name);
      proto_.message(field::process, [&] {
        proto_.integer(field::pid, group + 1);
        proto_.text(field::process_name, name);
      });
    });
  }

  void describe_stream(std::uint32_t stream) {
    describe(stream_track(stream), [&] {
      proto_.text(field::track_name, valid_utf8(labels_.streams[stream].name));
      proto_.integer(field::parent_uuid, group_track(groups_.of_stream[stream]));
    });
  }

  void describe_pool(std::uint32_t pool) {
    describe(pool_track(pool), [&] {
      proto_.text(field::track_name, valid_utf8(labels_.pools[pool].name) + " memory");
      proto_.integer(field::parent_uuid, group_track(groups_.of_pool[pool]));
      proto_.message(field::counter, [&] { proto_.integer(field::unit, size_in_bytes); });
    });
  }

  template <class Fill>
  void event(std::uint64_t track, std::uint64_t time, EventType type, Fill&& fill) {
    packet(track, [&] {
      proto_.integer(field::timestamp, time);
      proto_.integer(field::clock_id, boottime);
      proto_.message(field::track_event, [&] {
        proto_.integer(field::type, type);
        proto_.integer(field::track_uuid, track);
        fill();
      });
    });
  }

  void begin(const Slice& slice) {
    event(stream_track(slice.stream), slice.begin, slice_begin, [&] {
      const Names& names = names_[slice.span.action];
      proto_.text(field::category, names.kind);
      proto_.text(field::event_name, names.action);
      if (slice.arriving != 0) proto_.fixed64(field::terminating_flow_id, slice.arriving);
      for (const std::uint64_t flow : slice.leaving) proto_.fixed64(field::flow_id, flow);
      annotate(slice.span);
    });
  }

  void end(const Slice& slice) {
    event(stream_track(slice.stream), slice.end, slice_end, [] {});
  }

  void sample(std::uint32_t pool, std::uint64_t time, std::int64_t level) {
    event(pool_track(pool), time, counter_sample,
          [&] { proto_.integer(field::counter_value, static_cast<std::uint64_t>(level)); });
  }

  template <class Fill>
  void annotation(std::string_view name, Fill&& fill) {
    proto_.message(field::annotation, [&] {
      proto_.text(field::annotation_name, name);
      fill();
    });
  }
  void annotate(std::string_view name, std::int64_t value) {
    annotation(name,
               [&] { proto_.integer(field::annotation_int, static_cast<std::uint64_t>(value)); });
  }
  void annotate(std::string_view name, double value) {
    annotation(name, [&] { proto_.real(field::annotation_double, value); });
  }
  void annotate(std::string_view name, const std::string& value) {
    annotation(name, [&] { proto_.text(field::annotation_string, value); });
  }

  /// Writes the annotations of a span. An annotation without a value is left out.
  void annotate(const Span& span) {
    const Labels::Action& action = labels_.actions[span.action];
    if (action.stage >= 0) annotate("stage", names_[span.action].stage);
    if (action.micro_batch >= 0) annotate("micro_batch", std::int64_t{action.micro_batch});
    if (action.section == "body") annotate("iteration", span.iteration);
    if (action.bytes != 0) annotate("bytes", action.bytes);
    if (action.flop != 0) annotate("flop", action.flop);
    if (span.available > span.end) annotate("latency_s", span.available - span.end);
    if (span.waited > 0) annotate("waited_s", span.waited);
    const std::string blocker = blocker_of(labels_, span);
    if (!blocker.empty()) annotate("waited_for", valid_utf8(blocker));
  }

  struct Names {
    std::string action, kind, stage;
  };

  const TraceReader& trace_;
  const Labels& labels_;
  const TrackGroups groups_;
  Outlet outlet_;
  ProtoWriter proto_;
  std::vector<Names> names_;  ///< one per action
};

void write_perfetto(const TraceReader& trace, const std::string&, const Write& write) {
  PerfettoWriter(trace, write).write();
}

}  // namespace

extern const ExportFormat perfetto_export = {
    .name = "perfetto",
    .summary =
        "Writes a timeline for ui.perfetto.dev, with a track per stream, the levels of memories, and an arrow for each "
        "wait.",
    .source = "perfetto.dev, protos/perfetto/trace/trace_packet.proto",
    .binary = true,
    .write = write_perfetto,
};

}  // namespace sluice
