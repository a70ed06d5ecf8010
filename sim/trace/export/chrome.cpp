// Writes Chrome's trace events as JSON. Each span becomes a pair of events "B" and "E". Each device is a process, and
// each stream is a thread. Memory levels are counters "C", waits are flows "s" and "f", and names are metadata "M".
// Times are in microseconds with three decimals. The format is the "Trace Event Format" of the Chromium project.
//
// The events of one thread must be nested. This condition holds, because the spans of a stream do not overlap
// (timeline.hpp). A span may begin at the moment at which the previous span of its stream ends. Then this end and this
// beginning are written as the same decimal text.
//
// A complete event "X" is not used, because it has a duration instead of an end. A reader computes the end as the
// beginning plus the duration. Rounding may move the computed end after the beginning of the next span. Speedscope
// would then nest the two spans, and would not close the first span.
//
// The events "B" and "E" of a span have equal arguments. Speedscope needs equal arguments to match the two events of a
// span with the length 0. `highres-ticks` tells chrome://tracing that a time is exact even if it is a whole number of
// milliseconds. All names are escaped, so the JSON can be put into an HTML page.
#include <array>
#include <cstdio>

#include "trace/export/export.hpp"
#include "trace/export/text.hpp"
#include "trace/export/timeline.hpp"

namespace sluice {
namespace {

std::string microseconds(std::uint64_t nanoseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%llu.%03u",
                static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned>(nanoseconds % 1000));
  return text.data();
}

class ChromeWriter {
 public:
  ChromeWriter(const TraceReader& trace, const Write& write)
      : trace_(trace), labels_(trace.labels()), groups_(labels_), outlet_(write) {
    for (const Labels::Action& action : labels_.actions) texts_.push_back(texts_of(action));
  }

  void write() {
    const TraceHeader& header = trace_.header();
    outlet_.text() += "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"program\": " +
                      json_string("sluice " + header.program_version) +
                      ", \"content_sha256\": " + json_string(trace_.content_sha256()) +
                      ", \"status\": " + json_string(name_of(trace_.status())) +
                      "},\n\"metadata\": {\"highres-ticks\": true},\n\"traceEvents\": [";
    describe();
    for_each_slice(trace_, [this](const Slice& slice) {
      const std::string what = description_of(slice);
      boundary('B', slice, slice.begin, what);
      flows(slice);
      boundary('E', slice, slice.end, what);
    });
    for (std::uint32_t p = 0; p < labels_.pools.size(); ++p) levels(p);
    outlet_.text() += "\n]}\n";
    outlet_.finish();
  }

 private:
  struct Texts {
    std::string event;  ///< "name": …, "cat": …
    std::string args;   ///< the arguments that are equal for all executions of an action
  };

  Texts texts_of(const Labels::Action& action) const {
    Texts texts;
    texts.event =
        "\"name\": " + json_string(action.name) + ", \"cat\": " + json_string(action.kind);
    if (action.stage >= 0) texts.args += ", \"stage\": " + json_string(stage_of(labels_, action));
    if (action.micro_batch >= 0)
      texts.args += ", \"micro_batch\": " + std::to_string(action.micro_batch);
    if (action.bytes != 0) texts.args += ", \"bytes\": " + std::to_string(action.bytes);
    if (action.flop != 0) texts.args += ", \"flop\": " + json_number_text(action.flop);
    return texts;
  }

  /// Writes one event as a JSON object. `phase` is its key "ph". `rest` is the text of all keys after "pid".
  void event(char phase, std::size_t group, const std::string& rest) {
    std::string& out = outlet_.text();
    out += first_ ? "\n{\"ph\": \"" : ",\n{\"ph\": \"";
    first_ = false;
    out += phase;
    out += "\", \"pid\": " + std::to_string(group + 1) + rest + "}";
    outlet_.pass();
  }

  static std::string thread(std::uint32_t stream) {
    return ", \"tid\": " + std::to_string(stream + 1);
  }

