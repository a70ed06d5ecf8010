// Tests sweeps: what an answer says about its points, and stores that are only read.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "document/load.hpp"
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

const std::string resident = test::source_folder() + "/scenarios/alexnet_resident.yaml";

const Variants& variants() {
  static const Variants made(load_file(resident), resident, {"workload.steps=2"});
  return made;
}

/// A folder that is removed when the test ends.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("sluice-sweep-answers-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return path / name; }
};

PointResult with_peaks(double gpu, double host) {
  PointResult result{.status = Status::complete};
  result.names = shared_names(
      {{"flop", {}, "FLOP"}, {"peak_bytes", {"gpu"}, "byte"}, {"peak_bytes", {"host"}, "byte"}});
  result.numbers = {1, gpu, host};
  return result;
}

/// Returns a function that runs a point with the replay, and then multiplies the makespan by 1 + `share`.
Measure wrong_by(double share) {
  return [share](const Plan& plan, double question_bound_s) {
    Summary summary = measure_on_replay(plan, question_bound_s);
    for (Summary::Metric& metric : summary.metrics)
      if (metric.name == "makespan_s") metric.value.number *= 1 + share;
    return summary;
  };
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE(
    "An answer names a point for which SimGrid and the replay differ, and does not count it as verified") {
  const Folder folder;
  Store store(folder.file("study.db"));
  const Points points({parse_axis("workload.batch=8")}, Over::grid);
  SweepRequest request{.variants = variants(), .points = points, .verify = 1};
  request.store = &store;
  request.by_both_executors = wrong_by(1e-6);
  CHECK_THAT(test::error_of([&] { run_sweep(request); }),
             Contains("point workload.batch=8: the replay takes") && Contains("s, SimGrid"));
  bool verified = true;
  store.for_each([&](const StoredPoint& point) { verified = point.outcome.verified; });
  CHECK_FALSE(verified);
  request.by_both_executors = wrong_by(1e-12);
  CHECK(run_sweep(request).verified == 1);
  store.for_each([&](const StoredPoint& point) { verified = point.outcome.verified; });
  CHECK(verified);
}

TEST_CASE("An answer names a point that SimGrid cannot run, and the reason") {
  const Points points({parse_axis("workload.batch=8")}, Over::grid);
  SweepRequest request{.variants = variants(), .points = points, .verify = 1};
  request.by_both_executors = [](const Plan&, double) -> Summary {
    throw InternalError("they differ");
  };
  CHECK_THAT(test::error_of([&] { run_sweep(request); }),
             Contains("point workload.batch=8: they differ"));
}

TEST_CASE("Each point counts once, whether it ran or was taken from the store") {
  const Folder folder;
  Store store(folder.file("study.db"));
  const Points few({parse_axis("workload.batch=4,1000000")}, Over::grid);
  SweepRequest request{.variants = variants(), .points = few};
  request.store = &store;
  CHECK(run_sweep(request).ran == 1);  // the point with the batch 1000000 does not fit
  const Points more({parse_axis("workload.batch=4,1000000,8,16")}, Over::grid);
  SweepRequest again{.variants = variants(), .points = more};
  again.store = &store;
  const SweepResult result = run_sweep(again);
  CHECK(result.ran == 2);
  CHECK(result.from_store == 2);
}

TEST_CASE("A metric with several numbers has a best point for each of these numbers") {
  SweepResult result;
  for (std::size_t p = 0; p < 3; ++p) result.points.push_back(p);
  result.outcomes = {with_peaks(5, 1), with_peaks(3, 2), with_peaks(4, 3)};
  CHECK(numbers_of_metric(result, "peak_bytes") == Words{"peak_bytes[gpu]", "peak_bytes[host]"});
  CHECK(numbers_of_metric(result, "flop") == Words{"flop"});
  CHECK(numbers_of_metric(result, "energy_j") == Words{"energy_j"});
  CHECK(metric_of("peak_bytes[gpu]") == "peak_bytes");
  CHECK(has_direction("peak_bytes[gpu]"));
  CHECK_FALSE(has_direction("flop"));
  CHECK(*best_place(result, "peak_bytes[gpu]") == 1);
  CHECK(*best_place(result, "peak_bytes[host]") == 0);
  CHECK_FALSE(best_place(result, "peak_bytes[cpu]"));
  CHECK_FALSE(best_place(result, "flop"));
}

TEST_CASE("Reading a store does not change its file, and needs no permission to write") {
  const Folder folder;
  const std::string path = folder.file("a?b%20#c.db");
  {
    Store store(path);
    store.put({"k1", "s", {}, with_peaks(1, 2)});
    store.commit();
  }
  REQUIRE_FALSE(std::filesystem::exists(path + "-wal"));
  const std::string before = bytes_of(path);
  // The superuser may write every file. So a child process that is not the superuser reads the store.
  std::filesystem::permissions(path, std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path, std::filesystem::perms(0555));
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
    try {
      Store store(path, Store::Mode::read);
      ::_exit(store.size() == 1 && store.find("k1") && ::access(path.c_str(), W_OK) != 0 ? 0 : 2);
    } catch (const Error&) {
      ::_exit(3);
    }
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  std::filesystem::permissions(folder.path, std::filesystem::perms(0755));
  CHECK(status == 0);
  CHECK(Store(path, Store::Mode::read).size() == 1);
  CHECK(bytes_of(path) == before);
  CHECK_THAT(test::error_of([&] { Store(folder.file("none.db"), Store::Mode::read); }),
             Contains("there is no store"));
  std::ofstream(folder.file("empty.db"));
  CHECK_THAT(test::error_of([&] { Store(folder.file("empty.db"), Store::Mode::read); }),
             Contains("is not a store of sweeps: the file is empty"));
  CHECK(bytes_of(folder.file("empty.db")).empty());
}
