// Tests sweeps: their axes, the results of their points, and what a store contains.
#include <catch2/catch.hpp>

#include <sqlite3.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "document/load.hpp"
#include "run/run.hpp"
#include "study/sweep/findings.hpp"
#include "study/sweep/store.hpp"
#include "study/sweep/sweep.hpp"
#include "support/bad_input.hpp"
#include "support/source_folder.hpp"

using namespace sluice;
using Catch::Matchers::Contains;
using Words = std::vector<std::string>;
using Status = PointResult::Status;

namespace {

Words values(const std::string& word) {
  return parse_axis(word).values;
}

std::string refusal(const std::string& word) {
  return test::error_of([&] { parse_axis(word); });
}

const std::string resident = test::source_folder() + "/scenarios/alexnet_resident.yaml";

const Variants& variants() {
  static const Variants made(load_file(resident), resident, {"workload.steps=2"});
  return made;
}

/// A folder that is removed when the test ends.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sluice-sweep-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return path / name; }
};

PointResult with_numbers(std::vector<double> numbers) {
  PointResult result{.status = Status::complete};
  result.names = shared_names(
      {{"exposed_transfer_s", {}, "s"}, {"compute_s", {}, "s"}, {"peak_bytes", {"gpu"}, "byte"}});
  result.numbers = std::move(numbers);
  return result;
}

PointResult without(Status status, const std::string& message) {
  return {.status = status, .reason = message, .message = message};
}

}  // namespace

TEST_CASE(
    "An axis is a list of values, a range with steps, a range with a factor, or a range of whole numbers") {
  CHECK(parse_axis("a.b=1,2,x").key == "a.b");
  CHECK(values("a=1,2,x") == Words{"1", "2", "x"});
  CHECK(values("a=[1,2],{b: [3,4], c: 5},'6,7'") == Words{"[1,2]", "{b: [3,4], c: 5}", "'6,7'"});
  CHECK(values("a=16GB/s..64GB/s:4") == Words{"16GB/s", "32GB/s", "48GB/s", "64GB/s"});
  CHECK(values("a=16..64GB/s:3") == Words{"16GB/s", "40GB/s", "64GB/s"});
  CHECK(values("a=1..32*2") == Words{"1", "2", "4", "8", "16", "32"});
  CHECK(values("a=1..31*2") == Words{"1", "2", "4", "8", "16"});
  CHECK(values("a=0.1s..100s*10") == Words{"0.1s", "1s", "10s", "100s"});
  CHECK(values("a=3..6") == Words{"3", "4", "5", "6"});
  CHECK(values("a=0,2..4,10..20:2") == Words{"0", "2", "3", "4", "10", "20"});
  CHECK(values("a=../platforms/k40.yaml") == Words{"../platforms/k40.yaml"});
  CHECK(values("a=4GB..16GB:4") == Words{"4GB", "8GB", "12GB", "16GB"});
  // Values such as 10/3 GB, or 4/3 KiB = 1365.3 B, are rounded to whole bytes.
  CHECK(values("a=0GB..10GB:4") == Words{"0GB", "3333333333B", "6666666667B", "10GB"});
  CHECK(values("a=1..4GB*1.5") == Words{"1GB", "1.5GB", "2.25GB", "3.375GB"});
  CHECK(values("a=1KiB..2KiB:4") == Words{"1KiB", "1365B", "1707B", "2KiB"});
  for (const std::string& value : values("a=4GB..16GB:100")) CHECK_NOTHROW(parse_bytes(value));
  CHECK(values("a=10000000..100000000*10") == Words{"10000000", "100000000"});
  CHECK(values("a=100000000..300000000:3") == Words{"100000000", "200000000", "300000000"});
  CHECK(values("a=1e7..1e8*10") == Words{"1e+07", "1e+08"});
  CHECK(values("a=10%..30%:3") == Words{"10%", "20%", "30%"});
}

TEST_CASE("An impossible range is refused with an example of a valid range") {
  for (const char* word : {"a=1..5:1", "a=1..5:x", "a=1..5*1", "a=0..5*2", "a=5..1", "a=1.5..3",
                           "a=1GB..2MB:3", "a=1,,2", "nokey", "=3", "a=1..5000000"}) {
    CAPTURE(word);
    CHECK_THAT(refusal(word), Contains("expected KEY=a,b,c") && Contains(word));
  }
}

