// Tests searches: their keys, their goals and their results. A result is compared with a formula, or with the best of
// all points.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <set>

#include "base/error.hpp"
#include "document/load.hpp"
#include "study/search/optimiser.hpp"
#include "study/search/search.hpp"
#include "study/sweep/store.hpp"
#include "support/bad_input.hpp"
#include "support/campaign.hpp"
#include "support/small_case.hpp"
#include "support/source_folder.hpp"

using namespace sluice;
using Catch::Matchers::Contains;
using Kind = SearchKey::Kind;
using Words = std::vector<std::string>;

namespace {

const std::string link_bandwidth = "platform.links.host.bandwidth";

std::vector<SearchKey> keys_of(const Words& words) {
  std::vector<SearchKey> keys;
  for (const std::string& word : words) keys.push_back(parse_search_key(word));
  return keys;
}

/// Returns scenarios with three layers that take 1, 2 and 3 ms at 1 GFLOP/s. All weights together have 600 kB. The
/// input and the answer have 1 kB each.
Variants abc(const std::string& rest, const Words& overrides = {}) {
  const std::vector<test::Row> rows = {{1, 100'000, 2000}, {2, 200'000, 3000}, {3, 300'000, 1000}};
  return Variants(test::small_scenario(1000, rows, rest, overrides).document, "small", {});
}

SearchResult search(const Variants& variants, const Words& words, const std::string& goal,
                    const Words& limits, std::size_t most_points = 200, Store* store = nullptr) {
  const std::vector<SearchKey> keys = keys_of(words);
  const bool maximise = goal[0] == '+';
  SearchRequest request{.variants = variants, .keys = keys};
  request.goal = {parse_search_number(goal.substr(maximise ? 1 : 0), keys), maximise};
  for (const std::string& limit : limits) request.limits.push_back(parse_search_limit(limit));
  request.most_points = most_points;
  request.store = store;
  return run_search(request);
}

double found(const SearchResult& result, std::size_t axis = 0) {
  REQUIRE(result.best);
  return std::stod(result.points.value(*result.best, axis));
}

}  // namespace

TEST_CASE("A key of a search has a list, a range of whole numbers, or a range of any numbers") {
  CHECK(parse_search_key("a=1..64").kind == Kind::whole);
  CHECK(parse_search_key("a=1..64").count() == 64);
  CHECK(parse_search_key("a=0.5..2").kind == Kind::real);
  CHECK(parse_search_key("a=8..64GB/s").kind == Kind::real);
  CHECK(parse_search_key("a=x,y").values == Words{"x", "y"});
  CHECK(parse_search_key("a=1..9:3").values == Words{"1", "5", "9"});
  CHECK(parse_search_key("a=1..8*2").values == Words{"1", "2", "4", "8"});
  CHECK(parse_search_key("a=7..7").values == Words{"7"});
  for (const char* word : {"a", "=1..3", "a=5..1", "a=1GB..2MB"})
    CHECK_THAT(test::error_of([&] { parse_search_key(word); }), Contains("expected KEY=a,b,c"));
}

TEST_CASE(
    "The points of a range have equal distances, and over more than a factor of ten, these are "
    "distances of logarithms") {
  const SearchKey even = parse_search_key("a=2GB/s..6GB/s");
  CHECK(even.text_at(0) == "2GB/s");
  CHECK(even.text_at(0.25) == "3GB/s");
  CHECK(even.text_at(1) == "6GB/s");
  CHECK(even.text_at(1.0 / 3) == "3.333333GB/s");
  const SearchKey wide = parse_search_key("a=1GB/s..100GB/s");
  CHECK(wide.text_at(0.5) == "10GB/s");
  CHECK(wide.share_of(10) == Approx(0.5));
  CHECK(parse_search_key("a=1..4").text_at(0.6) == "3");
  // A third of the way from 1 GB to 2 GB is 1.333333 GB, with seven digits. In bytes, this is a whole number.
  CHECK(parse_search_key("a=1GB..2GB").text_at(1.0 / 3) == "1333333000B");
}

TEST_CASE("Goals and limits name metrics, and any other goal or limit is refused with a reason") {
  const std::vector<SearchKey> keys = keys_of({"a.b=1..4", "c=x,y"});
  CHECK(parse_search_number("makespan_s", keys).name == "makespan_s");
  CHECK(parse_search_number("peak_bytes.gpu", keys).name == "peak_bytes[gpu]");
  CHECK(parse_search_number("peak_bytes[gpu]", keys).name == "peak_bytes[gpu]");
  CHECK(parse_search_number("a.b", keys).is_key());
  const SearchLimit limit = parse_search_limit("peak_bytes.gpu <= 16GB");
  CHECK(limit.at_most);
  CHECK(limit.limit == 16e9);
  CHECK(limit.holds(16e9));
  CHECK(limit.broken_by(20e9) == Approx(0.25));
  CHECK(parse_search_limit("compute_utilisation>=50%").limit == 0.5);
  CHECK(parse_search_limit("step_s<=5ms").limit == 0.005);
  CHECK(parse_search_limit("energy_per_sample_j<=500mJ/sample").limit == 0.5);
  CHECK(parse_search_limit("energy_per_sample_j <= 0.5 J/sample").limit == 0.5);
  CHECK(parse_search_limit("energy_per_sample_j<=0.5").limit == 0.5);
  CHECK(parse_search_limit("throughput_samples_per_s>=200 samples/s").limit == 200);
  CHECK(parse_search_limit("throughput_samples_per_s>=200sample/s").limit == 200);
  CHECK(parse_search_limit("throughput_samples_per_s>=200").limit == 200);
  CHECK(parse_search_limit("samples>=16 samples").limit == 16);
  CHECK(parse_search_limit("arithmetic_intensity>=2kFLOP/byte").limit == 2000);
  const auto number = [&](const char* text) {
    return test::error_of([&] { parse_search_number(text, keys); });
  };
  CHECK_THAT(number("makespan"), Contains("did you mean 'makespan_s'"));
  CHECK_THAT(number("bound_by"), Contains("is a word"));
  CHECK_THAT(number("c"), Contains("cannot be minimised"));
  CHECK_THAT(number("peak_bytes."), Contains("as in peak_bytes.gpu"));
  const auto refused = [](const char* text) {
    return test::error_of([&] { parse_search_limit(text); });
  };
  CHECK_THAT(refused("peak_bytes.gpu"), Contains("expected METRIC<=QUANTITY"));
  CHECK_THAT(refused("peak_bytes.gpu<16GB"), Contains("expected METRIC<=QUANTITY"));
  CHECK_THAT(refused("peak_bytes.gpu<=16"), Contains("the unit is missing"));
  CHECK_THAT(refused("energy_per_sample_j<=5J"), Contains("'energy_per_sample_j' in 'J/sample'"));
  CHECK_THAT(refused("step_s<=16GB"), Contains("step_s<=16GB"));
}

TEST_CASE(
    "DIRECT finds the deepest valley, Subplex finds the minimum in this valley, and both search only inside the "
    "unit cube") {
  // A function with two valleys. The deeper valley is at (0.2, 0.7).
  const auto valleys = [](const CubePlace& at) {
    const auto away = [&](double x, double y) { return std::hypot(at[0] - x, at[1] - y); };
    return std::min(away(0.2, 0.7), 0.3 + away(0.8, 0.1));
  };
  CubePlace best;
  double least = std::numeric_limits<double>::infinity();
  const Score score = [&](const CubePlace& at) {
    for (const double share : at) CHECK((share >= 0 && share <= 1));
    const double found = valleys(at);
    if (found < least) {
      least = found;
      best = at;
    }
    return found;
  };
  divide_cube(2, 100, score);
  CHECK(least < 0.05);
  walk_downhill(best, 0.1, 1e-7, 2000, score);
  CHECK(least < 1e-4);
}

TEST_CASE("DIRECT avoids points without a number, and does not catch exceptions of the score") {
  double least = std::numeric_limits<double>::infinity();
  divide_cube(1, 60, [&](const CubePlace& at) {
    if (at[0] > 0.6) return std::numeric_limits<double>::infinity();
    least = std::min(least, 1 - at[0]);
    return 1 - at[0];
  });
  CHECK(least < 0.41);
  CHECK_THROWS_AS(divide_cube(1, 60, [](const CubePlace&) -> double { throw IoError("full"); }),
                  IoError);
  CHECK_THROWS_AS(walk_downhill({0.5}, 0.1, 1e-6, 60,
                                [](const CubePlace&) -> double { throw IoError("full"); }),
                  IoError);
}

TEST_CASE("The least bandwidth for given seconds equals the bandwidth of the closed form") {
  // A run of one batch loads 600 kB of weights and 1 kB of input, computes for 6 ms, and saves 1 kB. At a bandwidth B,
  // the run takes 6 ms + 602 kB / B. So it takes 7 ms at 602 MB/s.
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident, buffers: 2}\n");
  const SearchResult result =
      search(variants, {link_bandwidth + "=0.1GB/s..10GB/s"}, link_bandwidth, {"makespan_s<=7ms"});
  CHECK(found(result) == Approx(0.602).epsilon(1e-5));
  CHECK(found(result) >= 0.602 * (1 - 1e-12));
  REQUIRE(result.beyond);
  CHECK(std::stod(result.points.value(*result.beyond, 0)) == Approx(0.602).epsilon(1e-4));
  CHECK_FALSE(result.exhaustive);
}

TEST_CASE("The least bandwidth that hides the inputs equals the bandwidth of the closed form") {
  // A batch computes for 4 ms. At 2 MB / 4 ms = 500 MB/s or more, the load of its 2 MB of input is hidden.
  const Variants variants(
      test::small_scenario(
          2'000'000, {{4, 4000, 4000}},
          "workload: {batches_per_step: 8}\npolicy: {name: resident, buffers: 2}\n")
          .document,
      "small", {});
  const SearchResult result =
      search(variants, {link_bandwidth + "=0.05GB/s..5GB/s"}, link_bandwidth, {"step_s<=32.001ms"});
  CHECK(found(result) == Approx(0.5).epsilon(1e-3));
  // With any bandwidth, a step takes at least 8 x 4 ms, because it computes for so long.
  const SearchResult fastest =
      search(variants, {link_bandwidth + "=0.05GB/s..5GB/s"}, "step_s", {});
  REQUIRE(fastest.best);
  CHECK(fastest.sweep.outcomes[*fastest.best].number("step_s") == Approx(32e-3).epsilon(1e-9));
}

TEST_CASE("The largest batch below a limit is found, and the next larger batch exceeds the limit") {
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident, buffers: 2}\n");
  const Points all({parse_axis("workload.batch=1..2000")}, Over::grid);
  const SweepResult swept = run_sweep({.variants = variants, .points = all});
  double largest = 0;
  for (std::size_t p = 0; p < all.size(); ++p)
    if (swept.outcomes[p].number("peak_bytes[gpu]") <= 3e6) largest = std::stod(all.value(p, 0));
  // Besides the weights, each sample takes some kilobytes. The search does not know how many, so it has to try batches.
  REQUIRE(largest > 100);
  REQUIRE(largest < 1900);
  const SearchResult result =
      search(variants, {"workload.batch=1..2000"}, "+workload.batch", {"peak_bytes.gpu<=3MB"});
  CHECK(found(result) == largest);
  REQUIRE(result.beyond);
  CHECK(std::stod(result.points.value(*result.beyond, 0)) == largest + 1);
  CHECK(result.points.size() < 200);
}

