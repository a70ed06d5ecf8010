#include "planning/training/chain/block_bound.hpp"

#include <algorithm>
#include <limits>

#include "base/quantity.hpp"
#include "planning/copy_time.hpp"
#include "planning/slots/memory_waits.hpp"
#include "planning/training/shortest_round.hpp"
#include "planning/training/training.hpp"
#include "platform/platform.hpp"

namespace sluice {

namespace {

/// The sums over the operations of a block. All operations of a block run on one device.
struct Block {
  std::uint32_t device = 0;
  std::int64_t pass = -1;  ///< the number of the pass; -1 for an update
  bool last_pass = false;  ///< whether the block belongs to the last pass of a batch, as updates do
  double first_s = 0, last_s = 0;  ///< the seconds of the first and of the last operation
  double compute_s = 0;
  double loaded = 0;  ///< the bytes that the operations need from host memory
  /// The bytes that leave the device when they are saved: those of all operations, and those of all but the last.
  double saved = 0, saved_before_last = 0;
  std::vector<double> held;  ///< indexed by device: the bytes there during the last operation
};

/// Divides the operations of a step into blocks.
class Blocks {
 public:
  /// The step lists `passes` passes.
  Blocks(const Program& step, std::int64_t in_flight, std::int64_t passes)
      : step_(step), in_flight_(in_flight), passes_(passes) {
    std::vector<std::vector<std::int64_t>> bytes;
    for (std::uint32_t d = 0; d < step.devices.size(); ++d)
      bytes.push_back(bytes_in_every_round(step, d));
    for (std::size_t i = 0; i < step.operations.size(); ++i) {
      if (i == 0 || begins(step.operations[i - 1], step.operations[i])) {
        blocks.emplace_back().device = step.operations[i].device;
        if (step.operations[i].micro_batch >= 0) blocks.back().pass = pass_of(step.operations[i]);
        blocks.back().last_pass = is_of_last_pass(step.operations[i]);
        blocks.back().first_s = step.operations[i].seconds;
      }
      add(i);
      blocks.back().held.clear();
      for (const std::vector<std::int64_t>& held : bytes)
        blocks.back().held.push_back(static_cast<double>(held[i]));
    }
  }

  std::vector<Block> blocks;

 private:
  std::int64_t pass_of(const Program::Operation& operation) const {
    return operation.micro_batch / in_flight_;
  }
  bool is_of_last_pass(const Program::Operation& operation) const {
    return operation.micro_batch < 0 || pass_of(operation) % passes_ == passes_ - 1;
  }
  /// Returns whether the operation `next` begins a block. An update is a block of its own.
  bool begins(const Program::Operation& before, const Program::Operation& next) const {
    return before.micro_batch < 0 || next.micro_batch < before.micro_batch ||
           before.stage != next.stage || pass_of(before) != pass_of(next);
  }
  void add(std::size_t number) {
    const Program::Operation& operation = step_.operations[number];
    Block& block = blocks.back();
    block.saved_before_last = block.saved;
    block.last_s = operation.seconds;
    block.compute_s += operation.seconds;
    for (const std::uint32_t loaded : operation.loads)
      block.loaded += static_cast<double>(step_.instances[loaded].bytes);
    for (const std::uint32_t saved : operation.saves)
      if (step_.instances[saved].last <= static_cast<std::int64_t>(number))
        block.saved += static_cast<double>(step_.instances[saved].bytes);
  }