TEST_CASE(
    "A grid has all combinations of values, and the last key changes fastest. A zip takes the n-th values of all "
    "keys together") {
  const Points grid({{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}}, Over::grid);
  REQUIRE(grid.size() == 6);
  CHECK(grid.overrides(0) == Words{"a=1", "b=x"});
  CHECK(grid.overrides(2) == Words{"a=1", "b=z"});
  CHECK(grid.overrides(3) == Words{"a=2", "b=x"});
  CHECK(grid.text(5) == "a=2, b=z");
  const Points zip({{"a", {"1", "2"}}, {"b", {"x", "y"}}}, Over::zip);
  REQUIRE(zip.size() == 2);
  CHECK(zip.overrides(1) == Words{"a=2", "b=y"});
  CHECK(Points({}, Over::grid).size() == 1);
  CHECK(Points({"a", "b"}, {{"1", "x"}, {"2", "y"}, {"3", "z"}}).text(2) == "a=3, b=z");
  const auto refused = [](auto&& make) { return test::error_of(make); };
  CHECK_THAT(refused([] { Points({{"a", {"1"}}, {"a", {"2"}}}, Over::grid); }), Contains("twice"));
  CHECK_THAT(refused([] {
               Points({{"a", {"1"}}, {"b", {"2", "3"}}}, Over::zip);
             }),
             Contains("'a' has 1 and 'b' has 2"));
  CHECK_THAT(refused([] {
               const Axis many = parse_axis("a=1..1001");
               Points({many, {"b", many.values}}, Over::grid);
             }),
             Contains("more than a million"));
}

TEST_CASE("With any number of threads, a point gives the result of a run with the point's values") {
  const Points points({parse_axis("workload.batch=1..16*4"),
                       parse_axis("platform.links.host.bandwidth=4GB/s,16GB/s")},
                      Over::grid);
  const SweepResult one = run_sweep({.variants = variants(), .points = points, .jobs = 1});
  const SweepResult many = run_sweep({.variants = variants(), .points = points, .jobs = 4});
  REQUIRE(one.outcomes.size() == 6);
  for (std::size_t p = 0; p < points.size(); ++p) {
    Words overrides = points.overrides(p);
    overrides.insert(overrides.begin(), "workload.steps=2");
    const Plan plan = make_plan(load_scenario(resident, overrides));
    const Summary summary = run({.plan = plan, .executor = Executor::replay}).summary;
    for (const char* metric : {"makespan_s", "exposed_transfer_s", "energy_j"})
      // Results may differ in the last bits: run() executes each action, but a sweep leaves out repeated periods.
      CHECK(one.outcomes[p].number(metric) ==
            Approx(summary.find(metric)->value.number).epsilon(1e-12));
    CHECK(packed(one.outcomes[p]) == packed(many.outcomes[p]));
  }
}

TEST_CASE(
    "A point that does not fit is an answer, and a point that cannot be evaluated is an error in its row") {
  const Points points({parse_axis("workload.batch=8,1000000,x")}, Over::grid);
  const SweepResult result = run_sweep({.variants = variants(), .points = points, .jobs = 2});
  CHECK(result.outcomes[0].status == Status::complete);
  CHECK(result.outcomes[1].status == Status::infeasible);
  CHECK_THAT(result.outcomes[1].shortage,
             Contains("\"pool\":\"gpu\"") || Contains("\"pool\": \"gpu\""));
  CHECK(result.outcomes[2].status == Status::failed);
  CHECK_THAT(result.outcomes[2].message, Contains("workload.batch=x:1:16: error:"));
  CHECK(std::isnan(result.outcomes[1].number("makespan_s")));
  CHECK(result.count(Status::complete) == 1);
}

