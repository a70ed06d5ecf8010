// The trace file: what is written is read back, it is whole or absent, and bad targets and bad
// files are told from good ones.
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
#include "trace/hdf5/reader.hpp"
#include "trace/hdf5/writer.hpp"
#include "trace/memory_sink.hpp"

#ifdef __SANITIZE_ADDRESS__
// HDF5 itself loses a little memory where a write fails.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}
#endif

namespace sluice {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

/// A folder of its own for each test case.
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

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Labels labels() {
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

TraceHeader header() {
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

Summary summary() {
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

SeriesTable series() {
  SeriesTable table;
  table.width = 0.5;
  table.time = {0.5, 1.0, 1.5};
  table.utilisation = {0, 0.5, 1, 1, 0.25, 0};
  table.series = {{"samples_done", "sample", "count", {0, 1, 2}}};
  return table;
}

Span span_at(std::int64_t i) {
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

MemoryEvent event_at(std::int64_t i) {
  return {static_cast<double>(i) * 0.1, static_cast<std::uint32_t>(i % 2), 1, i % 4 < 2 ? 7 : -7,
          i % 4 < 2 ? 7 : 0};
}

void feed(Sink& sink, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    sink.span(span_at(i));
    sink.memory(event_at(i));
  }
}

/// Writes a whole trace and returns its content hash.
std::string write(const std::string& path, std::int64_t spans, std::size_t chunk_rows = 32768,
                  const TraceHeader& head = header(), TraceStatus status = TraceStatus::complete) {
  TraceWriter writer(path, head, labels(), chunk_rows);
  feed(writer, spans);
  writer.finish(status, summary(), series());
  return writer.content_sha256();
}

bool same(const Span& a, const Span& b) {
  return a.action == b.action && a.iteration == b.iteration && a.start == b.start &&
         a.end == b.end && a.available == b.available && a.waited == b.waited &&
         a.reason == b.reason && a.blocker == b.blocker && a.cause == b.cause;
}

}  // namespace

TEST_CASE("SHA-256 of 'abc' is that of FIPS 180-4, and goes on after hex()") {
  Sha256 hash;
  hash.update("ab");
  REQUIRE(hash.hex() == sha256_of("ab"));
  hash.update("c");
  REQUIRE(hash.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  REQUIRE(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("A trace gives back every span and memory event, across chunks and blocks") {
  const Folder folder;
  const std::int64_t count = GENERATE(0, 1, 999, 70'000);
  const std::string path = folder / "t.h5";
  write(path, count);

  const TraceReader trace(path);
  REQUIRE(trace.span_count() == static_cast<std::uint64_t>(count));
  std::int64_t seen = 0, different = 0;
  trace.spans([&](const std::vector<Span>& block) {
    for (const Span& span : block) different += !same(span, span_at(seen++));
  });
  REQUIRE(seen == count);
  REQUIRE(different == 0);

  for (const std::uint32_t pool : {0U, 1U}) {
    std::int64_t i = pool;
    trace.memory(pool, [&](const std::vector<MemoryEvent>& block) {
      for (const MemoryEvent& event : block) {
        const MemoryEvent expected = event_at(i);
        different += event.time != expected.time || event.level != expected.level ||
                     event.delta != expected.delta || event.tensor != expected.tensor ||
                     event.pool != pool;
        i += 2;
      }
    });
    REQUIRE(i == count + (count + pool) % 2);
    REQUIRE(different == 0);
  }
}

TEST_CASE("A trace gives back its header, labels, summary and series") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  const std::string hash = write(path, 10);
  const TraceReader trace(path);

  REQUIRE(trace.status() == TraceStatus::complete);
  REQUIRE(trace.content_sha256() == hash);
  REQUIRE(trace.scenario_sha256() == sha256_of(header().scenario));
  REQUIRE(trace.header().scenario == header().scenario);
  REQUIRE(trace.header().plan == "plan text\n");
  REQUIRE(trace.header().simgrid_settings == "precision:1e-9");

  const Labels& found = trace.labels();
  REQUIRE(found.streams.size() == 2);
  REQUIRE(found.streams[1].name == "gpu.host.down");
  REQUIRE(found.streams[1].kind == "copy");
  REQUIRE(found.pools[0].capacity == 24'000'000'000);
  REQUIRE(found.pools[1].name == "host/numa.0");
  REQUIRE(found.pools[1].capacity == -1);
  REQUIRE(found.tensors[1].name == "a0 ä");
  REQUIRE(found.tensors[1].tensor_class == "activation");
  REQUIRE(found.tensors[1].bytes == 7);
  REQUIRE(found.actions[0].kind == "load");
  REQUIRE(found.actions[0].section == "prologue");
  REQUIRE(found.actions[0].micro_batch == -1);
  REQUIRE(found.actions[0].bytes == 1000);
  REQUIRE(found.actions[2].section == "body");
  REQUIRE(found.actions[2].micro_batch == 1);
  REQUIRE(found.actions[2].flop == 2e9);
  REQUIRE(found.stages == std::vector<std::string>{"all"});

  const Summary numbers = trace.summary();
  REQUIRE(numbers.metrics.size() == 4);
  REQUIRE(numbers.metrics[0].name == "makespan_s");  // in the order of writing
  REQUIRE(numbers.metrics[0].unit == "s");
  REQUIRE(numbers.metrics[0].value.number == 1.5);
  REQUIRE(std::isnan(numbers.find("throughput")->value.number));
  REQUIRE(numbers.find("throughput")->value.absent == "no sample was completed");
  const auto& keyed = numbers.find("by_class")->value.keyed;
  REQUIRE(keyed.size() == 3);
  REQUIRE(keyed[1].key == std::vector<std::string>{"gpu", "input"});
  REQUIRE(keyed[2].key == std::vector<std::string>{"host/numa.0", "weight"});
  REQUIRE(keyed[2].number == 3);
  REQUIRE(numbers.find("bound_by")->value.text == "host.down");

  const SeriesTable table = trace.series();
  REQUIRE(table.width == 0.5);
  REQUIRE(table.time == std::vector<double>{0.5, 1.0, 1.5});
  REQUIRE(table.utilisation == std::vector<double>{0, 0.5, 1, 1, 0.25, 0});
  REQUIRE(table.utilisation_of(1)[1] == 0.25);
  REQUIRE(table.utilisation_of(2).empty());
  REQUIRE(table.series.size() == 1);
  REQUIRE(table.series[0].name == "samples_done");
  REQUIRE(table.series[0].unit == "sample");
}

TEST_CASE("The content hash is that of the content: not of chunks or provenance") {
  const Folder folder;
  const std::string hash = write(folder / "a.h5", 5000);
  REQUIRE(hash.size() == 64);
  REQUIRE(write(folder / "b.h5", 5000) == hash);
  REQUIRE(write(folder / "c.h5", 5000, 7) == hash);
  REQUIRE(write(folder / "d.h5", 5000, 4096) == hash);
  TraceHeader elsewhere = header();
  elsewhere.provenance = {{"host", "elsewhere"}};
  REQUIRE(write(folder / "e.h5", 5000, 32768, elsewhere) == hash);

  REQUIRE(write(folder / "f.h5", 4999) != hash);
  TraceHeader other = header();
  other.scenario += " ";
  REQUIRE(write(folder / "g.h5", 5000, 32768, other) != hash);
  REQUIRE(write(folder / "h.h5", 5000, 32768, header(), TraceStatus::aborted) != hash);
}

TEST_CASE("h5py opens a trace and comes to the same content hash") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  write(path, 5000, 1024);
  const std::string command = "/usr/bin/python3 -B " SLUICE_SOURCE_DIR
                              "/tests/unit/trace/trace_hash.py " +
                              path + " >/dev/null";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    WARN("h5py is not installed");
    return;
  }
  REQUIRE(WEXITSTATUS(status) == 0);
}

TEST_CASE("A trace tells how its run ended") {
  const Folder folder;
  const TraceStatus status =
      GENERATE(TraceStatus::complete, TraceStatus::aborted, TraceStatus::failed);
  write(folder / "t.h5", 10, 32768, header(), status);
  REQUIRE(TraceReader(folder / "t.h5").status() == status);
}

TEST_CASE(
    "The target is absent until the trace is finished, and nothing is left of one that is not") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  put(path, "what was here before");
  {
    TraceWriter writer(path, header(), labels());
    feed(writer, 10);
    REQUIRE(bytes_of(path) == "what was here before");
    REQUIRE(fs::exists(path + ".part"));
    REQUIRE_THROWS_AS(TraceReader(path + ".part"), IoError);
  }
  REQUIRE(bytes_of(path) == "what was here before");
  REQUIRE_FALSE(fs::exists(path + ".part"));
  write(path, 10);
  REQUIRE_FALSE(fs::exists(path + ".part"));
  REQUIRE(TraceReader(path).span_count() == 10);
}

TEST_CASE("A target that cannot be written is found before anything is simulated") {
  const Folder folder;
  const auto make = [](const std::string& path) { TraceWriter(path, header(), labels()); };
  fs::create_directory(folder / "folder");
  put(folder / "file", "");
  REQUIRE_THROWS_WITH(make(folder / "folder"), Contains("is a directory"));
  REQUIRE_THROWS_WITH(make(folder / "none/t.h5"), Contains("No such file or directory"));
  REQUIRE_THROWS_WITH(make(folder / "file/t.h5"), Contains("is not a directory"));
  REQUIRE_THROWS_WITH(make("/dev/null"), Contains("is not a regular file"));
  REQUIRE_THROWS_WITH(make(folder / "folder/"), Contains("names no file"));
  REQUIRE_THROWS_AS(make("/proc/t.h5"), IoError);
  fs::create_directory(folder / "read-only");
  fs::permissions(folder / "read-only", fs::perms::owner_read | fs::perms::owner_exec);
  if (geteuid() != 0)
    REQUIRE_THROWS_WITH(make(folder / "read-only/t.h5"), Contains("Permission denied"));
}

TEST_CASE("A second writer on one target is refused, and does not harm the first") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  TraceWriter first(path, header(), labels());
  feed(first, 100);
  REQUIRE_THROWS_AS(TraceWriter(path, header(), labels()), IoError);
  REQUIRE_THROWS_WITH(TraceWriter(path, header(), labels()), Contains("in use by another process"));
  first.finish(TraceStatus::complete, summary(), series());
  REQUIRE(TraceReader(path).span_count() == 100);
}

TEST_CASE("What a killed run left behind is no trace, and the next run takes it over") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  const pid_t child = fork();
  if (child == 0) {
    TraceWriter writer(path, header(), labels(), 64);
    feed(writer, 20'000);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(fs::exists(path + ".part"));
  REQUIRE_FALSE(fs::exists(path));
  REQUIRE_THROWS_AS(TraceReader(path + ".part"), InputError);
  write(path, 10);
  REQUIRE(TraceReader(path).span_count() == 10);
  REQUIRE_FALSE(fs::exists(path + ".part"));
}

TEST_CASE("A disk that is full is an IoError, and the .part is gone") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  // A limit on the size of files is a disk that is full: writing beyond it fails (EFBIG).
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{GENERATE(0U, 3000U, 40'000U, 100'000U), limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    write(path, 200'000, 1000);
  } catch (const IoError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  REQUIRE_THAT(message, Contains("cannot write '" + path + "'") && Contains("File too large"));
  REQUIRE(fs::is_empty(folder.path()));
  write(path, 10);  // the process goes on
  REQUIRE(TraceReader(path).span_count() == 10);
}

TEST_CASE("A file that is cut short is told from a trace at any length") {
  const Folder folder;
  write(folder / "t.h5", 5000, 512);
  const std::string whole = bytes_of(folder / "t.h5");
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{96}, std::size_t{2048},
        whole.size() / 4, whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
    put(folder / "cut.h5", whole.substr(0, length));
    INFO("length " << length);
    REQUIRE_THROWS_AS(TraceReader(folder / "cut.h5"), InputError);
  }
}

TEST_CASE("Damaged rows are found by their checksum") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  write(path, 100'000, 32768);
  // The middle of the file lies in a chunk of the spans.
  std::string bytes = bytes_of(path);
  for (std::size_t i = 0; i < 64; ++i) bytes[bytes.size() / 2 + i] ^= 0x55;
  put(path, bytes);
  const TraceReader trace(path);
  REQUIRE_THROWS_AS(trace.spans([](const std::vector<Span>&) {}), InputError);
}

TEST_CASE("What is no trace is refused with the reason") {
  const Folder folder;
  const auto open = [](const std::string& path) { TraceReader reader(path); };
  REQUIRE_THROWS_AS(open(folder / "none.h5"), IoError);
  REQUIRE_THROWS_WITH(open(folder / "none.h5"), Contains("No such file"));
  REQUIRE_THROWS_AS(open(folder.path().string()), IoError);
  put(folder / "text.h5", "format: sluice-scenario/1\n");
  REQUIRE_THROWS_WITH(open(folder / "text.h5"), Contains("not an HDF5 file"));
  put(folder / "empty.h5", "");
  REQUIRE_THROWS_WITH(open(folder / "empty.h5"), Contains("empty"));

  const std::string path = folder / "t.h5";
  const auto edited = [&](auto edit) {
    write(path, 10);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    REQUIRE(file >= 0);
    edit(file);
    REQUIRE(H5Fclose(file) >= 0);
  };
  edited([](hid_t file) { H5Adelete(file, "filetype"); });
  REQUIRE_THROWS_WITH(open(path), Contains("filetype"));
  edited([](hid_t file) {
    const int version[2] = {2, 0};
    const hid_t attribute = H5Aopen(file, "version", H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT, version);
    H5Aclose(attribute);
  });
  REQUIRE_THROWS_WITH(open(path), Contains("version is 2; known: 1"));
  edited([](hid_t file) { H5Ldelete(file, "/labels/actions/kind", H5P_DEFAULT); });
  REQUIRE_THROWS_WITH(open(path), Contains("/labels/actions/kind is missing"));
}

/// A column of f64 as version 1.0 has one for each stream.
void put_column(hid_t file, const char* path, const std::vector<double>& values) {
  const hsize_t size = values.size();
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &size);
  const hid_t made =
      H5Dcreate2(file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  REQUIRE(H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(made);
  H5Pclose(creation);
  H5Sclose(space);
}

TEST_CASE("A trace of version 1.0 is read: no causes, and utilisation by the name of a stream") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  write(path, 10);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const int version[2] = {1, 0};
  const hid_t attribute = H5Aopen(file, "version", H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT, version);
  H5Aclose(attribute);
  for (const char* name : {"/spans/cause", "/series/utilisation", "/series/stream"})
    REQUIRE(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  H5Gclose(H5Gcreate2(file, "/series/utilisation", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  put_column(file, "/series/utilisation/gpu.host.down", {1, 0.25, 0});
  put_column(file, "/series/utilisation/gpu.compute", {0, 0.5, 1});
  REQUIRE(H5Fclose(file) >= 0);

  const TraceReader trace(path);
  std::int64_t seen = 0, different = 0;
  trace.spans([&](const std::vector<Span>& block) {
    for (const Span& span : block) {
      Span expected = span_at(seen++);
      expected.cause = -1;
      different += !same(span, expected);
    }
  });
  REQUIRE(seen == 10);
  REQUIRE(different == 0);
  const SeriesTable table = trace.series();
  REQUIRE(table.utilisation == series().utilisation);
  REQUIRE(table.series.size() == 1);
}

TEST_CASE("A trace whose utilisation is not one row per stream is refused") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  TraceWriter writer(path, header(), labels());
  SeriesTable three = series();
  three.utilisation.resize(9);
  writer.finish(TraceStatus::complete, summary(), three);
  REQUIRE_THROWS_WITH(TraceReader(path).series(), Contains("/series/utilisation is not 2 x 3"));
}

TEST_CASE("A cause that is no row of the spans is refused") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  TraceWriter writer(path, header(), labels());
  Span span = span_at(1);
  span.cause = 1;  // there is one row, 0
  writer.span(span);
  writer.finish(TraceStatus::complete, summary(), series());
  REQUIRE_THROWS_WITH(TraceReader(path).spans([](const auto&) {}),
                      Contains("span number 1 is not in its table"));
}

TEST_CASE("Utilisation of thousands of streams stands in one table, in chunks of whole rows") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  Labels many = labels();
  many.streams.resize(2);
  for (int s = 2; s < 5000; ++s)
    many.streams.push_back({"g" + std::to_string(s), "compute", "g" + std::to_string(s)});
  SeriesTable table = series();
  table.utilisation.clear();
  for (int i = 0; i < 5000 * 3; ++i) table.utilisation.push_back(i % 7 / 8.0);
  TraceWriter writer(path, header(), many);
  writer.finish(TraceStatus::complete, summary(), table);
  const SeriesTable read = TraceReader(path).series();
  REQUIRE(read.utilisation == table.utilisation);
}

TEST_CASE("A trace never leads into another file") {
  const Folder folder;
  write(folder / "other.h5", 10);
  write(folder / "t.h5", 10);
  const hid_t file = H5Fopen((folder / "t.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(H5Ldelete(file, "/spans", H5P_DEFAULT) >= 0);
  REQUIRE(H5Lcreate_external("other.h5", "/spans", file, "/spans", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  REQUIRE(H5Fclose(file) >= 0);
  const TraceReader trace(folder / "t.h5");
  REQUIRE_THROWS_AS(trace.span_count(), InputError);
  REQUIRE_THROWS_WITH(trace.span_count(), Contains("link to elsewhere"));
}

TEST_CASE("Sinks without a file: one forgets, one keeps, one hands on") {
  MemorySink kept;
  NullSink nothing;
  FanOut both({&kept, &nothing});
  feed(both, 5);
  REQUIRE(kept.spans.size() == 5);
  REQUIRE(kept.events.size() == 5);
  REQUIRE(same(kept.spans[4], span_at(4)));
}

}  // namespace sluice