  const Program& step_;
  std::int64_t in_flight_, passes_;
};

/// Returns the block for `count` micro-batches. `two` and `three` are the block for 2 and 3 micro-batches.
Block extrapolated(const Block& two, const Block& three, std::int64_t count) {
  const auto more = static_cast<double>(count - 2);
  Block block = two;
  for (double Block::*const what :
       {&Block::compute_s, &Block::loaded, &Block::saved, &Block::saved_before_last})
    block.*what += more * (three.*what - two.*what);
  for (std::size_t d = 0; d < block.held.size(); ++d)
    block.held[d] += more * (three.held[d] - two.held[d]);
  return block;
}

/// The fewest seconds that any load and any save of a device takes per byte.
struct CopyPrices {
  double load_s = std::numeric_limits<double>::infinity();
  double save_s = std::numeric_limits<double>::infinity();
};

std::vector<CopyPrices> copy_prices(const Program& step, const BlockRun& run) {
  std::vector<CopyPrices> prices(run.devices.size());
  for (const Program::Instance& made : step.instances) {
    if (made.bytes == 0) continue;
    const auto bytes = static_cast<double>(made.bytes);
    CopyPrices& own = prices[made.device];
    if (made.loaded) own.load_s = std::min(own.load_s, made.load_s / bytes);
    if (made.saved_at < 0) continue;
    const CopyTime up = copy_time(run.platform, run.devices[made.device], run.platform.host().name);
    own.save_s = std::min(own.save_s, up.seconds(made.bytes) / bytes);
  }
  for (CopyPrices& own : prices)
    for (double* const seconds : {&own.load_s, &own.save_s})
      if (*seconds == std::numeric_limits<double>::infinity()) *seconds = 0;
  return prices;
}

/// The blocks from `begin` to `end` come `times` times more than they are listed.
struct RepeatedBlocks {
  std::size_t begin = 0, end = 0;
  double times = 0;
};

/// Returns the blocks of the equal passes of which the step leaves out some (StepShape::more_passes). `blocks` are all
/// blocks that are listed.
RepeatedBlocks repeated_blocks(const StepShape& shape, const std::vector<Block>& blocks) {
  if (shape.more_passes == 0) return {};
  const FewPasses few = few_passes(shape.in_flight);
  const auto of_pass = static_cast<std::size_t>(std::ranges::count(blocks, 0, &Block::pass));
  const std::size_t begin = static_cast<std::size_t>(few.before()) * of_pass;
  return {begin, begin + static_cast<std::size_t>(few.equal) * of_pass,
          static_cast<double>(shape.more_passes) / static_cast<double>(few.equal)};
}

/// How many successive blocks are looked at together. Each more takes time in proportion to the number of blocks.
constexpr std::size_t longest_row = 24;

/// Returns a time before which the blocks do not end. Each row of successive blocks takes as long as its computations,
/// and as the copies that cannot run before and after it (memory_waits.hpp). `ahead` is the bytes that may be loaded
/// before the first block. Where a block ends depends only on the ends of a row of blocks before it. If all these
/// are later by d seconds after the repeated blocks than before them, the end is later by d seconds for each time that
/// these blocks come once more.
double end_of(const std::vector<Block>& blocks, const std::vector<CopyPrices>& prices,
              double memory, double ahead, const RepeatedBlocks& repeated = {}) {
  const std::size_t row = repeated.times > 0 ? std::min(longest_row, repeated.begin) : longest_row;
  std::vector<double> ends(blocks.size() + 1, 0);
  for (std::size_t begin = 0; begin < blocks.size(); ++begin) {
    const double start = ends[begin];
    double compute_s = 0;
    std::vector<double> loaded(prices.size(), 0), saved(prices.size(), 0);
    for (std::size_t i = begin; i < std::min(blocks.size(), begin + row); ++i) {
      const Block& block = blocks[i];
      const std::uint32_t d = block.device;
      compute_s += block.compute_s;
      loaded[d] += block.loaded;
      const double early = begin == 0 ? ahead : std::max(0.0, memory - blocks[begin - 1].held[d]);
      const double load_s = (loaded[d] - early) * prices[d].load_s + block.last_s;
      const double late = std::max(0.0, memory - block.held[d]);
      const double left = saved[d] + block.saved_before_last - late;
      saved[d] += block.saved;
      const double save_s =
          left > 0 ? blocks[begin].first_s + left * prices[d].save_s + block.last_s : 0;
      ends[i + 1] = std::max(ends[i + 1], start + std::max({compute_s, load_s, save_s}));
    }
  }
  if (repeated.times == 0) return ends.back();
  double later = std::numeric_limits<double>::infinity();
  for (std::size_t i = repeated.begin - row + 1; i <= repeated.begin; ++i)
    later = std::min(later, ends[i + repeated.end - repeated.begin] - ends[i]);
  return ends.back() + repeated.times * later;
}

}  // namespace

double block_bound(const PolicyRequest& request, const TrainingOrder& order,
                   const std::optional<std::int64_t>& memory) {
  if (!memory || !order.overlap || *order.in_flight < least_of_blocks ||
      !devices_alike(request, order))
    return 0;
  const Platform& platform = request.pricing.platform;
  double least = 0;
  with_step_shape(request, order, [&](const StepShape& step) {
    least = block_bound(shortest_round(step, request, order),
                        {platform, order.devices, request.workload.steps, *memory});
  });
  return least;
}

double block_bound(const StepShape& shape, const BlockRun& run) {
  if (shape.in_flight < 4 || shape.micro_batches < 4) return 0;
  const std::int64_t passes = (shape.micro_batches + shape.in_flight - 1) / shape.in_flight;
  const auto small = [&](std::int64_t in_flight) {
    StepShape few = shape;
    few.in_flight = in_flight;
    few.micro_batches = passes * in_flight;
    Program step = make_step(few);
    step.devices = run.devices;
    return step;
  };
  const Program two = small(2), three = small(3);
  const std::vector<Block> of_two = Blocks(two, 2, passes).blocks,
                           of_three = Blocks(three, 3, passes).blocks;
  if (of_two.size() != of_three.size()) return 0;
  const std::int64_t last = shape.micro_batches - (passes - 1) * shape.in_flight;
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < of_two.size(); ++i)
    blocks.push_back(
        extrapolated(of_two[i], of_three[i], of_two[i].last_pass ? last : shape.in_flight));
  const std::vector<CopyPrices> prices = copy_prices(two, run);
  const auto memory = static_cast<double>(run.memory);
  const double rounds = static_cast<double>(run.steps) * static_cast<double>(shape.rounds_per_step);
  const double later = rounds > 1 ? (rounds - 1) * end_of(blocks, prices, memory, memory) : 0;
  // Sums are rounded, and the seconds per byte may be, too.
  return (end_of(blocks, prices, memory, 0, repeated_blocks(shape, of_two)) + later) * (1 - 1e-9);
}

}  // namespace sluice
