// Tests pipelines with both executors. A plan lists all actions of one rank (a device), then those of the next rank.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/quantity.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "support/source_folder.hpp"

namespace sluice {
namespace {

/// Returns a pipeline of forward passes only. Every device has 80 GB, computes all micro-batches, and sends each
/// micro-batch to the next device.
std::string forward_pipeline(int devices, int micro_batches) {
  std::ostringstream head, tensors, actions;
  head << "format: sluice-plan/1\nname \"forward\"\niterations 1\n";
  for (int d = 0; d < devices; ++d) {
    head << "pool g" << d << " capacity=80GB\nstream g" << d << ".c kind=compute device=g" << d
         << '\n';
    if (d + 1 < devices)
      head << "link l" << d << " bandwidth=25GB/s\nroute r" << d << " links=l" << d
           << " latency=10us\nstream g" << d << ".n kind=copy device=g" << d << '\n';
    for (int m = 0; m < micro_batches; ++m) {
      const std::string id = std::to_string(d) + "." + std::to_string(m);
      const std::string before = std::to_string(d - 1) + "." + std::to_string(m);
      const std::string here = "@g" + std::to_string(d);
      const bool last = d + 1 == devices;
      tensors << "tensor a" << id << " class=activation bytes=16000000\n";
      actions << "F" << id << " on=g" << d << ".c kind=forward micro_batch=" << m
              << " samples=1 seconds=0.001";
      if (d > 0) actions << " waits=S" << before;
      actions << " allocates=a" << id << here;
      if (d > 0 || last) actions << " uses=";
      if (d > 0) actions << "a" << before << here;
      if (last) actions << (d > 0 ? "," : "") << "a" << id << here;
      actions << '\n';
      if (!last)
        actions << "S" << id << " on=g" << d << ".n kind=send micro_batch=" << m << " moves=a" << id
                << " route=r" << d << " bytes=16000000 waits=F" << id << " allocates=a" << id
                << "@g" << d + 1 << " uses=a" << id << here << '\n';
    }
  }
  return head.str() + tensors.str() + "prologue:\nbody:\n" + actions.str() + "epilogue:\n";
}

// Each of the 60 devices takes 1 ms per micro-batch. Each of the 59 transfers takes 16 MB / (25 GB/s) = 0.64 ms, and
// the data arrive 10 us later. The first micro-batch is done after 60 x 1 + 59 x 0.65 = 98.35 ms. The other four
// micro-batches follow at intervals of 1 ms. So the run ends at 102.35 ms. For each device, the plan lists all
// transfers to this device before the first forward pass on it. If grants followed this order strictly, each device
// would wait for the last arrival, and the run would end at 300 ms.
TEST_CASE("a pipeline of 60 devices, listed rank by rank, does not wait for its listing") {
  const Plan plan = plan_from_text(forward_pipeline(60, 5), "forward");
  check(plan);
  CHECK(replay(plan).makespan == Approx(0.10235).epsilon(1e-12));
  CHECK(execute_isolated(plan).report.makespan == replay(plan).makespan);
}

/// Makes the text of a plan. The plan lists the actions rank by rank. One row of Table 5 in the paper 'Zero Bubble'
/// gives the order of each rank's actions. A transfer to a rank is listed before the computation that needs its tensor.
/// A forward pass F keeps bytes. The backward passes B and W free them. A tensor that arrives takes one unit of memory.
class ZeroBubble {
 public:
  explicit ZeroBubble(const nlohmann::json& row)
      : row_(row), ranks_(row["p"]), b_units_(-units("B")), w_units_(-units("W")) {
    for (int r = 0; r < ranks_; ++r) add_rank(r);
    for (int r = 0; r < ranks_; ++r) head_ << "stage s" << r << '\n';
  }

  std::string text() const {
    return "format: sluice-plan/1\nname \"zero bubble\"\niterations 1\n" + head_.str() +
           tensors_.str() + "prologue:\nbody:\n" + actions_.str() + "epilogue:\n";
  }

 private:
  std::int64_t units(const char* kind) const { return row_["mem_units"][kind]; }
  double seconds(const char* kind) const {
    return row_["T_" + std::string(kind) + "_us"].get<double>() * 1e-6;
  }
  static std::string id(const std::string& what, int rank, const std::string& m) {
    return what + std::to_string(rank) + "." + m;
  }