  void name(const std::string& what, std::size_t group, const std::string& tid,
            const std::string& name, std::size_t order) {
    event(
        'M', group,
        tid + ", \"name\": \"" + what + "_name\", \"args\": {\"name\": " + json_string(name) + "}");
    event('M', group,
          tid + ", \"name\": \"" + what +
              "_sort_index\", \"args\": {\"sort_index\": " + std::to_string(order) + "}");
  }

  void describe() {
    for (std::size_t g = 0; g < groups_.names.size(); ++g)
      name("process", g, "", groups_.names[g], g);
    for (std::uint32_t s = 0; s < labels_.streams.size(); ++s)
      name("thread", groups_.of_stream[s], thread(s), labels_.streams[s].name, s);
  }

  /// Returns the name, the category and the arguments of a span's two events.
  std::string description_of(const Slice& slice) const {
    const Texts& texts = texts_[slice.span.action];
    std::string args = texts.args;
    if (labels_.actions[slice.span.action].section == "body")
      args += ", \"iteration\": " + std::to_string(slice.span.iteration);
    if (slice.span.available > slice.span.end)
      args += ", \"latency_s\": " + json_number_text(slice.span.available - slice.span.end);
    if (slice.span.waited > 0) args += ", \"waited_s\": " + json_number_text(slice.span.waited);
    const std::string blocker = blocker_of(labels_, slice.span);
    if (!blocker.empty()) args += ", \"waited_for\": " + json_string(blocker);
    return texts.event + ", \"args\": {" + (args.empty() ? "" : args.substr(2)) + "}";
  }

  void boundary(char phase, const Slice& slice, std::uint64_t time, const std::string& what) {
    event(phase, groups_.of_stream[slice.stream],
          thread(slice.stream) + ", \"ts\": " + microseconds(time) + ", " + what);
  }

  /// Writes the arrows from and to a slice. A viewer attaches each end of an arrow to the slice that encloses the time
  /// of this end. At the end of a slice, the next slice may begin. So an arrow leaves a slice 1 ns before the end.
  void flows(const Slice& slice) {
    const std::uint64_t leaves = slice.end > slice.begin ? slice.end - 1 : slice.begin;
    if (slice.arriving != 0) flow('f', slice, slice.begin, slice.arriving, ", \"bp\": \"e\"");
    for (const std::uint64_t number : slice.leaving) flow('s', slice, leaves, number, "");
  }

  void flow(char phase, const Slice& slice, std::uint64_t time, std::uint64_t number,
            const char* binding) {
    event(phase, groups_.of_stream[slice.stream],
          thread(slice.stream) + ", \"ts\": " + microseconds(time) + ", \"id\": " +
              std::to_string(number) + ", \"name\": \"wait\", \"cat\": \"wait\"" + binding);
  }

  void levels(std::uint32_t pool) {
    const std::string name = json_string(labels_.pools[pool].name + " memory");
    for_each_level(trace_, pool, [&](std::uint64_t time, std::int64_t level) {
      event('C', groups_.of_pool[pool],
            ", \"ts\": " + microseconds(time) + ", \"name\": " + name +
                ", \"args\": {\"bytes\": " + std::to_string(level) + "}");
    });
  }

  const TraceReader& trace_;
  const Labels& labels_;
  const TrackGroups groups_;
  Outlet outlet_;
  std::vector<Texts> texts_;  ///< one per action
  bool first_ = true;
};

void write_chrome(const TraceReader& trace, const std::string&, const Write& write) {
  ChromeWriter(trace, write).write();
}

}  // namespace

extern const ExportFormat chrome_export = {
    .name = "chrome",
    .summary = "Writes a timeline as JSON, for chrome://tracing, Perfetto and Speedscope.",
    .source = "Trace Event Format, Chromium project",
    .write = write_chrome,
};

}  // namespace sluice
