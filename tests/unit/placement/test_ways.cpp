#include "placement/ways.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "base/error.hpp"
#include "placement/improve.hpp"
#include "placement/listing.hpp"
#include "support/campaign.hpp"
#include "support/random_placement.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;
using Catch::Matchers::Contains;

/// Returns a problem with three kernels. Each kernel takes 1 s in fast memory. The first kernel makes tensor `a` of 10
/// bytes. It takes 2 s more if `a` is in slow memory. The second kernel makes tensor `b` of 10 bytes from `a`. It takes
/// 2 s more for each of the two tensors that is in slow memory. The third kernel reads `a` again. It takes 4 s more if
/// `a` is in slow memory.
PlacementProblem small() {
  PlacementProblem problem;
  problem.tensors = {{.name = "a", .bytes = 10}, {.name = "b", .bytes = 10}};
  problem.kernels = {
      {"first", {{.tensor = 0, .written = true}}, {.lines = {{1, {2}}}}},
      {"second", {{.tensor = 0}, {.tensor = 1, .written = true}}, {.lines = {{1, {2, 2}}}}},
      {"third", {{.tensor = 0}}, {.lines = {{1, {4}}}}}};
  problem.synchronous = {10, 5};
  problem.asynchronous = {5, 5};
  problem.cache = {10, 5};
  return problem;
}

double seconds_of(const std::vector<PlacementResult>& results, const std::string& way) {
  for (const PlacementResult& result : results)
    if (result.way == way) return result.seconds();
  return -1;
}

TEST_CASE("for each way at three capacities, three kernels take the seconds computed by hand",
          "[placement]") {
  const PlacementQuestion question(small());
  const auto none = place_by_all(question, {0}, {}, 1);
  // Without fast memory, all tensors are in slow memory. Then each of these ways takes (1 + 2) + (1 + 2 + 2) + (1 + 4)
  // s.
  for (const char* way : {"all_slow", "first_touch", "static", "synchronous", "asynchronous"})
    CHECK(seconds_of(none, way) == 13);
  // In a cache without room, every byte is a miss. To fill 10 bytes takes 1 s. To write 10 new bytes back takes 2 s,
  // and they are written back at once. So the first kernel takes 1 s, and 1 + 2 s more for `a`. The second kernel takes
  // 1 s, 1 s more to fill `a`, and 1 + 2 s more for `b`. The third kernel takes 1 s, and 1 s more to fill `a`.
  CHECK(seconds_of(none, "cached") == 11);
  // With a cache of one or two bytes, the run takes the same seconds. New bytes stay in the cache until other bytes
  // need their room. They are written back then instead of at once.
  for (const std::int64_t capacity : {1, 2})
    CHECK(seconds_of(place_by_all(question, {capacity}, {"cached"}, 1), "cached") == Approx(11));
  const auto one = place_by_all(question, {10}, {}, 1);
  // With 10 bytes of fast memory, `a` is in fast memory, and `b` is in slow memory. So the kernels take 1 + (1 + 2) + 1
  // s.
  for (const char* way : {"first_touch", "static", "synchronous", "asynchronous"})
    CHECK(seconds_of(one, way) == 5);
  // A cache of 10 bytes holds one tensor. The first kernel takes 1 s, and fills `a` in 1 s. The second kernel takes 1
  // s, writes `a` back in 2 s and fills `b` in 1 s. The third kernel takes 1 s, writes `b` back in 2 s and fills `a` in
  // 1 s.
  CHECK(seconds_of(one, "cached") == 2 + 4 + 4);
  CHECK_THAT(
      one.front().refused,
      Contains("exceeds memory 'fast' at kernel 'second' (step 2 of 3)") && Contains("needs 20 B"));
  const auto all = place_by_all(question, {20}, {}, 1);
  for (const char* way : {"all_fast", "first_touch", "static", "synchronous", "asynchronous"})
    CHECK(seconds_of(all, way) == 3);
  CHECK(seconds_of(all, "cached") == 3 + 2);  // each of the two tensors is filled once, in 1 s
}