  void add_rank(int r) {
    const std::int64_t limit = row_["mem_limit_in_M_B"].get<std::int64_t>() * units("F");
    head_ << "pool g" << r << " capacity=" << limit + 2 * row_["m"].get<int>() << "B\nstream g" << r
          << ".c kind=compute device=g" << r << '\n';
    for (const int to : {r + 1, r - 1}) {
      if (to < 0 || to >= ranks_) continue;
      const std::string name = std::to_string(r) + "_" + std::to_string(to);
      head_ << "link l" << name << " bandwidth=1GB/s\nroute r" << name << " links=l" << name
            << " latency=" << exact(seconds("comm")) << "s\nstream c" << name
            << " kind=copy device=g" << r << '\n';
    }
    std::istringstream order(
        row_["order_per_stage"][static_cast<std::size_t>(r)].get<std::string>());
    for (std::string token; order >> token;) add(r, token.substr(0, 1), token.substr(1));
  }

  void add(int r, const std::string& kind, const std::string& m) {
    const std::string here = "@g" + std::to_string(r);
    const int from = kind == "F" ? r - 1 : kind == "B" ? r + 1 : -1;
    const bool arrives = from >= 0 && from < ranks_;
    if (arrives) add_arrival(kind, from, r, m);
    actions_ << id(kind, r, m) << " on=g" << r << ".c kind="
             << (kind == "F"   ? "forward"
                 : kind == "B" ? "backward_input"
                               : "backward_weight")
             << " stage=" << r << " micro_batch=" << m
             << " samples=1 seconds=" << exact(seconds(kind.c_str()));
    if (arrives)
      actions_ << " waits=" << id("S" + kind, from, m);
    else if (kind == "B")
      actions_ << " waits=" << id("F", r, m);
    if (kind == "F") {
      tensors_ << "tensor " << id("b", r, m) << " class=activation bytes=" << b_units_
               << "\ntensor " << id("w", r, m) << " class=activation bytes=" << w_units_ << '\n';
      actions_ << " allocates=" << id("b", r, m) << here << ',' << id("w", r, m) << here;
    }
    if (arrives || kind != "F") actions_ << " uses=";
    if (arrives) actions_ << id("x" + kind, from, m) << here;
    if (kind != "F") actions_ << (arrives ? "," : "") << id(kind == "B" ? "b" : "w", r, m) << here;
    actions_ << '\n';
  }

  void add_arrival(const std::string& kind, int from, int to, const std::string& m) {
    const std::string name = std::to_string(from) + "_" + std::to_string(to);
    tensors_ << "tensor " << id("x" + kind, from, m) << " class=activation bytes=1\n";
    actions_ << id("S" + kind, from, m) << " on=c" << name << " kind=send stage=" << from
             << " micro_batch=" << m << " moves=" << id("x" + kind, from, m) << " route=r" << name
             << " bytes=0 waits=" << id(kind, from, m) << " allocates=" << id("x" + kind, from, m)
             << "@g" << to << '\n';
  }

  const nlohmann::json& row_;
  int ranks_;
  std::int64_t b_units_, w_units_;
  std::ostringstream head_, tensors_, actions_;
};

double bubble(const Plan& plan, const MemoryTrace& trace) {
  Totals totals(plan);
  for (const Span& span : trace.spans) totals.span(span);
  return metric_catalog().find("bubble_fraction").value(totals).number;
}

TEST_CASE("the published orders of Zero Bubble's Table 5 run rank by rank with enforced memory") {
  const std::string path = test::source_folder() + "/../shared/data/pipeline/zb_1p_2p_orders.json";
  if (!std::filesystem::exists(path)) {
    WARN("skipped: there are no published orders");
    return;
  }
  const nlohmann::json rows = nlohmann::json::parse(std::ifstream(path));
  REQUIRE(rows.size() == 12);
  for (const nlohmann::json& row : rows) {
    INFO(row["model"] << ", " << row["m"] << " micro-batches, " << row["schedule"]);
    const Plan plan = plan_from_text(ZeroBubble(row).text(), "zero bubble");
    check(plan);
    MemorySink replayed;
    replay(plan, replayed);
    MemoryTrace trace;
    trace.spans = replayed.spans;
    CHECK(bubble(plan, trace) == Approx(row["paper_bubble"].get<double>()).margin(0.0002));
    CHECK(bubble(plan, execute_isolated(plan)) ==
          Approx(row["paper_bubble"].get<double>()).margin(0.0002));
  }
}

}  // namespace
}  // namespace sluice
