// Tests each format of export on a small trace. Also tests encodings of text and numbers, and tables for spreadsheets.
#include "support/export_case.hpp"

namespace sluice {

using namespace export_case;

TEST_CASE("The encoded bytes equal the bytes in the documentation of Protocol Buffers") {
  std::string out;
  ProtoWriter proto(out);
  proto.integer(1, 150);
  REQUIRE(out == "\x08\x96\x01");
  out.clear();
  proto.text(2, "testing");
  REQUIRE(out == "\x12\x07testing");
  out.clear();
  proto.message(3, [&] { proto.integer(1, 150); });
  REQUIRE(out == "\x1a\x03\x08\x96\x01");
  out.clear();
  proto.integer(1, static_cast<std::uint64_t>(std::int64_t{-2}));
  REQUIRE(out == "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  out.clear();
  proto.fixed64(47, 0x0102030405060708);  // field 47, type 1: 47 << 3 | 1 = 377 = 0b10'1111001
  REQUIRE(out == "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01");
  out.clear();
  proto.message(1, [&] { proto.text(2, std::string(300, 'x')); });
  REQUIRE(out == "\x0a\xaf\x02\x12\xac\x02" + std::string(300, 'x'));  // length 303 = 0x2f + 2 * 128
}

TEST_CASE("JSON strings are valid, and harmless inside HTML") {
  REQUIRE(json_string(evil) == R"("\u003c/script>\"\u000a")");
  REQUIRE(json_string("a\\b\x7f\t") == R"("a\\b\u007f\u0009")");
  REQUIRE(json_string("ä\xE2\x80\xA8\xE2\x80\xA9") == R"("ä\u2028\u2029")");
  REQUIRE(json_string("\xff ä\xc3") == "\"\xEF\xBF\xBD ä\xEF\xBF\xBD\"");
  for (int c = 0; c < 256; ++c) {
    const std::string text(1, static_cast<char>(c));
    const std::string expected = c < 0x80 ? text : "\xEF\xBF\xBD";
    REQUIRE(json::parse(json_string(text)).get<std::string>() == expected);
  }
}

TEST_CASE("Each byte that is not UTF-8 becomes U+FFFD, and no other byte is changed") {
  const std::string bad = "\xEF\xBF\xBD";
  REQUIRE(valid_utf8("aä€😀") == "aä€😀");
  REQUIRE(valid_utf8("\xC0\xAF") == bad + bad);                      // overlong
  REQUIRE(valid_utf8("\xE0\x80\xAF") == bad + bad + bad);            // overlong
  REQUIRE(valid_utf8("\xED\xA0\x80") == bad + bad + bad);            // a surrogate
  REQUIRE(valid_utf8("\xF4\x90\x80\x80") == bad + bad + bad + bad);  // beyond U+10FFFF
  REQUIRE(valid_utf8("\xE2\x82z") == bad + bad + "z");               // cut short
}

TEST_CASE("A CSV cell is quoted only if necessary") {
  REQUIRE(csv_cell("plain text") == "plain text");
  REQUIRE(csv_cell("a,b") == "\"a,b\"");
  REQUIRE(csv_cell("say \"x\"") == "\"say \"\"x\"\"\"");
  REQUIRE(csv_cell("\r\n") == "\"\r\n\"");
}

TEST_CASE("In JSON, whole numbers have no fraction, and NaN becomes null") {
  REQUIRE(json_number_text(3) == "3");
  REQUIRE(json_number_text(-0.5) == "-0.5");
  REQUIRE(json_number_text(std::nan("")) == "null");
  REQUIRE(json_number_text(HUGE_VAL) == "null");
  REQUIRE(json_number_text(9007199254740992.0) == "9007199254740992");
  REQUIRE(json::parse(json_number_text(1e300)).get<double>() == 1e300);
}

TEST_CASE(
    "The export for Perfetto has tracks below devices, slices, levels of memory, and a flow for each wait") {
  const Trace trace(labels(), spans(), events());
  const auto packets = packets_of(trace.as("perfetto"));
  // There are 6 tracks: one for the device, one for the memories, two for the streams, and two for the pools.
  REQUIRE(packets.size() == 6 + 2 * 4 + 4);
  for (std::uint64_t track = 1; track <= 6; ++track) {
    REQUIRE(packets[track - 1].number(10) == track);
    REQUIRE(packets[track - 1].number(13) == 1);
    REQUIRE(packets[track - 1].message(60).number(1) == track);
  }
  const Message device = packets[0].message(60);
  REQUIRE(device.message(3).number(1) == 1);
  REQUIRE(device.message(3).text(6) == "gpu");
  REQUIRE(packets[1].message(60).message(3).text(6) == "memories");
  REQUIRE(packets[2].message(60).text(2) == "gpu.compute");
  REQUIRE(packets[2].message(60).number(5) == 1);
  REQUIRE(packets[3].message(60).text(2) == "gpu.host.down");
  REQUIRE(packets[4].message(60).text(2) == "gpu memory");
  REQUIRE(packets[4].message(60).number(5) == 1);
  REQUIRE(packets[4].message(60).message(8).number(3) == 3);
  REQUIRE(packets[5].message(60).text(2) == "host memory");
  REQUIRE(packets[5].message(60).number(5) == 2);

  struct Expected {
    std::uint64_t track, begin, end;
    std::string name, kind;
    std::vector<std::string> annotations;
    std::uint64_t leaving, arriving;
  };
  const std::vector<Expected> expected = {
      {4, 0, 1'000'000, "0LOAD", "load", {"stage=first", "bytes=40", "latency_s=5e-04"}, 2, 0},
      {3,
       1'500'000,
       2'000'000,
       "0F0",
       "forward",
       {"stage=first", "micro_batch=0", "iteration=0", "flop=1000000000", "waited_s=0.0015",
        "waited_for=0LOAD"},
       0,
       2},
      {3,
       2'000'000,
       2'500'000,
       "0F0",
       "forward",
       {"stage=first", "micro_batch=0", "iteration=1", "flop=1000000000"},
       0,
       0},
      {4,
       2'000'000,
       3'000'000,
       "1LOAD",
       "load",
       {"stage=second", "iteration=1", "bytes=40", "waited_s=0.001", "waited_for=memory of gpu"},
       0,
       0}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("span " << i);
    const Message &begin = packets[6 + 2 * i], &end = packets[7 + 2 * i];
    const Message event = begin.message(11);
    REQUIRE(begin.number(8) == expected[i].begin);
    REQUIRE(begin.number(58) == 6);
    REQUIRE(begin.number(10) == expected[i].track);
    REQUIRE(event.number(9) == 1);
    REQUIRE(event.number(11) == expected[i].track);
    REQUIRE(event.text(23) == expected[i].name);
    REQUIRE(event.text(22) == expected[i].kind);
    REQUIRE(annotations(event) == expected[i].annotations);
    REQUIRE((event.has(47) ? event.number(47) : 0) == expected[i].leaving);
    REQUIRE((event.has(48) ? event.number(48) : 0) == expected[i].arriving);
    REQUIRE(end.number(8) == expected[i].end);
    REQUIRE(end.message(11).number(9) == 2);
    REQUIRE(end.message(11).number(11) == expected[i].track);
  }
  const std::vector<std::vector<std::uint64_t>> levels = {
      {5, 0, 40}, {5, 2'000'000, 80}, {5, 2'500'000, 40}, {6, 0, 40}};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Message& packet = packets[14 + i];
    REQUIRE(packet.message(11).number(9) == 4);
    REQUIRE(std::vector{packet.message(11).number(11), packet.number(8),
                        packet.message(11).number(30)} == levels[i]);
  }
}

TEST_CASE("The export for Chrome has processes, threads, spans, counters and flows") {
  const Trace trace(labels(), spans(), events());
  const json document = json::parse(trace.as("chrome"));
  REQUIRE(document["displayTimeUnit"] == "ns");
  REQUIRE(document["otherData"]["content_sha256"] == trace.reader().content_sha256());
  std::map<std::string, std::vector<json>> by_phase;
  for (const json& event : document["traceEvents"])
    by_phase[event["ph"].get<std::string>()].push_back(event);
  REQUIRE(by_phase["M"].size() == 2 * 2 + 2 * 2);
  REQUIRE(by_phase["M"][0] ==
          json::parse(R"({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "gpu"}})"));
  REQUIRE(by_phase["M"][6] == json::parse(R"({"ph": "M", "pid": 1, "tid": 2, "name": "thread_name",
                                             "args": {"name": "gpu.host.down"}})"));
  REQUIRE(by_phase["B"].size() == 4);
  json first = json::parse(R"({"ph": "B", "pid": 1, "tid": 2, "ts": 0,
      "name": "0LOAD", "cat": "load",
      "args": {"stage": "first", "bytes": 40, "latency_s": 0.0005}})");
  json second = json::parse(R"({"ph": "B", "pid": 1, "tid": 1, "ts": 1500,
      "name": "0F0", "cat": "forward", "args": {"stage": "first", "micro_batch": 0, "iteration": 0,
      "flop": 1000000000, "waited_s": 0.0015, "waited_for": "0LOAD"}})");
  REQUIRE(by_phase["B"][0] == first);
  REQUIRE(by_phase["B"][1] == second);
  // The event at the end of a slice has the same fields as the event at its beginning. Only the time and the letter of
  // `ph` differ.
  first["ph"] = second["ph"] = "E";
  first["ts"] = 1000;
  second["ts"] = 2000;
  REQUIRE(by_phase["E"].size() == 4);
  REQUIRE(by_phase["E"][0] == first);
  REQUIRE(by_phase["E"][1] == second);
  REQUIRE(by_phase["s"].size() == 1);
  REQUIRE(by_phase["s"][0] == json::parse(R"({"ph": "s", "pid": 1, "tid": 2, "ts": 999.999,
      "id": 2, "name": "wait", "cat": "wait"})"));
  REQUIRE(by_phase["f"].size() == 1);
  REQUIRE(by_phase["f"][0] == json::parse(R"({"ph": "f", "pid": 1, "tid": 1, "ts": 1500, "id": 2,
      "name": "wait", "cat": "wait", "bp": "e"})"));
  REQUIRE(by_phase["C"].size() == 4);
  REQUIRE(by_phase["C"][1] == json::parse(R"({"ph": "C", "pid": 1, "ts": 2000,
      "name": "gpu memory", "args": {"bytes": 80}})"));
  REQUIRE(by_phase["C"][3]["pid"] == 2);
}