TEST_CASE(
    "kernels take the seconds computed by hand if a tensor is moved out of fast memory and in again",
    "[placement]") {
  // The first kernel makes tensor `a`, and the last kernel reads `a`. Between them, kernel `fill` needs the whole fast
  // memory for `b`. If `a` is in slow memory for the whole run, the kernels take 2 + 9 s longer. To move `a` out of
  // fast memory takes 2 s, and to move it in again takes 1 s. Before and after `fill`, the kernels `wait` and `rest`
  // take 4 s each. If the moves run during these two kernels, they take no extra time.
  PlacementProblem problem;
  problem.tensors = {{.name = "a", .bytes = 10}, {.name = "b", .bytes = 10}};
  problem.kernels = {{"make", {{.tensor = 0, .written = true}}, {.lines = {{1, {2}}}}},
                     {"wait", {}, {.lines = {{4, {}}}}},
                     {"fill", {{.tensor = 1, .written = true}}, {.lines = {{1, {20}}}}},
                     {"rest", {}, {.lines = {{4, {}}}}},
                     {"read", {{.tensor = 0}}, {.lines = {{1, {9}}}}}};
  problem.synchronous = {10, 5};
  problem.cache = {10, 5};
  const PlacementQuestion still(problem);
  const auto moved = place_by_all(still, {10}, {"static", "synchronous"}, 1);
  CHECK(seconds_of(moved, "static") == 11 + 11);
  CHECK(seconds_of(moved, "synchronous") == 11 + 3);
  problem.asynchronous = {5, 2.5};  // 2 s to move in and 4 s to move out, during kernels
  const PlacementQuestion beside(problem);
  const auto hidden = place_by_all(beside, {10}, {"synchronous", "asynchronous"}, 1);
  CHECK(seconds_of(hidden, "asynchronous") == 11);
  const PlacementResult& result = hidden.back();
  CHECK(result.move_totals(beside).beside == 2);
  CHECK(result.move_totals(beside).to_slow_bytes == 10);
}

TEST_CASE(
    "weights that are only read leave fast memory without a copy, and weights that are written are saved once",
    "[placement]") {
  PlacementProblem problem;
  problem.tensors = {{.name = "w", .bytes = 10, .begins = Begins::stays}};
  problem.kernels = {{"a", {{.tensor = 0}}, {.lines = {{1, {5}}}}},
                     {"b", {{.tensor = 0}}, {.lines = {{1, {5}}}}}};
  problem.synchronous = {10, 5};
  PlacementQuestion question(problem);
  const TensorPath fetched{{1, 1}, {0, 1}};
  CHECK(synchronous_seconds(question, {fetched}) == 2 + 1);
  problem.kernels[0].operands[0].written = true;
  question = PlacementQuestion(problem);
  CHECK(synchronous_seconds(question, {fetched}) == 2 + 1 + 2);
  const PlacementSchedule schedule = synchronous_schedule(question, {fetched});
  CHECK(simulated_seconds(question, schedule, 10) == 5);
}

TEST_CASE("the second round of a hardware cache takes the seconds computed by hand",
          "[placement]") {
  // All kernels run twice, in two rounds. The cache of 10 bytes holds `a` after the first round. So the first kernel of
  // the second round finds `a` in the cache. Then `b` takes the place of `a`, and `a` takes the place of `b`, as in the
  // first round. The seconds of the second round are checked here.
  CHECK(cached_run(PlacementQuestion(small()), 10, 2).seconds == 1 + 4 + 4);
  // A tensor with `Begins::given`, such as an input, has new content in each round. So it is filled again in each
  // round, which takes 1 s.
  PlacementProblem given = small();
  given.tensors[0].begins = Begins::given;
  given.kernels[0].operands[0].written = false;
  CHECK(cached_run(PlacementQuestion(given), 20).seconds == 3 + 2);
  CHECK(cached_run(PlacementQuestion(given), 20, 2).seconds == 3 + 1);
}

TEST_CASE("from the second round on, all rounds of a hardware cache are equal",
          "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{50}); ++seed) {
    test::Dice dice(seed);
    const PlacementQuestion question(
        test::random_placement(dice, {.tensors = 12, .kernels = 20, .users = 6}));
    for (const std::int64_t share : {1, 3, 8, 16}) {
      const std::int64_t bytes = question.peak() * share / 16;
      INFO("seed " << seed << ", " << bytes << " bytes of cache");
      const CachedRun second = cached_run(question, bytes, 2);
      const CachedRun third = cached_run(question, bytes, 3);
      CHECK(second.kernel_s == third.kernel_s);
      CHECK(second.hit_bytes == third.hit_bytes);
      CHECK(second.written_back_bytes == third.written_back_bytes);
    }
  }
}

