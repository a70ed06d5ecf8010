// Tests folds. If a steady state has very many spans, a trace stores only one period of it. Whoever reads the trace
// must still get all spans of the steady state.
#include "bench/workload.hpp"
#include "execute/arithmetic/replay.hpp"
#include "metrics/series.hpp"
#include "run/labels.hpp"
#include "run/recording/recording.hpp"
#include "support/trace_case.hpp"

namespace sluice {
namespace {

using namespace trace_case;

/// Sends spans and events to another sink, one by one. The class does not override repeat(), so the spans and events of
/// repetitions come one by one, too.
class Walked final : public Sink {
 public:
  explicit Walked(Sink& sink) : sink_(sink) {}
  void span(const Span& span) override { sink_.span(span); }
  void memory(const MemoryEvent& event) override { sink_.memory(event); }

 private:
  Sink& sink_;
};

bool alike(const MemoryEvent& a, const MemoryEvent& b) {
  return a.time == b.time && a.pool == b.pool && a.tensor == b.tensor && a.delta == b.delta &&
         a.level == b.level;
}

/// Checks that the trace has exactly the spans and events that the sink `told` received.
void require_same(const TraceReader& trace, const MemorySink& told) {
  REQUIRE(trace.span_count() == told.spans.size());
  std::size_t seen = 0, different = 0;
  trace.spans([&](const std::vector<Span>& block) {
    for (const Span& span : block) different += !same(span, told.spans.at(seen++));
  });
  REQUIRE(seen == told.spans.size());
  for (std::uint32_t pool = 0; pool < trace.labels().pools.size(); ++pool) {
    std::vector<MemoryEvent> expected;
    for (const MemoryEvent& event : told.events)
      if (event.pool == pool) expected.push_back(event);
    REQUIRE(trace.event_count(pool) == expected.size());
    std::size_t at = 0;
    trace.memory(pool, [&](const std::vector<MemoryEvent>& block) {
      for (const MemoryEvent& event : block) different += !alike(event, expected.at(at++));
    });
    REQUIRE(at == expected.size());
  }
  REQUIRE(different == 0);
}

/// Sends some first spans, one period of spans and events, `times` repetitions of this period, and three last spans. A
/// binary number cannot give the seconds of the period exactly, so sums of times are rounded.
struct Steady {
  std::vector<Span> spans;
  std::vector<MemoryEvent> events;
  std::vector<std::uint32_t> streams;

  explicit Steady(const Labels& labels) {
    for (std::int64_t i = 4; i < 11; ++i) {
      spans.push_back(span_at(i));
      streams.push_back(labels.actions[spans.back().action].stream);
      if (i != 7) events.push_back(event_at(i));
    }
  }
  Repetition repetition(std::int64_t times) const {
    return {times, 0.7000000001, 2, spans, events, streams};
  }
  void feed(Sink& sink, std::int64_t times) const {
    trace_case::feed(sink, 4);
    for (const Span& span : spans) sink.span(span);
    for (const MemoryEvent& event : events) sink.memory(event);
    sink.repeat(repetition(times));
    for (std::int64_t i = 11; i < 14; ++i) {
      Span after = repetition(times).span(0, times);
      after.start = after.end = after.available = after.end + static_cast<double>(i);
      after.cause = i + 7 * times - 1;
      sink.span(after);
      sink.memory({after.end, 1, 0, 3, 10});
    }
  }
};

std::string write_steady(const std::string& path, std::int64_t times) {
  TraceWriter writer(path, header(), labels());
  Steady(labels()).feed(writer, times);
  writer.finish(TraceStatus::complete, summary(), series());
  return path;
}

std::vector<std::int32_t> version_of(const std::string& path) {
  std::vector<std::int32_t> version(2);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "version", H5P_DEFAULT);
  REQUIRE(H5Aread(attribute, H5T_NATIVE_INT32, version.data()) >= 0);
  H5Aclose(attribute);
  H5Fclose(file);
  return version;
}

/// Overwrites the first row of a column of the trace with `value`.
template <class T>
void put_first(const std::string& path, const char* column, hid_t type, T value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, column, H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  const hsize_t one = 1, first = 0;
  const hid_t memory = H5Screate_simple(1, &one, nullptr);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &one, nullptr);
  REQUIRE(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, &value) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(dataset);
  REQUIRE(H5Fclose(file) >= 0);
}

}  // namespace