TEST_CASE("The CSV has one row per span, and numbers with all their digits") {
  Labels named = labels();
  named.stages[0] = "a,\"b\"";
  std::vector<Span> rows = spans();
  rows[3].cause = 1;
  const Trace trace(named, rows);
  REQUIRE(
      trace.as("csv") ==
      "stream,device,action,kind,section,iteration,stage,stage_name,micro_batch,start_s,end_s,"
      "available_s,waited_s,reason,blocker,cause,bytes,flop\r\n"
      "gpu.host.down,gpu,0LOAD,load,prologue,0,0,\"a,\"\"b\"\"\",,0,0.001,0.0015,0,none,,,40,0\r\n"
      "gpu.compute,gpu,0F0,forward,body,0,0,\"a,\"\"b\"\"\",0,0.0015,0.002,0.002,0.0015,data,"
      "0LOAD,,0,1e+09\r\n"
      "gpu.compute,gpu,0F0,forward,body,1,0,\"a,\"\"b\"\"\",0,0.002,0.0025,0.0025,0,none,,,0,"
      "1e+09\r\n"
      "gpu.host.down,gpu,1LOAD,load,body,1,1,second,,0.002,0.003,0.003,0.001,memory,"
      "memory of gpu,1,40,0\r\n");
}

TEST_CASE("The data island has a row for each metric and key, with null if there is no number") {
  const Trace trace(labels(), spans(), {}, summary());
  const std::string text = trace.as("data-island", "metrics");
  REQUIRE_THAT(text, !Contains("<"));
  REQUIRE(json::parse(text) == json::parse(R"({"func": "quick_plot", "data": [
      ["metric", "key", "value", "unit"],
      ["makespan_s", "", 0.003, "s"],
      ["energy_j", "", null, "J"],
      ["peak_bytes", "gpu/weight", 80, "byte"],
      ["peak_bytes", "</script>\"\n/weight", 40, "byte"],
      ["bound_by", "", "host.down", ""]]})"));
}

