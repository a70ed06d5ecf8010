// A small trace as a file, for the tests of traces.
#pragma once

#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include "base/error.hpp"
#include "base/sha256.hpp"
#include "support/source_folder.hpp"
#include "trace/hdf5/reader.hpp"
#include "trace/hdf5/writer.hpp"
#include "trace/memory_sink.hpp"

namespace sluice::trace_case {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

/// A separate folder for each test case.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "sluice-trace-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  fs::path path() const { return path_; }

 private:
  fs::path path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Checks the content hash that the trace holds. A script computes the hash again with h5py, and shares no code with
/// Sluice.
inline void require_hash_of_h5py(const std::string& path) {
  const std::string command = "/usr/bin/python3 -B " + sluice::test::source_folder() +
                              "/tests/unit/trace/trace_hash.py " + path + " >/dev/null";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    WARN("skipped: h5py is not installed");
    return;
  }
  REQUIRE(WEXITSTATUS(status) == 0);
}

inline Labels labels() {
  Labels labels;
  labels.streams = {{"gpu.compute", "compute", "gpu"}, {"gpu.host.down", "copy", "gpu"}};
  labels.pools = {{"gpu", 24'000'000'000}, {"host/numa.0", -1}};
  labels.tensors = {{"w0", "weight", 1000}, {"a0 ä", "activation", 7}};
  labels.actions = {{"0LOAD", "load", "prologue", 1, 0, -1, 1000, 0},
                    {"0F0", "forward", "body", 0, 0, 0, 0, 1e9},
                    {"0F1", "forward", "body", 0, 0, 1, 0, 2e9}};
  labels.stages = {"all"};
  return labels;
}

inline TraceHeader header() {
  TraceHeader header;
  header.program_version = "0.1.0";
  header.git_sha = "abc";
  header.simgrid_version = "3.32";
  header.simgrid_settings = "precision:1e-9";
  header.scenario = "format: sluice-scenario/1\nquestion: ä?\n";
  header.plan = "plan text\n";
  header.provenance = {{"host", "somewhere"}, {"command_line", "sluice run x"}};
  return header;
}

inline Summary summary() {
  Summary summary;
  summary.metrics = {
      {"makespan_s", "s", "Time.", SummaryValue::of(1.5)},
      {"throughput", "sample/s", "Speed.", SummaryValue::none("no sample was completed")},
      {"by_class", "byte", "Peak.",
       SummaryValue::of(std::vector<SummaryValue::Keyed>{
           {{"gpu", "weight"}, 1000}, {{"gpu", "input"}, 7}, {{"host/numa.0", "weight"}, 3}})},
      {"bound_by", "", "What binds.", SummaryValue::of("host.down")}};
  return summary;
}

inline SeriesTable series() {
  SeriesTable table;
  table.width = 0.5;
  table.time = {0.5, 1.0, 1.5};
  table.utilisation = {0, 0.5, 1, 1, 0.25, 0};
  table.series = {{"samples_done", "sample", "count", {0, 1, 2}}};
  return table;
}

inline Span span_at(std::int64_t i) {
  Span span;
  span.action = static_cast<std::uint32_t>(i % 3);
  span.iteration = i / 3;
  span.start = static_cast<double>(i) * 0.1;
  span.end = span.start + 0.0625;
  span.available = span.end + 1e-5;
  span.waited = 0.0375;
  span.reason = static_cast<WaitReason>(i % 3);
  span.blocker = i % 3 == 0 ? Span::nobody : 1;
  span.cause = i % 3 == 0 ? -1 : i - 1;
  return span;
}

inline MemoryEvent event_at(std::int64_t i) {
  return {static_cast<double>(i) * 0.1, static_cast<std::uint32_t>(i % 2), 1, i % 4 < 2 ? 7 : -7,
          i % 4 < 2 ? 7 : 0};
}

inline void feed(Sink& sink, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    sink.span(span_at(i));
    sink.memory(event_at(i));
  }
}

/// Writes a trace from its header to its summary, and returns the content hash of the trace.
inline std::string write(const std::string& path, std::int64_t spans,
                         std::size_t chunk_rows = 32768, const TraceHeader& head = header(),
                         TraceStatus status = TraceStatus::complete) {
  TraceWriter writer(path, head, labels(), chunk_rows);
  feed(writer, spans);
  writer.finish(status, summary(), series());
  return writer.content_sha256();
}

inline bool same(const Span& a, const Span& b) {
  return a.action == b.action && a.iteration == b.iteration && a.start == b.start &&
         a.end == b.end && a.available == b.available && a.waited == b.waited &&
         a.reason == b.reason && a.blocker == b.blocker && a.cause == b.cause;
}

}  // namespace sluice::trace_case