TEST_CASE(
    "A steady state of more than a million spans is stored as a fold, and is read like the complete trace") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  // A period has seven spans, so 142,857 periods have 999,999 spans. With one more period, there are more than a
  // million spans, and the trace stores a fold.
  const std::int64_t times = GENERATE(142'857, 142'858, 200'000);
  const bool folded = times > 142'857;
  write_steady(path, times);
  MemorySink walked;
  Steady(labels()).feed(walked, times);
  REQUIRE(walked.spans.size() == 4 + 7 * (static_cast<std::size_t>(times) + 1) + 3);
  require_same(TraceReader(path), walked);
  CHECK(version_of(path) == std::vector<std::int32_t>{folded ? 2 : 1, folded ? 0 : 1});
  CHECK((fs::file_size(path) < 200'000) == folded);
}

TEST_CASE(
    "The trace of a run of a million steps is a small file, from which every span can be read") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  const Plan plan = bench::loop_plan(5, 120'000);
  MemorySink walked;
  Walked every(walked);
  replay(plan, every);
  TraceWriter writer(path, header(), labels_of(plan));
  replay(plan, writer);
  writer.finish(TraceStatus::complete, summary(), series());
  REQUIRE(walked.spans.size() == 1'200'000);
  CHECK(version_of(path)[0] == 2);
  CHECK(fs::file_size(path) < 500'000);
  require_same(TraceReader(path), walked);
}

TEST_CASE("A trace with a fold is read into memory completely, or is refused with a reason") {
  const Folder folder;
  MemorySink walked;
  Steady(labels()).feed(walked, 150'000);
  const Recording recording = recording_of(TraceReader(write_steady(folder / "t.h5", 150'000)));
  CHECK(recording.spans.size() == walked.spans.size());
  CHECK(recording.memory.size() == walked.events.size());
  const TraceReader large(write_steady(folder / "large.h5", 2'000'000));
  CHECK_THROWS_AS(recording_of(large), InputError);
  CHECK_THROWS_WITH(recording_of(large),
                    Contains("has 14000014 spans") && Contains("sluice export"));
}

TEST_CASE("The series are equal whether the replay skips or executes the steady state") {
  const Plan plan = bench::loop_plan(5, 120'000);
  SeriesSink folded(plan, 1e-3), walked(plan, 1e-3);
  Walked every(walked);
  replay(plan, folded);
  replay(plan, every);
  const SeriesTable a = folded.table(), b = walked.table();
  REQUIRE(a.width == b.width);
  REQUIRE(a.time.size() == b.time.size());
  REQUIRE(a.time.size() > 1000);
  REQUIRE(a.utilisation.size() == b.utilisation.size());
  for (std::size_t i = 0; i < a.utilisation.size(); ++i)
    REQUIRE(a.utilisation[i] == Approx(b.utilisation[i]).margin(1e-6));
  REQUIRE(a.series.size() == b.series.size());
  for (std::size_t s = 0; s < a.series.size(); ++s)
    for (std::size_t i = 0; i < a.time.size(); ++i)
      REQUIRE(a.series[s].values[i] == Approx(b.series[s].values[i]).epsilon(1e-6).margin(1));
}

TEST_CASE("For a trace with a fold, h5py and Sluice compute the same content hash") {
  const Folder folder;
  const std::string path = write_steady(folder / "t.h5", 200'000);
  require_hash_of_h5py(path);
}

TEST_CASE("Folds that contradict the spans and events of the file are refused") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  // The first use of HDF5 in a process must be a use by the code of Sluice, which gives HDF5 its settings. So a trace
  // is written before the names H5T_... below use HDF5.
  write_steady(path, 200'000);
  const auto refusal = [&](const char* column, auto value, hid_t type) {
    write_steady(path, 200'000);
    put_first(path, column, type, value);
    CAPTURE(column, value);
    const TraceReader trace(path);
    std::string said;
    try {
      trace.spans([](const auto&) {});
      trace.memory(0, [](const auto&) {});
    } catch (const InputError& error) {
      said = error.what();
    }
    CHECK_THAT(said, Contains("not a readable trace"));
    return said;
  };
  const auto whole = [&](const char* column, std::int64_t value) {
    return refusal(column, value, H5T_NATIVE_INT64);
  };
  CHECK_THAT(whole("/folds/first_row", -1), Contains("spans that the trace lacks"));
  CHECK_THAT(whole("/folds/first_row", 8), Contains("spans that the trace lacks"));
  CHECK_THAT(whole("/folds/rows", 0), Contains("spans that the trace lacks"));
  CHECK_THAT(whole("/folds/times", 0), Contains("at least one repetition"));
  CHECK_THAT(whole("/folds/times", std::int64_t{1} << 61), Contains("2^62"));
  CHECK_THAT(whole("/folds/iterations", std::int64_t{1} << 50), Contains("2^62 iterations"));
  CHECK_THAT(whole("/folds/events", 7), Contains("more events than the table 'order'"));
  CHECK_THAT(whole("/folds/events", 5), Contains("events that the trace lacks"));
  CHECK_THAT(whole("/folds/pools/first_row", 100), Contains("events that the trace lacks"));
  CHECK_THAT(whole("/folds/pools/rows", 1), Contains("events that the trace lacks"));
  CHECK_THAT(refusal("/folds/order/pool", std::uint32_t{2}, H5T_NATIVE_UINT32),
             Contains("has no pool"));
  CHECK_THAT(refusal("/folds/period", std::nan(""), H5T_NATIVE_DOUBLE),
             Contains("at least one repetition"));
}

}  // namespace sluice