TEST_CASE("reads in place and moves of the copy engine share one bandwidth", "[placement]") {
  // Kernel `a` reads the 100 bytes of tensor `x` in place at 10 byte/s. At the same time, the copy engine fetches the
  // 50 bytes of tensor `y` for kernel `b`. The kernel and the engine share 10 byte/s. So each gets 5 byte/s until `y`
  // has arrived at 10 s. By then, the kernel has read 50 bytes of `x`. The other 50 bytes take 5 s.
  using Over = KernelTime::Line::Over;
  PlacementProblem problem;
  problem.tensors = {{.name = "x", .bytes = 100, .begins = PlacementProblem::Begins::given},
                     {.name = "y", .bytes = 50, .begins = PlacementProblem::Begins::given}};
  problem.kernels = {
      {"a", {{.tensor = 0}}, {.lines = {{1, {0}}, {0, {10}, Over::fetching}}}},
      {"b", {{.tensor = 1}}, {.lines = {{1, {20}}}}},
  };
  problem.synchronous = {10, 10};
  problem.asynchronous = {10, 10};
  const PlacementQuestion question(problem);
  const Placing placing = {constant_path(question, 0, false), {{1}, {0}}};
  PlacementSchedule schedule = synchronous_schedule(question, placing);
  REQUIRE(schedule.moves.size() == 1);
  CHECK(simulated_seconds(question, schedule, 50) == Approx(10 + 5 + 1));
  schedule.moves[0].begin = 0;
  CHECK(predicted_seconds(question, schedule) == Approx(10 + 1));
  CHECK(simulated_seconds(question, schedule, 50) == Approx(15 + 1));
}

TEST_CASE("neither more fast memory nor a way that may do more makes a run slower",
          "[placement][property]") {
  test::Dice dice(77);
  for (int n = 0; n < test::cases_of(2); ++n) {
    INFO("case " << n);
    const PlacementQuestion question(
        test::random_placement(dice, {.tensors = 25, .kernels = 40, .users = 8}));
    std::vector<std::int64_t> capacities;
    for (int part = 0; part <= 5; ++part) capacities.push_back(question.peak() * part / 5);
    const auto results = place_by_all(question, capacities, {}, 0);
    std::map<std::string, double> before;
    double freedom = 0;
    for (const PlacementResult& result : results) {
      if (result.way == "static" || result.way == "synchronous" || result.way == "asynchronous") {
        if (!result.refused.empty()) continue;
        if (before.count(result.way) > 0) CHECK(result.simulated_s <= before[result.way]);
        if (result.way != "static") CHECK(result.simulated_s <= freedom);
        before[result.way] = freedom = result.simulated_s;
        CHECK(result.simulated_s == Approx(result.predicted_s).epsilon(1e-9));
        CHECK(*result.bound_s <= result.simulated_s);
      }
    }
  }
}

TEST_CASE("every way says how far it is from a bound, and no way beats its bound", "[placement]") {
  const PlacementQuestion question(small());
  // With 10 bytes of fast memory, 5 s are the least without moves, and all_slow takes 13 s. A cache with room for
  // everything fills `a` and `b` once: 3 + 2 s.
  for (const PlacementResult& result :
       place_by_all(question, {10}, {"all_slow", "first_touch", "cached"}, 1)) {
    INFO(result.way);
    REQUIRE(result.gap());
    CHECK(*result.bound_s == 5);
    if (result.way == "all_slow") CHECK(*result.gap() == Approx(8. / 13));
  }
  int below = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    test::Dice dice(seed);
    const PlacementQuestion drawn(test::random_placement(dice, {}));
    double fixed = 0;
    for (const PlacementResult& result : place_by_all(drawn, {drawn.peak() / 2}, {}, 1000)) {
      if (!result.refused.empty()) continue;
      INFO(result.way);
      REQUIRE(result.gap());
      CHECK(*result.bound_s <= result.seconds());
      if (result.way == "static") fixed = result.seconds();
    }
    for (const PlacementResult& result :
         place_by_all(drawn, {drawn.peak() / 2}, {"first_touch"}, 1000)) {
      CHECK(*result.bound_s <= fixed * (1 + 1e-9));
      below += *result.gap() > 0.01 ? 1 : 0;
    }
  }
  CHECK(below > 0);
}

TEST_CASE("slow memory has to hold only the tensors that are not always in fast memory",
          "[placement]") {
  PlacementProblem problem = small();
  // The tensor `b` fits into slow memory, and `a` into fast memory: the kernels take 1 + (1 + 2) + 1 s. A tensor that
  // moves needs room in slow memory, too, so with both ways to move there is no other placement.
  problem.slow_capacity = 10;
  const auto found = place_by_all(PlacementQuestion(problem), {10}, {}, 1);
  for (const char* way : {"first_touch", "static", "synchronous", "asynchronous"})
    CHECK(seconds_of(found, way) == 5);
  for (const PlacementResult& result : found)
    if (result.way == "all_slow" || result.way == "cached")
      CHECK_THAT(result.refused, Contains("exceeds memory 'slow' at kernel 'second'"));
  // Without any slow memory, everything is in fast memory.
  problem.slow_capacity = 0;
  for (const char* way : {"all_fast", "first_touch", "static", "synchronous", "asynchronous"})
    CHECK(seconds_of(place_by_all(PlacementQuestion(problem), {20}, {}, 1), way) == 3);
  // If the kernels take the same time with every placement, one of the tensors still has to be in fast memory.
  for (PlacementProblem::Kernel& kernel : problem.kernels)
    for (double& extra : kernel.time.lines[0].extra) extra = 0;
  problem.slow_capacity = 10;
  const PlacementQuestion hidden(problem);
  for (const bool moves : {false, true})
    CHECK(fits_slow(hidden, optimum({.question = hidden, .capacity = 10, .moves = moves}).placing));
  CHECK(
      fits_slow(hidden, overlapped_optimum({.question = hidden, .capacity = 10}).schedule.placing));
}

