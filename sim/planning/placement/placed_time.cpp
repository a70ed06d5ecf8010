#include "planning/placement/placed_time.hpp"

#include <algorithm>
#include <cmath>

#include "planning/placed_price.hpp"

namespace sluice {
namespace {

class Pricer {
 public:
  Pricer(const Pricing& pricing, const TwoMemories& memories, const Query& query,
         const std::vector<std::size_t>& tensor_of)
      : pricing_(pricing), memories_(memories), query_(query), tensor_of_(tensor_of) {}

  /// Returns the seconds of the kernel if the tensors with slow[t] are in slow memory, and all others in fast memory.
  double seconds(const std::vector<char>& slow) const {
    const PlacedPrice placed =
        placed_price(pricing_.platform, pricing_.cost, placed_query_of(query_, slow));
    double down = 0, up = 0;
    for (const PlacedPrice::Flow& flow : placed.flows)
      (flow.from == memories_.slow ? down : up) += flow.bytes;
    return std::max({placed.price.seconds, down / memories_.asynchronous.to_fast,
                     up / memories_.asynchronous.to_slow});
  }

  /// Returns the lines of a roofline: one for the FLOP, one for the bytes in memories without a link, and one for each
  /// direction of the link (only if slow memory is behind a link).
  std::vector<KernelTime::Line> lines(std::size_t tensors) const {
    const std::vector<char> fast(tensors, 0);
    Query flop = query_, bytes = query_;
    flop.work.bytes = flop.work.written = 0;
    flop.operands.clear();
    bytes.work.flop = 0;
    const Cost& cost = pricing_.cost;
    std::vector<KernelTime::Line> lines = {{cost.of(flop).seconds, std::vector<double>(tensors, 0)},
                                           {near_seconds(bytes, fast), {}}};
    const std::vector<double> nothing(tensors, 0);
    KernelTime::Line down{0, nothing, KernelTime::Line::Over::fetching};
    KernelTime::Line up{0, nothing, KernelTime::Line::Over::saving};
    for (std::size_t t = 0; t < tensors; ++t) {
      std::vector<char> slow = fast;
      slow[t] = 1;
      lines[1].extra.push_back(near_seconds(bytes, slow) - lines[1].base);
      for (std::size_t o = 0; o < tensor_of_.size() && memories_.far; ++o) {
        if (tensor_of_[o] != t) continue;
        down.extra[t] += query_.operands[o].read / memories_.asynchronous.to_fast;
        up.extra[t] += query_.operands[o].written / memories_.asynchronous.to_slow;
      }
    }
    if (memories_.far) lines.insert(lines.end(), {down, up});
    return lines;
  }

 private:
  Query placed_query_of(Query query, const std::vector<char>& slow) const {
    for (std::size_t o = 0; o < query.operands.size(); ++o)
      query.operands[o].pool = slow[tensor_of_[o]] ? memories_.slow : memories_.fast;
    return query;
  }

  double near_seconds(const Query& query, const std::vector<char>& slow) const {
    return placed_price(pricing_.platform, pricing_.cost, placed_query_of(query, slow))
        .price.seconds;
  }

  const Pricing& pricing_;
  const TwoMemories& memories_;
  const Query& query_;
  const std::vector<std::size_t>& tensor_of_;
};

std::vector<char> set_of(std::size_t bits, std::size_t tensors) {
  std::vector<char> slow(tensors);
  for (std::size_t t = 0; t < tensors; ++t) slow[t] = (bits >> t & 1U) != 0;
  return slow;
}

}  // namespace

KernelTime placed_time(const Pricing& pricing, const TwoMemories& memories, const Query& query,
                       const std::vector<std::size_t>& tensor_of, std::size_t tensors) {
  const Pricer pricer(pricing, memories, query, tensor_of);
  KernelTime time;
  time.lines = pricer.lines(tensors);
  const bool small = tensors <= KernelTime::most_in_table;
  std::vector<double> table;
  bool lines_hold = true;
  // How many sets of tensors are tried in slow memory. With few tensors, these are all sets. With many tensors, these
  // are the sets of one tensor, the sets of all tensors except one, the set of all tensors, and the empty set.
  const std::size_t sets = small ? std::size_t{1} << tensors : 2 * tensors + 2;
  for (std::size_t n = 0; n < sets; ++n) {
    std::vector<char> slow(tensors, n % 2 != 0);
    if (small)
      slow = set_of(n, tensors);
    else if (n < 2 * tensors)  // the last two sets are the empty set and the full set
      slow[n / 2] = n % 2 == 0;
    const double seconds = pricer.seconds(slow);
    lines_hold &= std::abs(seconds - time.at(slow)) <= 1e-9 * seconds;
    table.push_back(seconds);
  }
  if (lines_hold) {
    // The first line has the seconds of the kernel's FLOP. If the kernel takes just these seconds with every placement
    // of its tensors, the other lines are not needed.
    const KernelTime::Line flop = time.lines.front();
    const bool constant = std::all_of(table.begin(), table.end(),
                                      [&](double seconds) { return seconds == flop.base; });
    if (constant) time.lines = {flop};
    return time;
  }
  if (!small)
    throw InputError("layer '" + (query.layer ? query.layer->name : std::string("an update")) +
                     "' reads and writes " + std::to_string(tensors) +
                     " tensors, and its cost model is not a roofline over these tensors; without a "
                     "roofline, the limit is " +
                     std::to_string(KernelTime::most_in_table));
  return {.lines = {}, .table = std::move(table)};
}

}  // namespace sluice
