// Tests trace files. What is read from a trace must equal what was written. There is either a whole trace file or no
// file. A trace file says how the run ended.
#include "support/trace_case.hpp"

#ifdef __SANITIZE_ADDRESS__
// HDF5 itself leaks a little memory when a write fails.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}
#endif

namespace sluice {

using namespace trace_case;

TEST_CASE(
    "SHA-256 of 'abc' is the digest that FIPS 180-4 gives, and more bytes can be added after hex()") {
  Sha256 hash;
  hash.update("ab");
  REQUIRE(hash.hex() == sha256_of("ab"));
  hash.update("c");
  REQUIRE(hash.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  REQUIRE(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("Every span and memory event is read back from a trace, across chunks and blocks") {
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

TEST_CASE("The header, labels, summary and series are read back from a trace") {
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
  // The metrics are in the order in which they were written.
  REQUIRE(numbers.metrics[0].name == "makespan_s");
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

TEST_CASE("The content hash depends on the content of a trace, but not on chunks or provenance") {
  const Folder folder;
  const std::string hash = write(folder / "a.h5", 5000);
  REQUIRE(hash.size() == 64);
  REQUIRE(write(folder / "b.h5", 5000) == hash);
  REQUIRE(write(folder / "c.h5", 5000, 7) == hash);
  REQUIRE(write(folder / "d.h5", 5000, 4096) == hash);
  TraceHeader elsewhere = header();
  elsewhere.provenance = {{"host", "elsewhere"}};
  REQUIRE(write(folder / "e.h5", 5000, 32768, elsewhere) == hash);
  TraceHeader answered = header();
  answered.answer = R"({"asked": {"text": "all"}})";
  REQUIRE(write(folder / "i.h5", 5000, 32768, answered) == hash);
  REQUIRE(TraceReader(folder / "i.h5").header().answer == answered.answer);
  REQUIRE(TraceReader(folder / "e.h5").header().answer.empty());

  REQUIRE(write(folder / "f.h5", 4999) != hash);
  TraceHeader other = header();
  other.scenario += " ";
  REQUIRE(write(folder / "g.h5", 5000, 32768, other) != hash);
  REQUIRE(write(folder / "h.h5", 5000, 32768, header(), TraceStatus::aborted) != hash);
}

TEST_CASE("h5py opens a trace, and computes the same content hash as Sluice") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  write(path, 5000, 1024);
  require_hash_of_h5py(path);
}

TEST_CASE("A trace records how its run ended") {
  const Folder folder;
  const TraceStatus status =
      GENERATE(TraceStatus::complete, TraceStatus::aborted, TraceStatus::failed);
  write(folder / "t.h5", 10, 32768, header(), status);
  REQUIRE(TraceReader(folder / "t.h5").status() == status);
}

TEST_CASE(
    "The target is absent until the trace is finished, and a trace that is never finished leaves "
    "no file behind") {
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

TEST_CASE(
    "Three sinks have no file: one sink discards spans and events, one keeps them in memory, and one passes them on") {
  MemorySink kept;
  NullSink nothing;
  FanOut both({&kept, &nothing});
  feed(both, 5);
  REQUIRE(kept.spans.size() == 5);
  REQUIRE(kept.events.size() == 5);
  REQUIRE(same(kept.spans[4], span_at(4)));
}

}  // namespace sluice