TEST_CASE(
    "filling up puts tensors into fast memory that cost no time there, and first those that are loaded",
    "[placement]") {
  // No memory makes a kernel slower. Fast memory has 10 bytes: the input `x` gets them, not `a` or `b`, which are made.
  PlacementProblem problem = small();
  for (PlacementProblem::Kernel& kernel : problem.kernels)
    for (double& extra : kernel.time.lines[0].extra) extra = 0;
  problem.tensors.push_back({.name = "x", .bytes = 10, .begins = Begins::given});
  problem.kernels[0].operands.push_back({.tensor = 2});
  problem.kernels[0].time.lines[0].extra.push_back(0);
  const auto in_fast = [](const PlacementQuestion& question, std::int64_t capacity) {
    std::string names;
    const Placing placing = filled_up({question, capacity}, all_slow(question));
    for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
      if (placing[t].use.front()) names += question.tensor(t).name;
    return names;
  };
  CHECK(in_fast(PlacementQuestion(problem), 10) ==
        "bx");  // `b` is made when `x` is not needed any more
  CHECK(in_fast(PlacementQuestion(problem), 9).empty());
  // If the first kernel is slower with `x` in fast memory, `x` stays in slow memory.
  problem.kernels[0].time.lines[0].extra.back() = -0.5;
  CHECK(in_fast(PlacementQuestion(problem), 10) == "a");
}

TEST_CASE("refusals of bad problems name the tensor, the kernel and the memory", "[placement]") {
  const auto refused = [](const PlacementProblem& problem) {
    try {
      PlacementQuestion question(problem);
    } catch (const Error& error) {
      return std::to_string(error.exit_code()) + ": " + error.what();
    }
    return std::string("accepted");
  };
  PlacementProblem problem = small();
  problem.kernels[0].operands[0].written = false;
  CHECK_THAT(refused(problem), Contains("3: kernel 'first' (step 1 of 3) reads tensor 'a', which "
                                        "is not in any memory"));
  problem = small();
  problem.kernels[1].operands[0].tensor = 7;
  CHECK_THAT(refused(problem),
             Contains("3: kernel 'second'") && Contains("there is no tensor with this number"));
  problem = small();
  problem.synchronous.to_slow = 0;
  CHECK_THAT(refused(problem),
             Contains("3: no rate is known for synchronous moves from memory 'fast' to 'slow'"));
  problem = small();
  problem.slow_capacity = 19;
  const PlacementQuestion too_small(problem);
  for (const bool moves : {false, true})
    CHECK_THROWS_WITH(
        optimum({.question = too_small, .capacity = 9, .moves = moves}),
        Contains(
            "a placement that fills 'fast' first exceeds memory 'slow' at kernel 'second' "
            "(step 2 of 3): the kernel needs 20 B there, and the memory has 19 B; the largest tensors are a "
            "(10 B), b (10 B)"));
  problem = small();
  problem.tensors[0].pinned = PlacementProblem::Pinned::fast;
  const PlacementQuestion pinned(problem);
  CHECK_THROWS_WITH(
      optimum({.question = pinned, .capacity = 9}),
      Contains("the placement with only pinned tensors in fast memory exceeds memory 'fast' at "
               "kernel 'first'"
               " (step 1 of 3): the kernel needs 10 B there, and the memory has 9 B"));
}

TEST_CASE(
    "the worth of a tensor's memory is how many seconds longer kernels take with the tensor in another "
    "memory",
    "[placement]") {
  const PlacementQuestion question(small());
  const Optimum found = optimum({.question = question, .capacity = 10, .moves = false});
  const std::vector<TensorWorth> worth = worth_of(question, found.placing);
  CHECK(worth[0].tensor == 0);
  CHECK(worth[0].fast);
  CHECK(worth[0].seconds == 2 + 2 + 4);
  CHECK(worth[1].seconds == 2);
  CHECK_FALSE(worth[1].fast);
}

}  // namespace
}  // namespace sluice
