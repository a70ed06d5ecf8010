// A small baseline and a small plan for the tests of `sluice check`.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "base/sha256.hpp"
#include "study/check/verdict.hpp"

namespace sluice::test {

inline constexpr auto low = Metric::Better::lower;
inline constexpr auto high = Metric::Better::higher;
inline constexpr auto neither = Metric::Better::neither;

inline Entry number(double value, Metric::Better better = low, double rtol = 1e-9,
                    double atol = 0) {
  Entry entry;
  entry.number = value;
  entry.unit = "s";
  entry.better = better;
  entry.rtol = rtol;
  entry.atol = atol;
  return entry;
}

inline Entry word(const std::string& text) {
  Entry entry;
  entry.text = text;
  return entry;
}

inline const std::string question = "policy:\n  name: resident\n  overlap: true\n";

inline Baseline baseline() {
  Baseline result;
  result.scenario = "s";
  result.program_version = "0.1.0";
  result.input_text = question;
  result.input_sha256 = sha256_of(question);
  result.entries[{"makespan_s", ""}] = number(2);
  result.entries[{"peak_bytes", "gpu"}] = number(1e9, low, 0.01, 16);
  result.entries[{"peak_bytes", "host"}] = number(0.1);
  result.entries[{"bound_by", ""}] = word("gpu.compute");
  Entry absent;
  absent.absent = "no sample was completed";
  absent.better = high;
  result.entries[{"throughput", ""}] = absent;
  return result;
}

inline const std::string plan_text = R"(format: sluice-plan/1
name two
iterations 2
pool gpu capacity=100B
pool host capacity=unlimited shared
link host.down bandwidth=30GB/s idle=0W busy=0W
route host>gpu links=host.down setup=0s latency=0s
stream gpu.compute kind=compute device=gpu idle=0W busy=0W
stream gpu.down kind=copy device=gpu idle=0W busy=0W
stage conv
tensor w class=weight bytes=10 home=host
body:
0F on=gpu.compute kind=forward stage=0 samples=1 seconds=0.5
0LOAD on=gpu.down kind=load moves=w route=host>gpu bytes=10 allocates=w@gpu uses=w@gpu
1F on=gpu.compute kind=forward stage=0 samples=1 seconds=0.25 waits=0LOAD
)";

inline std::string edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

inline Measurement same() {
  Measurement measurement;
  measurement.baseline = baseline();
  measurement.plan = plan_text;
  return measurement;
}

}  // namespace sluice::test