TEST_CASE("All combinations of lists and of short ranges of whole numbers are tried") {
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident}\n");
  const Words words = {"workload.batch=1..12", "policy.overlap=true,false"};
  const SearchResult result = search(variants, words, "+throughput_samples_per_s", {});
  CHECK(result.exhaustive);
  CHECK(result.points.size() == 24);
  const Points all({parse_axis("workload.batch=1..12"), parse_axis(words[1])}, Over::grid);
  const SweepResult swept = run_sweep({.variants = variants, .points = all});
  double most = 0;
  for (const PointResult& outcome : swept.outcomes)
    most = std::max(most, outcome.number("throughput_samples_per_s"));
  CHECK(result.sweep.outcomes[*result.best].number("throughput_samples_per_s") == most);
}

TEST_CASE("If ranges of whole numbers have too many combinations, not all of them are tried") {
  // The 64 sizes of the batch and the 1000 numbers of steps have 64,000 combinations. A search tries at most 200 of
  // them here.
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident}\n");
  const SearchResult result =
      search(variants, {"workload.batch=1..64", "workload.steps=1..1000"}, "makespan_s", {});
  REQUIRE(result.best);
  CHECK(result.points.text(*result.best) == "workload.batch=1, workload.steps=1");
  CHECK_FALSE(result.all_asked);
  CHECK(result.points.size() <= 200);
  // 3 sizes of the batch and 20 numbers of steps have 60 combinations. A search that may try 35 or 36 points does not
  // try all of them. A search that may try 60 points does.
  const auto asked = [&](std::size_t most_points) {
    return search(variants, {"workload.batch=1..3", "workload.steps=1..20"}, "makespan_s", {},
                  most_points);
  };
  CHECK_FALSE(asked(35).all_asked);
  CHECK_FALSE(asked(36).all_asked);
  CHECK(asked(60).exhaustive);
  CHECK(asked(60).points.size() == 60);
  // A search is needed for each combination of listed values. The message gives the number of these combinations.
  const auto refused = [&] {
    search(variants, {"workload.batch=1..4", "policy.buffers=1,2", link_bandwidth + "=1..2GB/s"},
           "makespan_s", {}, 20);
  };
  CHECK_THAT(test::error_of(refused),
             Contains("the listed values have 2 combinations, which need 24 points"));
}

