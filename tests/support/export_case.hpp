// A small trace and its exports, for the tests of exports.
#pragma once

#include <unistd.h>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include "base/csv.hpp"
#include "base/error.hpp"
#include "command/command.hpp"
#include "study/trace_export.hpp"
#include "trace/export/export.hpp"
#include "trace/export/proto.hpp"
#include "trace/export/text.hpp"
#include "trace/export/timeline.hpp"
#include "trace/hdf5/reader.hpp"
#include "trace/hdf5/writer.hpp"

namespace sluice::export_case {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using nlohmann::json;

inline const std::string evil = "</script>\"\n";

/// A trace in a temporary file.
class Trace {
 public:
  Trace(const Labels& labels, const std::vector<Span>& spans,
        const std::vector<MemoryEvent>& events = {}, const Summary& summary = {}) {
    std::string name = (fs::temp_directory_path() / "sluice-export-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    TraceHeader header;
    header.program_version = "0.1.0";
    TraceWriter writer((folder_ / "t.h5").string(), header, labels);
    for (const Span& span : spans) writer.span(span);
    for (const MemoryEvent& event : events) writer.memory(event);
    writer.finish(TraceStatus::complete, summary, {});
    reader_ = std::make_unique<TraceReader>((folder_ / "t.h5").string());
  }
  ~Trace() {
    reader_.reset();
    fs::remove_all(folder_);
  }
  const TraceReader& reader() const { return *reader_; }

  std::string as(const std::string& format, const std::string& table = "") const {
    std::string out;
    export_catalog().find(format).write(*reader_, table, [&](auto text) { out += text; });
    return out;
  }

 private:
  fs::path folder_;
  std::unique_ptr<TraceReader> reader_;
};

/// Returns the labels of a trace with two loads and two computations. In this trace, the first computation waits for
/// the first load, and the second load waits for memory.
inline Labels labels() {
  Labels labels;
  labels.streams = {{"gpu.compute", "compute", "gpu"}, {"gpu.host.down", "copy", "gpu"}};
  labels.pools = {{"gpu", 100}, {"host", -1}};
  labels.tensors = {{"w0", "weight", 40}};
  labels.actions = {{"0LOAD", "load", "prologue", 1, 0, -1, 40, 0},
                    {"0F0", "forward", "body", 0, 0, 0, 0, 1e9},
                    {"1LOAD", "load", "body", 1, 1, -1, 40, 0}};
  labels.stages = {"first", "second"};
  return labels;
}

inline Span span(std::uint32_t action, std::int64_t iteration, double start, double end,
                 double available, double waited = 0, WaitReason reason = WaitReason::none,
                 std::uint32_t blocker = Span::nobody) {
  return {action, iteration, start, end, available, waited, reason, blocker};
}

inline std::vector<Span> spans() {
  return {span(0, 0, 0, 1e-3, 1.5e-3), span(1, 0, 1.5e-3, 2e-3, 2e-3, 1.5e-3, WaitReason::data, 0),
          span(1, 1, 2e-3, 2.5e-3, 2.5e-3),
          span(2, 1, 2e-3, 3e-3, 3e-3, 1e-3, WaitReason::memory, 0)};
}

inline std::vector<MemoryEvent> events() {
  return {{0, 1, 0, 40, 40}, {0, 0, 0, 40, 40}, {2e-3, 0, 0, 40, 80}, {2.5e-3, 0, 0, -40, 40}};
}

inline Summary summary() {
  Summary summary;
  summary.metrics = {{"makespan_s", "s", "Time.", SummaryValue::of(0.003)},
                     {"energy_j", "J", "Energy.", SummaryValue::none("no watts")},
                     {"peak_bytes", "byte", "Peak.",
                      SummaryValue::of(std::vector<SummaryValue::Keyed>{{{"gpu", "weight"}, 80},
                                                                        {{evil, "weight"}, 40}})},
                     {"bound_by", "", "What binds.", SummaryValue::of("host.down")}};
  return summary;
}

/// A parsed message of Protocol Buffers. `numbers` has the values of the fields that hold numbers. `texts` has the
/// bytes of the fields that hold texts or nested messages.
struct Message {
  std::map<int, std::vector<std::uint64_t>> numbers;
  std::map<int, std::vector<std::string>> texts;

  explicit Message(const std::string& bytes) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(at++));
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) return value;
      }
    };
    while (at < bytes.size()) {
      const std::uint64_t tag = varint();
      const int field = static_cast<int>(tag >> 3);
      if ((tag & 7) == 0) {
        numbers[field].push_back(varint());
      } else if ((tag & 7) == 1) {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i)
          value |= std::uint64_t{static_cast<unsigned char>(bytes.at(at++))} << 8 * i;
        numbers[field].push_back(value);
      } else {
        REQUIRE((tag & 7) == 2);
        const std::uint64_t size = varint();
        texts[field].push_back(bytes.substr(at, size));
        REQUIRE(texts[field].back().size() == size);
        at += size;
      }
    }
  }
  std::uint64_t number(int field) const { return numbers.at(field).at(0); }
  const std::string& text(int field) const { return texts.at(field).at(0); }
  Message message(int field) const { return Message(text(field)); }
  bool has(int field) const { return numbers.count(field) != 0 || texts.count(field) != 0; }
};

inline std::vector<Message> packets_of(const std::string& trace) {
  std::vector<Message> packets;
  const Message whole(trace);
  for (const std::string& packet : whole.texts.at(1)) packets.emplace_back(packet);
  return packets;
}

/// Returns the annotations of the event of a slice, each in the form "name=value".
inline std::vector<std::string> annotations(const Message& event) {
  std::vector<std::string> all;
  for (const std::string& bytes : event.texts.at(4)) {
    const Message one(bytes);
    std::string value;
    if (one.has(4)) value = std::to_string(static_cast<std::int64_t>(one.number(4)));
    if (one.has(5)) value = json_number_text(std::bit_cast<double>(one.number(5)));
    if (one.has(6)) value = one.text(6);
    all.push_back(one.text(10) + "=" + value);
  }
  return all;
}

/// Returns the flows of an export, which Perfetto draws as arrows. A flow is a pair: the index of the span where it
/// starts, and the index of the span where it ends.
inline std::vector<std::pair<int, int>> flows_of(const TraceReader& trace, std::size_t window) {
  std::map<std::uint64_t, int> begun;
  std::vector<std::pair<int, int>> flows;
  int number = 0;
  for_each_slice(
      trace,
      [&](const Slice& slice) {
        if (slice.arriving != 0) flows.emplace_back(begun.at(slice.arriving), number);
        for (const std::uint64_t flow : slice.leaving) REQUIRE(begun.emplace(flow, number).second);
        ++number;
      },
      window);
  return flows;
}

}  // namespace sluice::export_case
