#include "fuzz/files.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "fuzz/hdf5_edits.hpp"
#include "profile/hdf5.hpp"
#include "study/sweep/store.hpp"
#include "study/trace_export.hpp"
#include "trace/hdf5/reader.hpp"
#include "trace/hdf5/writer.hpp"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;

/// A folder of this process, which is removed when the process ends.
class Folder {
 public:
  Folder() {
    const fs::path memory = "/dev/shm";  // this folder is in memory, not on a disk
    const fs::path parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    std::string name = (parent / "sluice-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

const Folder& folder() {
  static const Folder made;
  return made;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Span span_at(std::int64_t i) {
  Span span;
  span.action = static_cast<std::uint32_t>(i % 2);
  span.iteration = i / 2;
  span.start = static_cast<double>(i);
  span.end = span.start + 0.5;
  span.available = span.end;
  span.waited = 0.5;
  span.reason = i == 0 ? WaitReason::none : WaitReason::data;
  span.blocker = i == 0 ? Span::nobody : static_cast<std::uint32_t>((i + 1) % 2);
  span.cause = i - 1;
  return span;
}

/// The bytes of a file before any edit, and the objects in the file.
struct SoundFile {
  explicit SoundFile(const std::string& path)
      : bytes(bytes_of(path)), objects(hdf5_objects(path)) {}
  std::string bytes;
  std::vector<std::string> objects;
};

/// Writes six spans and six memory events. Then writes a fold, whose period has the last four spans and the last four
/// events.
void feed(TraceWriter& writer) {
  std::vector<Span> spans;
  std::vector<MemoryEvent> events;
  for (std::int64_t i = 0; i < 6; ++i) {
    spans.push_back(span_at(i));
    events.push_back({static_cast<double>(i), static_cast<std::uint32_t>(i % 2), 0,
                      i % 4 < 2 ? 7 : -7, i % 4 < 2 ? 7 : 0});
    writer.span(spans.back());
    writer.memory(events.back());
  }
  spans.erase(spans.begin(), spans.end() - 4);
  events.erase(events.begin(), events.end() - 4);
  const std::vector<std::uint32_t> streams = {0, 1, 0, 1};
  writer.repeat({Repetition::most_written, 4.0, 2, spans, events, streams});
}

/// Writes a trace with every kind of content that a trace can have.
SoundFile small_trace() {
  Labels labels;
  labels.streams = {{"gpu.down", "copy", "gpu"}, {"gpu.compute", "compute", "gpu"}};
  labels.pools = {{"gpu", 1000}, {"host", -1}};
  labels.tensors = {{"x", "input", 7}};
  labels.actions = {{"0LOAD", "load", "body", 0, 0, 0, 7, 0},
                    {"0F", "forward", "body", 1, 0, 0, 0, 9}};
  labels.stages = {"all"};
  TraceHeader header;
  header.program_version = header.git_sha = "0";
  header.scenario = "format: sluice-scenario/1\n";
  header.plan = "plan\n";
  header.provenance = {{"host", "somewhere"}};
  Summary summary;
  summary.metrics = {{"makespan_s", "s", "Time.", SummaryValue::of(1.5)},
                     {"energy_j", "J", "Energy.", SummaryValue::none("no watts")},
                     {"peak_bytes", "byte", "Peak.",
                      SummaryValue::of(std::vector<SummaryValue::Keyed>{{{"gpu", "input"}, 7}})},
                     {"bound_by", "", "What binds.", SummaryValue::of("gpu.down")}};
  SeriesTable series{.width = 3, .time = {3, 6}, .utilisation = {0.5, 0.5, 0.5, 0.5}};
  series.series = {{"samples_done", "sample", "count", {1, 3}}};
  const std::string path = folder() / "made.h5";
  TraceWriter writer(path, header, labels);
  feed(writer);
  writer.finish(TraceStatus::complete, summary, series);
  // The writer makes a fold only of very many repetitions. The edit below reduces the number of these repetitions to 3.
  edit_hdf5(path, hdf5_objects(path), "s folds/times 0 3");
  return SoundFile(path);
}

/// Returns a pair (format, table) for each table of each format. If a format has no tables, the table is "".
std::vector<std::pair<const ExportFormat*, std::string>> all_exports() {
  std::vector<std::pair<const ExportFormat*, std::string>> all;
  for (const ExportFormat* format : export_catalog().entries()) {
    std::vector<std::string> tables = tables_of(*format);
    if (tables.empty()) tables.emplace_back();
    for (const std::string& table : tables) all.emplace_back(format, table);
  }
  return all;
}

/// Reads the tables of a trace, and exports the trace to format number `way`. To save time, only one format is tried
/// per input. A trace with more than `most` spans or memory events is not exported.
void read_whole(const TraceReader& trace, std::size_t way) {
  constexpr std::uint64_t most = 20'000;
  static const auto exports = all_exports();
  (void)trace.summary();
  (void)trace.series();
  std::uint64_t rows = trace.span_count();
  for (std::uint32_t p = 0; p < trace.labels().pools.size(); ++p)
    rows = std::max(rows, trace.event_count(p));
  if (rows > most) return;
  const auto& [format, table] = exports[way % exports.size()];
  try {
    export_trace(trace, *format, table, [](std::string_view) {});
  } catch (const InputError&) {  // The trace lacks what this table or this format needs.
  }
}

}  // namespace

void read_edited_trace(const std::string& text, const std::string&) {
  static const SoundFile sound = small_trace();
  const std::string path = folder() / "t.h5";
  put(path, sound.bytes);
  edit_hdf5(path, sound.objects, text);
  read_whole(TraceReader(path), std::hash<std::string>()(text));
}

void read_edited_profile(const std::string& text, const std::string&) {
  know_hdf5_profiles();
  static const SoundFile sound = [] {
    const std::string made = folder() / "made_profile.h5";
    write_profile(parse_profile("# format: sluice-profile/1\n# device: T4\n# idle: 30W\n"
                                "operator,config,sizes,inputs,outputs,batch,dtype,pass,calls,"
                                "seconds_samples,joules_mean,flop\n"
                                "dense,16,m=4;n=16,4x8,4x16,4,float32,forward,2,0.1;0.2,0.5,1024\n"
                                "relu,,,4x16,4x16,4,float32,forward,1,0.01,,\n",
                                "p.csv"),
                  made);
    return SoundFile(made);
  }();
  const std::string path = folder() / "p.h5";
  put(path, sound.bytes);
  edit_hdf5(path, sound.objects, text);
  (void)profile_text(read_hdf5_profile_here(path));
}

void read_store_bytes(const std::string& text, const std::string&) {
  const std::string path = folder() / "s.db";
  for (const Store::Mode mode : {Store::Mode::read, Store::Mode::write}) {
    for (const char* ending : {"", "-wal", "-shm", "-journal"}) fs::remove(path + ending);
    put(path, text);
    Store store(path, mode);
    std::vector<std::string> keys;
    store.for_each([&](const StoredPoint& point) { keys.push_back(point.key); });
    for (const std::string& key : keys) (void)store.find(key);
    (void)store.size();
  }
}

}  // namespace sluice::test