TEST_CASE("A search of one range uses most of its points for the walks of Subplex") {
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident, buffers: 2}\n");
  const SearchResult result = search(variants, {link_bandwidth + "=0.1GB/s..10GB/s"},
                                     link_bandwidth, {"makespan_s<=7ms"}, 2000);
  CHECK(found(result) == Approx(0.602).epsilon(1e-5));
  // DIRECT tries at most 40 points. Then Subplex walks downhill from three of them. Few points give seven digits.
  CHECK(result.points.size() < 300);
  CHECK_FALSE(result.used_up);
}

TEST_CASE("Points without a number are left out, at any position of a list") {
  const std::string zoo = test::source_folder() + "/scenarios/";
  const Variants variants(load_file(zoo + "alexnet_resident.yaml"), zoo + "alexnet_resident.yaml",
                          {"workload.steps=2", "workload.batch=1", "stages={cut: whole}"});
  const auto ipu = [](const SearchResult& result) {
    REQUIRE(result.best);
    return result.points.overrides(*result.best).front() == "platform=ipu_pair_gc200";
  };
  for (const char* platforms : {"platform=k40,ipu_pair_gc200", "platform=ipu_pair_gc200,k40"}) {
    CAPTURE(platforms);
    const SearchResult listed = search(variants, {platforms}, "peak_bytes.ipu0", {});
    CHECK(ipu(listed));
    CHECK(listed.exhaustive);
    CHECK(ipu(search(variants, {platforms}, "makespan_s", {"peak_bytes.ipu0<=1GB"})));
    // Here, the batch is searched for each platform separately. No point of the platform k40 has the number
    // peak_bytes.ipu0. So the search for k40 ends after three points: the two ends and the middle of the range.
    const SearchResult searched =
        search(variants, {platforms, "workload.batch=1..1000"}, "peak_bytes.ipu0", {}, 60);
    CHECK(ipu(searched));
    std::size_t of_k40 = 0;
    for (std::size_t p = 0; p < searched.points.size(); ++p)
      of_k40 += searched.points.overrides(p).front() == "platform=k40";
    CHECK(of_k40 == 3);
    CHECK_THAT(test::error_of([&] { search(variants, {platforms}, "peak_bytes.ipu", {}); }),
               Contains("no point has the number 'peak_bytes.ipu'") &&
                   Contains("peak_bytes.ipu0") && Contains("peak_bytes.gpu"));
  }
}

