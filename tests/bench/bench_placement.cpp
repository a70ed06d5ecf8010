// Finds placements for large random networks, and measures their gaps to a proven bound. The networks have 500 tensors
// and 1000 kernels: as many as the training of a deep network has.
//   bench_placement [networks] [tensors] [kernels] [effort: 1, as in Sluice's commands, or more]
// Prints one row for each network and each way to place tensors, with the gap and the seconds of the processor.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/gap.hpp"
#include "placement/listing.hpp"
#include "placement/optimum.hpp"
#include "support/random_placement.hpp"

namespace {

double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void print(int seed, const char* way, double seconds, double bound, double simulated, double from) {
  std::printf("%d,%s,%.6f,%.6f,%.4f %%,%.1e,%.1f\n", seed, way, seconds, bound,
              100 * sluice::gap_of(seconds, bound), simulated / seconds - 1, now() - from);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sluice;
  const int networks = argc > 1 ? std::atoi(argv[1]) : 3;
  const auto number = [&](int which, int absent) {
    return static_cast<std::size_t>(argc > which ? std::atoi(argv[which]) : absent);
  };
  const std::size_t tensors = number(2, 500), kernels = number(3, 1000), effort = number(4, 1);
  std::printf("seed,way,seconds,bound,gap,simulated / predicted - 1,took_cpu_s\n");
  for (int seed = 1; seed <= networks; ++seed) {
    test::Dice dice(static_cast<std::uint64_t>(seed));
    const PlacementQuestion question(test::layered_placement(dice, tensors, kernels));
    const std::int64_t capacity = question.peak() * (10 + 4 * (seed % 20)) / 100;
    OptimumRequest request{.question = question, .capacity = capacity, .moves = false};
    request.iterations *= effort;
    request.tries *= effort;
    double from = now();
    const Optimum still = optimum(request);
    print(seed, "static", still.seconds, still.bound,
          simulated_seconds(question, synchronous_schedule(question, still.placing), capacity),
          from);
    request.moves = true;
    request.known = {still.placing};
    from = now();
    const Optimum moving = optimum(request);
    print(seed, "synchronous", moving.seconds, moving.bound,
          simulated_seconds(question, synchronous_schedule(question, moving.placing), capacity),
          from);
    request.known.push_back(moving.placing);
    request.iterations /= effort;
    request.tries /= effort;
    from = now();
    const OverlappedOptimum beside = overlapped_optimum(request);
    print(seed, "asynchronous", beside.seconds, beside.bound,
          simulated_seconds(question, beside.schedule, capacity), from);
  }
}