TEST_CASE(
    "SimGrid verifies a share of the points, rounded up to whole points, and always verifies the same points") {
  const Points points({parse_axis("a=1..200")}, Over::grid);
  std::vector<std::size_t> complete;
  for (std::size_t p = 0; p < points.size(); p += 2) complete.push_back(p);
  const std::vector<std::size_t> few = points_to_verify(points, complete, 0.015);
  REQUIRE(few.size() == 2);
  for (const std::size_t point : few) CHECK(point % 2 == 0);
  const std::vector<std::size_t> more = points_to_verify(points, complete, 0.3);
  REQUIRE(more.size() == 30);
  CHECK(std::equal(few.begin(), few.end(), more.begin()));
  CHECK(points_to_verify(points, complete, 0).empty());
  CHECK(points_to_verify(points, complete, 1).size() == 100);
}

TEST_CASE("A store gives back the points that it was given") {
  const Folder folder;
  const double none = std::nan("");
  {
    Store store(folder.file("a.db"));
    store.put({"k1", "s", {{"x", "1"}, {"y.z", "2GB"}}, with_numbers({1.0 / 3, none, 5e9})});
    store.put({"k2", "s", {}, without(Status::infeasible, "too \"large\"\nby far")});
    store.put({"k3", "s", {}, without(Status::failed, "what?")});
    store.set_verified("k1");
    store.commit();
  }
  Store store(folder.file("a.db"), Store::Mode::read);
  CHECK(store.size() == 3);
  CHECK_FALSE(store.find("k4"));
  const PointResult first = *store.find("k1");
  CHECK(first.status == Status::complete);
  CHECK(first.verified);
  CHECK(first.number("exposed_transfer_s") == 1.0 / 3);
  CHECK(std::isnan(first.number("compute_s")));
  CHECK(first.number("peak_bytes[gpu]") == 5e9);
  CHECK(store.find("k2")->message == "too \"large\"\nby far");
  Words keys;
  store.for_each([&](const StoredPoint& point) { keys.push_back(point.key); });
  CHECK(keys == Words{"k1", "k2", "k3"});
}

TEST_CASE("Stores are merged: an answer replaces a failure, but does not replace another answer") {
  const Folder folder;
  {
    Store other(folder.file("b.db"));
    other.put({"k1", "s", {}, with_numbers({1, 1, 1})});
    other.put({"k2", "s", {}, with_numbers({2, 2, 2})});
    other.put({"k3", "s", {}, without(Status::failed, "again")});
    other.commit();
  }
  Store store(folder.file("a.db"));
  store.put({"k1", "s", {}, without(Status::failed, "what?")});
  store.put({"k2", "s", {}, with_numbers({9, 9, 9})});
  CHECK(merge(store, folder.file("b.db")) == 2);
  CHECK(store.find("k1")->number("compute_s") == 1);
  CHECK(store.find("k2")->number("compute_s") == 9);
  CHECK(store.find("k3")->message == "again");
  CHECK_THAT(test::error_of([&] { merge(store, folder.file("c.db")); }),
             Contains("there is no store") && Contains("c.db"));
}

