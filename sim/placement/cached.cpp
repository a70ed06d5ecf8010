#include "placement/cached.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "placement/hardware_cache.hpp"

namespace sluice {
namespace {

/// Gives each tensor addresses in slow memory, from its first use to its last use.
class Addresses {
 public:
  explicit Addresses(const PlacementQuestion& question) : at_(question.tensor_count()) {
    std::vector<std::vector<std::uint32_t>> begin(question.kernel_count()),
        end(question.kernel_count() + 1);
    for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
      begin[question.live(t).first].push_back(t);
      end[question.live(t).last].push_back(t);
    }
    FreeAddresses free;
    for (std::uint32_t k = 0; k < question.kernel_count(); ++k) {
      for (const std::uint32_t t : end[k]) free.give_back(at_[t], question.tensor(t).bytes);
      for (const std::uint32_t t : begin[k]) at_[t] = free.take(question.tensor(t).bytes);
    }
  }
  std::int64_t of(std::uint32_t t) const { return at_[t]; }

 private:
  std::vector<std::int64_t> at_;
};

double seconds_of(const PlacementProblem::Kernel& kernel, double more) {
  const std::size_t count = kernel.operands.size();
  if (kernel.time.lines.empty()) return kernel.time.all_fast(count) + more;
  double most = 0;
  for (const KernelTime::Line& line : kernel.time.lines) {
    const bool of_bytes =
        std::any_of(line.extra.begin(), line.extra.end(), [](double extra) { return extra != 0; });
    most = std::max(most, line.base + (of_bytes || count == 0 ? more : 0));
  }
  return most;
}

CachedRun round_of(const PlacementQuestion& question, const Addresses& addresses,
                   HardwareCache& cache) {
  const PlacementProblem& problem = question.problem();
  CachedRun run;
  for (const PlacementProblem::Kernel& kernel : problem.kernels) {
    HardwareCache::Traffic traffic;
    for (const bool writes : {false, true})
      for (const PlacementProblem::Operand& operand : kernel.operands)
        if (writes ? operand.written : operand.read_bytes > 0 || !operand.written)
          cache.access(addresses.of(operand.tensor), question.tensor(operand.tensor).bytes, writes,
                       traffic);
    run.hit_bytes += traffic.hits;
    run.miss_bytes += traffic.misses;
    run.written_back_bytes += traffic.written_back;
    run.kernel_s.push_back(seconds_of(kernel, traffic.misses / problem.cache.to_fast +
                                                  traffic.written_back / problem.cache.to_slow));
    run.seconds += run.kernel_s.back();
  }
  return run;
}

}  // namespace

CachedRun cached_run(const PlacementQuestion& question, std::int64_t capacity, int rounds) {
  const PlacementProblem& problem = question.problem();
  require_cache_rates(problem.cache, problem.slow, problem.device);
  const Addresses addresses(question);
  HardwareCache cache(capacity);
  CachedRun run;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
      if (question.tensor(t).begins == PlacementProblem::Begins::given)
        cache.drop(addresses.of(t), question.tensor(t).bytes);
    run = round_of(question, addresses, cache);
  }
  return run;
}

void require_cache_rates(const PlacementProblem::Rates& rates, const std::string& slow,
                         const std::string& device) {
  const auto require = [&](double rate, const char* what) {
    if (!(std::isfinite(rate) && rate > 0))
      throw InputError("memory '" + slow + "' of " + device +
                       " has no rate at which a hardware cache could " + what +
                       "; give it a bandwidth");
  };
  require(rates.to_fast, "read it");
  require(rates.to_slow, "write to it");
}

std::vector<Fact> facts_of_cache(const CacheBytes& round, std::int64_t cache_bytes) {
  const auto fact = [](const char* name, double bytes) {
    return Fact(name, std::llround(bytes), "byte");
  };
  return {fact("cache_bytes", static_cast<double>(cache_bytes)),
          fact("cache_hit_bytes", round.hit_bytes), fact("cache_miss_bytes", round.miss_bytes),
          fact("cache_written_back_bytes", round.written_back_bytes)};
}

}  // namespace sluice