TEST_CASE("The data island of stages has the seconds of each stage, with running totals") {
  Labels more = labels();
  more.actions.push_back({"UPDATE", "update", "epilogue", 0, -1, -1, 0, 5});
  std::vector<Span> all = spans();
  all.push_back(span(3, 0, 3, 4, 4));
  const json table = json::parse(Trace(more, all).as("data-island", "stages"))["data"];
  REQUIRE(table.size() == 4);
  REQUIRE(table[0].size() == 12);
  const auto near = [](const json& row, const std::vector<double>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (std::abs(row[i + 2].get<double>() - numbers[i]) > 1e-12) return false;
    return row.size() == numbers.size() + 2;
  };
  // The first row is for the actions without a stage. The second row is for the first stage, which has 2 computations
  // of 0.5 ms with 1e9 FLOP, and a load of 1 ms. The third row is for the second stage, which has only a load of 1 ms.
  REQUIRE((table[1][0] == 1 && table[1][1] == "(no stage)"));
  REQUIRE(near(table[1], {1, 1, 1, 5, 5, 0, 0, 0, 0, 0}));
  REQUIRE((table[2][0] == 2 && table[2][1] == "first"));
  REQUIRE(near(table[2], {2, 0.001, 1.001, 2e9, 2e9 + 5, 1, 0.001, 0.001, 40, 40}));
  REQUIRE((table[3][0] == 3 && table[3][1] == "second"));
  REQUIRE(near(table[3], {0, 0, 1.001, 0, 2e9 + 5, 1, 0.001, 0.002, 40, 80}));
}

TEST_CASE("The command export offers every format and every table of the catalog") {
  const Command& command = command_catalog().find("export");
  const auto choices = [&](const std::string& name) {
    for (const Option& option : command.options)
      if (option.name == name) return option.allowed();
    return std::vector<std::string>{};
  };
  REQUIRE(choices("to") == export_catalog().names());
  REQUIRE(choices("table") == tables_of(export_catalog().find("data-island")));
}

}  // namespace sluice
