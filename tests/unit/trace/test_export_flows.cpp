// Tests exports of malicious names, of rounded times, and of traces that contradict themselves. Also tests flows. A
// flow is an arrow from the span that ended a wait to the span that waited.
#include "support/export_case.hpp"

namespace sluice {

using namespace export_case;

TEST_CASE("Names with special characters cannot break any format") {
  Labels labels;
  labels.streams = {{evil, "compute", evil}, {evil + "2", "copy", ""}};
  labels.pools = {{evil, 1}, {evil + "3", 1}};
  labels.tensors = {{evil, "weight", 1}};
  labels.actions = {{evil, evil, evil, 0, 0, -1, 0, 0}, {evil, "load", "body", 1, 7, -1, 0, 0}};
  labels.stages = {evil};
  const Trace trace(labels,
                    {span(1, 0, 0, 1, 1), span(0, 0, 1, 2, 2, 1, WaitReason::data, 1),
                     span(1, 1, 2, 3, 3, 1, WaitReason::memory, 1)},
                    {{0, 0, 0, 1, 1}, {0, 1, 0, 1, 1}});

  const std::string chrome = trace.as("chrome");
  REQUIRE_THAT(chrome, !Contains("<"));
  const json document = json::parse(chrome);
  int named = 0;
  for (const json& event : document["traceEvents"])
    if (event["ph"] == "B") named += event["name"] == evil;
  REQUIRE(named == 3);

  named = 0;
  for (const Message& packet : packets_of(trace.as("perfetto")))
    if (packet.has(11) && packet.message(11).has(23)) named += packet.message(11).text(23) == evil;
  REQUIRE(named == 3);

  const std::string csv = trace.as("csv");
  REQUIRE_THAT(csv, Contains(",\"</script>\"\"\n\",load,"));
  REQUIRE(json::parse(trace.as("data-island", "stages"))["data"][1][1] == evil);
  REQUIRE(json::parse(trace.as("data-island", "stages"))["data"][2][1] == "7");
}

TEST_CASE("A flow leads to each span that waited, from the execution that ended its wait") {
  Labels three = labels();
  three.streams.push_back({"gpu.host.up", "copy", "gpu"});
  three.actions.push_back({"0SAVE", "save", "body", 2, 0, 0, 40, 0});
  // The load of iteration 0 arrives at time 2, and the load of iteration 1 arrives at time 3. Spans 2 and 3 wait for
  // the load of iteration 0, although they end after the load of iteration 1 has arrived.
  const std::vector<Span> spans = {
      span(0, 0, 0, 1, 2),                          //
      span(0, 1, 1, 3, 3),                          //
      span(1, 0, 2, 4, 4, 2, WaitReason::data, 0),  //
      span(3, 0, 2, 5, 5, 2, WaitReason::data, 0),  //
      span(0, 2, 4, 5, 5, 1, WaitReason::data, 1),  //
      span(1, 1, 4, 6, 6),                          // waits for nothing
      span(0, 3, 7, 8, 8, 2, WaitReason::data, 0),  // nothing arrives at time 7
      span(0, 4, 8, 9, 9),                          //
      span(1, 2, 9, 10, 10, 3, WaitReason::data, 0)};
  const Trace trace(three, spans);
  using Flows = std::vector<std::pair<int, int>>;
  REQUIRE(flows_of(trace.reader(), 100) == Flows{{0, 2}, {0, 3}, {2, 4}, {7, 8}});
  // A window holds only the last spans. With a window of 3 spans, span 0 has left the window when span 3 comes. So
  // there is no flow from span 0 to span 3.
  REQUIRE(flows_of(trace.reader(), 3) == Flows{{0, 2}, {2, 4}, {7, 8}});
  REQUIRE(flows_of(trace.reader(), 1).empty());
}

TEST_CASE("If a trace names causes, flows begin at the causes, also for waits for memory") {
  // Span 2 waits for the action of span 0, and starts when span 0 ends, at time 2. Span 1 arrives at time 2, too, but
  // no span waits for its action. Span 3 waits for memory that span 2 frees at its end.
  Labels two = labels();
  std::vector<Span> spans = {span(1, 0, 0, 2, 2), span(0, 0, 0, 2, 2),
                             span(2, 0, 2, 3, 3, 0, WaitReason::data, 1),
                             span(1, 1, 3, 4, 4, 1, WaitReason::memory, 0)};
  spans[2].cause = 0;
  spans[3].cause = 2;
  using Flows = std::vector<std::pair<int, int>>;
  REQUIRE(flows_of(Trace(two, spans).reader(), 100) == Flows{{0, 2}, {2, 3}});
  // The cause of a wait is the span that ended the wait. If the cause has left the window, or comes after the waiting
  // span, there is no flow.
  REQUIRE(flows_of(Trace(two, spans).reader(), 1).empty());
  spans[2].cause = 3;
  REQUIRE(flows_of(Trace(two, spans).reader(), 100) == Flows{{2, 3}});
}

TEST_CASE(
    "After rounding to nanoseconds, the slices of a track do not overlap, and no slice ends before its start") {
  Labels one = labels();
  std::vector<Span> spans;
  double time = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double end = time + 1e-10 * (i % 37);
    spans.push_back(span(1, i, time, end, end));
    time = end + 1e-10 * (i % 11);
  }
  const Trace trace(one, spans);
  std::uint64_t last = 0, count = 0, backwards = 0, far = 0;
  for_each_slice(trace.reader(), [&](const Slice& slice) {
    backwards += slice.begin < last || slice.end < slice.begin;
    far += std::abs(static_cast<double>(slice.begin) - slice.span.start * 1e9) > 0.5 + 1e-6;
    last = slice.end;
    ++count;
  });
  REQUIRE(count == 20'000);
  REQUIRE(backwards == 0);
  REQUIRE(far == 0);
}

TEST_CASE("A trace that contradicts itself is refused with the reason") {
  const auto refused = [](const std::vector<Span>& spans, const std::string& reason) {
    const Trace trace(labels(), spans);
    for (const char* format : {"perfetto", "chrome"}) {
      REQUIRE_THROWS_AS(trace.as(format), InputError);
      REQUIRE_THROWS_WITH(trace.as(format), Contains(trace.reader().path()) && Contains(reason));
    }
  };
  refused(
      {span(1, 0, 0, 2, 2), span(1, 1, 1.5, 3, 3)},
      "spans overlap on 'gpu.compute': one starts at 1.5 s, before the end of the previous span "
      "at 2 s");
  refused({span(1, 0, 2, 1, 2)}, "a span on 'gpu.compute' starts at 2 s and ends at 1 s");
  refused({span(1, 0, -1, 1, 1)}, "-1 s");
  refused({span(1, 0, std::nan(""), 1, 1)}, "nan");
  refused({span(1, 0, 0, HUGE_VAL, 1)}, "inf");
  refused({span(1, 0, 0, 1e10, 1e10)}, "1e+10 s is not in 0..");
  const Trace trace(labels(), {}, {{2, 0, 0, 40, 40}, {1, 0, 0, 40, 80}});
  REQUIRE_THROWS_WITH(trace.as("perfetto"),
                      Contains("events of the pool 'gpu' are not in the order of time: the event at 1 s"));
}

TEST_CASE("Every format writes a trace without spans, and writes a long trace in pieces") {
  const Trace empty(labels(), {});
  std::vector<Span> many;
  for (int i = 0; i < 40'000; ++i) many.push_back(span(1, i, i, i + 1, i + 1));
  const Trace trace(labels(), many);
  for (const ExportFormat* format : export_catalog().entries()) {
    INFO(format->name);
    const std::string table = format->tables.empty() ? "" : format->tables.front();
    REQUIRE(!empty.as(format->name, table).empty());
    REQUIRE(!format->summary.empty());
    REQUIRE(!format->source.empty());
    if (!format->tables.empty()) continue;
    std::size_t pieces = 0, largest = 0;
    format->write(trace.reader(), table, [&](std::string_view text) {
      ++pieces;
      largest = std::max(largest, text.size());
    });
    REQUIRE(pieces > 10);
    REQUIRE(largest < 100'000);
  }
}

}  // namespace sluice