TEST_CASE("A trial of all combinations proves an optimum only if no combination failed") {
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident}\n");
  CHECK(search(variants, {"workload.batch=1,2"}, "makespan_s", {}).exhaustive);
  const SearchResult result = search(variants, {"workload.batch=1,x,2"}, "makespan_s", {});
  CHECK(result.points.value(*result.best, 0) == "1");
  CHECK(result.all_asked);
  CHECK_FALSE(result.exhaustive);
}

TEST_CASE(
    "If no point is within the limits, the search says so and returns the point that is nearest to the limits") {
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident}\n");
  const SearchResult result = search(variants, {link_bandwidth + "=0.1GB/s..10GB/s"}, "makespan_s",
                                     {"makespan_s<=5ms"}, 60);
  CHECK_FALSE(result.best);
  const auto nearest = std::min_element(result.merits.begin(), result.merits.end());
  CHECK(nearest->status == Merit::LimitStatus::breaks);
  CHECK(result.points.value(static_cast<std::size_t>(nearest - result.merits.begin()), 0) ==
        "10GB/s");
}

TEST_CASE("A search with a store continues where it stopped, and evaluates no point twice") {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("sluice-search-" + std::to_string(::getpid())))
          .string();
  std::filesystem::remove(file);
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident, buffers: 2}\n");
  const Words words = {link_bandwidth + "=0.1GB/s..10GB/s", "workload.batch=1..4000"};
  const Words limits = {"makespan_s<=200ms"};
  Store store(file);
  const SearchResult part =
      search(variants, words, "+throughput_samples_per_s", limits, 30, &store);
  CHECK(part.used_up);
  CHECK(part.points.size() == 30);
  const SearchResult first =
      search(variants, words, "+throughput_samples_per_s", limits, 150, &store);
  CHECK(store.size() <= part.points.size() + first.points.size());
  const std::size_t kept = store.size();
  const SearchResult again =
      search(variants, words, "+throughput_samples_per_s", limits, 150, &store);
  CHECK(again.sweep.from_store == again.points.size());
  CHECK(store.size() == kept);
  std::set<std::string> texts;
  for (std::size_t p = 0; p < again.points.size(); ++p) texts.insert(again.points.text(p));
  CHECK(texts.size() == again.points.size());
  CHECK(again.best == first.best);
  std::filesystem::remove(file);
}