TEST_CASE("A file that is not a store of this version is refused, and is not changed") {
  const Folder folder;
  std::ofstream(folder.file("text.db")) << std::string(4096, 'x');
  CHECK_THAT(test::error_of([&] { Store store(folder.file("text.db")); }),
             Contains("is not a store of sweeps"));
  const auto make = [&](const std::string& name, const char* sql) {
    sqlite3* database = nullptr;
    REQUIRE(::sqlite3_open(folder.file(name).c_str(), &database) == SQLITE_OK);
    REQUIRE(::sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    ::sqlite3_close(database);
  };
  const auto bytes_of = [&](const std::string& name) {
    std::ifstream file(folder.file(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  make("other.db", "CREATE TABLE mine (a)");
  const std::string before = bytes_of("other.db");
  REQUIRE_FALSE(before.empty());
  CHECK_THAT(test::error_of([&] { Store store(folder.file("other.db")); }),
             Contains("database of another program"));
  CHECK(bytes_of("other.db") == before);
  { Store store(folder.file("new.db")); }
  make("new.db", "PRAGMA user_version = 2");
  CHECK_THAT(test::error_of([&] { Store store(folder.file("new.db")); }),
             Contains("has version 2") && Contains("version 1"));
  CHECK_THAT(test::error_of([&] { Store store(folder.file("no/such/folder.db")); }),
             Contains("cannot open the store"));
}

TEST_CASE("A failure never replaces an answer, and a verified point stays verified") {
  const Folder folder;
  Store store(folder.file("study.db"));
  store.put({"k", "s", {}, with_numbers({1, 1, 1})});
  store.set_verified("k");
  store.put({"k", "s", {}, without(Status::failed, "the worker died")});
  CHECK(store.find("k")->number("compute_s") == 1);
  store.put({"k", "s", {}, with_numbers({1, 1, 1})});
  CHECK(store.find("k")->verified);
  store.put({"k", "s", {}, with_numbers({2, 2, 2})});
  CHECK(store.find("k")->number("compute_s") == 2);
  CHECK_FALSE(store.find("k")->verified);  // only the earlier numbers were verified
  store.set_verified("k");
  {
    Store other(folder.file("other.db"));
    other.put({"k", "s", {}, with_numbers({2, 2, 2})});
    other.commit();
  }
  store.commit();
  Store other(folder.file("other.db"));
  CHECK(merge(other, folder.file("study.db")) == 0);
  CHECK(other.find("k")->verified);
}

TEST_CASE("A damaged row is refused with the name of its store and its point") {
  const auto refusal_after = [](const char* damage) {
    const Folder folder;
    {
      Store store(folder.file("study.db"));
      store.put({"the point", "s", {}, with_numbers({1, 1, 1})});
      store.commit();
    }
    sqlite3* database = nullptr;
    REQUIRE(::sqlite3_open(folder.file("study.db").c_str(), &database) == SQLITE_OK);
    REQUIRE(::sqlite3_exec(database, damage, nullptr, nullptr, nullptr) == SQLITE_OK);
    ::sqlite3_close(database);
    Store store(folder.file("study.db"));
    const std::string error = test::error_of([&] { store.find("the point"); });
    // The store still works: it refuses this row again with the same message, and it can store and find another point.
    CHECK(test::error_of([&] { store.find("the point"); }) == error);
    CHECK_FALSE(store.find("another").has_value());
    store.put({"another", "s", {}, with_numbers({1, 1, 1})});
    CHECK(store.find("another").has_value());
    return error;
  };
  for (const auto& [damage, says] : std::map<const char*, std::string>{
           {"UPDATE points SET numbers = x'0000'", "the point has 0 numbers for "},
           {"UPDATE points SET status = 'fine'", "'fine' is not a status of a point"},
           {"UPDATE points SET layout = 77", "the table 'layouts' has no row with the id 77"},
           {"UPDATE layouts SET names = '[1]'", "an object in the list of names has no 'metric'"},
           {"UPDATE layouts SET names = '[{\"metric\": \"x\"}]'", "has no 'unit'"}}) {
    CAPTURE(damage);
    CHECK_THAT(refusal_after(damage),
               Contains("study.db' is damaged at the point the point: ") && Contains(says));
  }
}

TEST_CASE("A sweep with a store evaluates no point twice, except failures on request") {
  const Folder folder;
  Store store(folder.file("study.db"));
  const Points points({parse_axis("workload.batch=4,8,x")}, Over::grid);
  SweepRequest request{.variants = variants(), .points = points, .jobs = 2};
  request.store = &store;
  CHECK(run_sweep(request).from_store == 0);
  const SweepResult again = run_sweep(request);
  CHECK(again.from_store == 3);
  CHECK(again.outcomes[1].number("makespan_s") > 0);
  request.retry_failed = true;
  CHECK(run_sweep(request).from_store == 2);
  // A point that has the same values is the same point, even if its values come from other axes.
  const Points other({parse_axis("workload.batch=8"), parse_axis("workload.steps=2")}, Over::grid);
  SweepRequest reworded{.variants = variants(), .points = other, .jobs = 1};
  reworded.store = &store;
  CHECK(run_sweep(reworded).from_store == 1);
}

TEST_CASE(
    "One of N parts of a sweep has every N-th point, and all parts together have all points") {
  CHECK(parse_shard("2/4").number == 2);
  for (const char* text : {"0/4", "5/4", "2", "a/b", "2/4x", "-1/4"}) {
    CAPTURE(text);
    CHECK_THAT(test::error_of([&] { parse_shard(text); }), Contains("expected K/N"));
  }
  const Points points({parse_axis("workload.batch=1..5")}, Over::grid);
  std::vector<std::size_t> all;
  for (const char* text : {"1/2", "2/2"}) {
    SweepRequest request{.variants = variants(), .points = points, .jobs = 1};
    request.shard = parse_shard(text);
    for (const std::size_t point : run_sweep(request).points) all.push_back(point);
  }
  CHECK(all == std::vector<std::size_t>{0, 2, 4, 1, 3});
}

TEST_CASE("If the best points differ only in the last bits, the first of them is the best point") {
  // In floating point, 0.1 + 0.2 is one bit above 0.3, and the share 0.11 / (0.11 + 2.09) is one bit above 5 %.
  const Points points({parse_axis("b=1..4")}, Over::grid);
  SweepResult result;
  for (std::size_t p = 0; p < 4; ++p) result.points.push_back(p);
  REQUIRE(0.1 + 0.2 > 0.3);
  REQUIRE(exposed_share(with_numbers({0.11, 2.09, 0})) > hidden_share);
  for (const double exposed : {0.5, 0.1 + 0.2, 0.3, 0.3 + 1e-12})
    result.outcomes.push_back(with_numbers({exposed, 1, 0}));
  CHECK(*best_place(result, "exposed_transfer_s") == 1);
  result.outcomes[3] = with_numbers({0.3 - 1e-6, 1, 0});
  CHECK(*best_place(result, "exposed_transfer_s") == 3);
  result.outcomes = {with_numbers({1, 1, 0}), with_numbers({0.11, 2.09, 0}),
                     with_numbers({0.05, 0.95, 0}), with_numbers({0, 1, 0})};
  CHECK(crossings(points, result)[0].from == "b=2");
}

TEST_CASE("Transfers count as hidden from the value after which they are always hidden") {
  // For a=x, the exposed shares at b=1, 2, 3 and 4 are 50 %, 1 %, 10 % and 4 %. For a=y, all shares are 0.
  const Points points({{"a", {"x", "y"}}, parse_axis("b=1..4")}, Over::grid);
  SweepResult result;
  for (std::size_t p = 0; p < 8; ++p) result.points.push_back(p);
  for (const auto& [exposed, compute] :
       std::vector<std::pair<double, double>>{{5, 5}, {1, 99}, {1, 9}, {4, 96}})
    result.outcomes.push_back(with_numbers({exposed, compute, 0}));
  for (int i = 0; i < 4; ++i) result.outcomes.push_back(with_numbers({0, 1, 0}));
  const std::vector<HiddenFrom> found = crossings(points, result);
  REQUIRE(found.size() == 2);
  CHECK(found[0].others == Words{"a=x"});
  CHECK(found[0].from == "b=4");
  CHECK_FALSE(found[0].everywhere);
  CHECK(found[1].everywhere);
  CHECK(*best_place(result, "exposed_transfer_s") == 4);
  result.outcomes[3] = without(Status::infeasible, "needs 5.5 GB");
  result.outcomes[7] = without(Status::infeasible, "needs 7 GB");
  CHECK(crossings(points, result)[0].from.empty());
  // Points that were refused are left out. The order in which an axis lists its values does not matter.
  result.outcomes[2] = without(Status::infeasible, "needs 5.4 GB");
  CHECK(crossings(points, result)[0].from == "b=2");
  const Points unsorted({{"a", {"x", "y"}}, parse_axis("b=3,1,4,2")}, Over::grid);
  SweepResult shuffled = result;
  for (const std::size_t row : {0, 4})
    for (std::size_t i = 0; i < 4; ++i)
      shuffled.outcomes[row + i] = result.outcomes[row + std::array{2, 0, 3, 1}[i]];
  CHECK(crossings(unsorted, shuffled)[0].from == "b=2");
  SweepResult refused = result;
  for (std::size_t p = 0; p < 4; ++p) refused.outcomes[p] = without(Status::failed, "what?");
  CHECK(crossings(points, refused).size() == 1);
  REQUIRE(refusals(result).size() == 1);
  CHECK(refusals(result)[0].count == 3);
  CHECK(refusals(result)[0].place == 2);
}
