#include "placement/cached.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"

namespace sluice {
namespace {

/// Gives each tensor addresses in slow memory: the lowest free addresses where the tensor fits (first fit).
class Addresses {
 public:
  explicit Addresses(const PlacementQuestion& question) : at_(question.tensor_count()) {
    std::vector<std::vector<std::uint32_t>> begin(question.kernel_count()),
        end(question.kernel_count() + 1);
    for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
      begin[question.live(t).first].push_back(t);
      end[question.live(t).last].push_back(t);
    }
    for (std::uint32_t k = 0; k < question.kernel_count(); ++k) {
      for (const std::uint32_t t : end[k]) taken_.erase({at_[t], t});
      for (const std::uint32_t t : begin[k]) take(t, question.tensor(t).bytes);
    }
  }
  std::int64_t of(std::uint32_t t) const { return at_[t]; }

 private:
  void take(std::uint32_t t, std::int64_t bytes) {
    std::int64_t low = 0;
    for (const auto& [key, high] : taken_) {
      if (key.first - low >= bytes) break;
      low = std::max(low, high);
    }
    at_[t] = low;
    taken_[{low, t}] = low + bytes;
  }
  std::vector<std::int64_t> at_;
  /// The pieces of memory that are taken. The key is the first address of a piece and its tensor. The value is the end
  /// of the piece.
  std::map<std::pair<std::int64_t, std::uint32_t>, std::int64_t> taken_;
};

/// The content of the cache, byte by byte. Slow memory is divided into laps: pieces that are each as large as the
/// cache. The place of a byte in the cache is its distance from the beginning of its lap. For each piece of the cache,
/// this class knows the lap whose bytes are there.
class Cache {
 public:
  explicit Cache(std::int64_t size) : size_(size) {
    if (size_ > 0) lines_[0] = {-1, false};
  }

  struct Traffic {
    double hits = 0, misses = 0, written_back = 0;
  };

  void access(std::int64_t address, std::int64_t bytes, bool writes, Traffic& traffic) {
    if (size_ == 0) {
      traffic.misses += static_cast<double>(bytes);
      if (writes) traffic.written_back += static_cast<double>(bytes);
      return;
    }
    for (int whole_laps = 0; bytes > 0;) {
      const std::int64_t place = address % size_, lap = address / size_;
      const std::int64_t part = std::min(bytes, size_ - place);
      touch(place, place + part, lap, writes, traffic);
      address += part;
      bytes -= part;
      // An access may go over several complete laps. Each of them replaces the whole content of the cache. So from the
      // second complete lap on, each complete lap has the same misses and write-backs, and they need not be looked at
      // one by one.
      if (part == size_ && ++whole_laps == 2 && bytes >= 2 * size_) {
        const std::int64_t skipped = (bytes / size_ - 1) * size_;
        traffic.misses += static_cast<double>(skipped);
        if (writes) traffic.written_back += static_cast<double>(skipped);
        address += skipped;
        bytes -= skipped;
      }
    }
  }

  /// Removes the bytes of a tensor from the cache without writing them back.
  void drop(std::int64_t address, std::int64_t bytes) {
    if (size_ == 0 || bytes == 0) return;
    const std::int64_t end = address + bytes;
    split(address % size_);
    split(end % size_);
    for (auto& [place, line] : lines_) {
      const std::int64_t held = line.lap * size_ + place;
      if (line.lap >= 0 && held >= address && held < end) line = {-1, false};
    }
  }

 private:
  struct CachedLines {
    std::int64_t lap;
    bool dirty;
  };

  void split(std::int64_t place) {
    if (place >= size_) return;
    const auto after = lines_.upper_bound(place);
    const auto at = std::prev(after);
    if (at->first != place) lines_.emplace_hint(after, place, at->second);
  }

  void touch(std::int64_t low, std::int64_t high, std::int64_t lap, bool writes, Traffic& traffic) {
    split(low);
    split(high);
    bool dirty = true;  // whether the previous piece in the loop is dirty
    bool uniform = true, any = false;
    auto at = lines_.find(low);
    while (at != lines_.end() && at->first < high) {
      const auto after = std::next(at);
      const auto bytes =
          static_cast<double>((after == lines_.end() ? size_ : after->first) - at->first);
      CachedLines& cached = at->second;
      if (cached.lap == lap) {
        traffic.hits += bytes;
      } else {
        traffic.misses += bytes;
        if (cached.dirty) traffic.written_back += bytes;
        cached = {lap, false};
      }
      cached.dirty |= writes;
      if (any && cached.dirty != dirty) uniform = false;
      dirty = cached.dirty;
      any = true;
      at = after;
    }
    if (uniform) {
      lines_.erase(lines_.upper_bound(low), lines_.lower_bound(high));
      lines_[low] = {lap, dirty};
    }
  }

  std::int64_t size_;
  std::map<std::int64_t, CachedLines> lines_;  ///< each entry extends from its key to the next key
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

void check_rates(const PlacementProblem& problem) {
  const auto check_rate = [&](double rate, const char* what) {
    if (!(std::isfinite(rate) && rate > 0))
      throw InputError("memory '" + problem.slow + "' of " + problem.device +
                       " has no rate at which a hardware cache could " + what +
                       "; give it a bandwidth");
  };
  check_rate(problem.cache.to_fast, "read it");
  check_rate(problem.cache.to_slow, "write to it");
}

CachedRun round_of(const PlacementQuestion& question, const Addresses& addresses, Cache& cache) {
  const PlacementProblem& problem = question.problem();
  CachedRun run;
  for (const PlacementProblem::Kernel& kernel : problem.kernels) {
    Cache::Traffic traffic;
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
  check_rates(question.problem());
  const Addresses addresses(question);
  Cache cache(capacity);
  CachedRun run;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
      if (question.tensor(t).begins == PlacementProblem::Begins::given)
        cache.drop(addresses.of(t), question.tensor(t).bytes);
    run = round_of(question, addresses, cache);
  }
  return run;
}

}  // namespace sluice