TEST_CASE("A search that is impossible is refused before or after the first points") {
  const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident}\n");
  const auto refused = [&](const Words& words, const std::string& goal, const Words& limits) {
    return test::error_of([&] { search(variants, words, goal, limits, 50); });
  };
  CHECK_THAT(refused({}, "makespan_s", {}), Contains("no key is varied"));
  CHECK_THAT(refused({"a=1..2", "a=1..3"}, "makespan_s", {}), Contains("varied twice"));
  CHECK_THAT(refused({"workload.batch=1..64*2,65..120"}, "makespan_s", {}),
             Contains("63 combinations") && Contains("only 50 points are allowed"));
  CHECK_THAT(refused({"workload.batch=1,2"}, "peak_bytes.gpus", {}),
             Contains("did you mean 'peak_bytes.gpu'"));
  CHECK_THAT(refused({"workload.batch=1,2"}, "makespan_s", {"peak_bytes<=1GB"}),
             Contains("there are: peak_bytes.gpu"));
}

TEST_CASE("Random searches of whole numbers find the point that is found by trying all points",
          "[property]") {
  std::mt19937 dice(20260713);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(dice);
  };
  int missed = 0;
  const int cases = test::cases_of(6);
  for (int i = 0; i < cases; ++i) {
    const int most_batch = draw(150, 250);
    const std::string limit = "peak_bytes.gpu<=" + std::to_string(draw(700, 2500)) + "kB";
    const Variants variants = abc("workload: {batch: 1}\npolicy: {name: resident}\n",
                                  {link_bandwidth + "=" + std::to_string(draw(1, 50)) + "00kB/s"});
    const std::string batches = "workload.batch=1.." + std::to_string(most_batch);
    const std::string buffers = "policy.buffers=1..4";
    CAPTURE(i, batches, limit);
    const SearchResult whole =
        search(variants, {batches, buffers}, "+throughput_samples_per_s", {limit}, 100'000);
    const SearchResult few =
        search(variants, {batches, buffers}, "+throughput_samples_per_s", {limit}, 120);
    REQUIRE(whole.exhaustive);
    REQUIRE(few.points.size() <= 120);
    REQUIRE(whole.best.has_value() == few.best.has_value());
    if (!whole.best) continue;
    const double most = whole.sweep.outcomes[*whole.best].number("throughput_samples_per_s");
    const double got = few.sweep.outcomes[*few.best].number("throughput_samples_per_s");
    CHECK(got <= most);
    CHECK(got > 0.995 * most);
    if (got < most) ++missed;
  }
  CHECK(missed <= cases / 4);
}
