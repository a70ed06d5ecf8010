// Says in how many ways the loads of a training step are listed, for the candidates of training (training.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "planning/training/pace.hpp"

namespace sluice {

/// The numbers of bytes that are tried for early loads, each as a multiple of a step's peak without early loads.
constexpr std::array<double, 17> ahead_parts = {0.0, 0.02, 0.035, 0.06, 0.1, 0.2,  0.35, 0.5, 0.75,
                                                1.0, 1.5,  2.5,   4.0,  7.0, 12.0, 20.0, 34.0};

/// If replicas share links, a run also stays within so many times the bytes that its loads need. It may then start
/// loads before the list needs them, while another replica does not use the link.
constexpr std::array<double, 7> run_parts = {1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0};

/// The paces that are tried, the most useful first. The empty element is the pace of the machine itself. In order of
/// size, neighbouring seconds of loads mostly differ by a factor of about 1.4, and neighbouring latencies by a factor of
/// 2. So a slow machine's own pace is mostly near a pace that is tried for every machine. Therefore nearly every plan
/// for the slow machine is also tried for a fast machine.
inline const std::array<std::optional<Pace>, 20> paces = [] {
  std::array<std::optional<Pace>, 20> paces = {std::nullopt, as_early_as_may_be};
  auto next = paces.begin() + 2;
  for (const double loads : {1.0, 4.0, 2.0, 0.5, 16.0, 1.4, 2.8, 0.7}) *next++ = Pace{loads};
  for (const double loads : {0.5, 2.0})
    for (const double latency : {0.0625, 0.125, 0.25, 0.5, 1.0}) *next++ = Pace{loads, latency};
  return paces;
}();
/// How many of `paces` are tried, beginning with the first, if the links have no latency: the others are for links with
/// a latency. For a shown machine (planning/placement/backing.hpp), too, only these are tried, because planning would
/// take twice as long.
constexpr std::size_t paces_without_latency = 10;

/// In how many ways the loads of a step are listed. The more operations a step has, the fewer ways are tried.
struct TriedCounts {
  /// How many of `paces` are tried at most, from the beginning.
  std::size_t paces = 1;
  std::size_t listings =
      0;  ///< how many different listings are tried per pace, beginning with the most bytes
  /// With n, only every n-th of `ahead_parts` is tried. If n is not 1, late loads only have the order in which they are
  /// listed.
  std::size_t each_room = 1;
};
constexpr TriedCounts most_tried{paces.size(), 40};
/// For replicas, with each of the sets of tensors that stay.
constexpr TriedCounts few_tried{2, 0};
/// The number of operations up to which most_tried is used.
constexpr std::int64_t most_operations = 500;
/// `made_to_change` is PolicyRequest::made_to_change.
inline TriedCounts tried_counts(std::int64_t operations, bool made_to_change) {
  if (operations <= most_operations && !made_to_change) return most_tried;
  if (operations <= 2'000) return {3, 0};
  return {1, 0};
}

/// TriedCounts::each_room for a long batch whose program lists so many operations, of a few passes. The rooms hardly
/// change the seconds of such a step, and each takes seconds to simulate.
constexpr std::size_t room_of_long_step(std::int64_t operations) {
  return operations <= 3'000 ? 1 : 4;
}

/// If replicas share links, and several ways are equally fast for one of them alone: how many of these ways are tried
/// with all replicas, for a step of so many operations.
constexpr std::size_t most_equal(std::int64_t operations) {
  return operations <= most_operations ? 16 : 8;
}

/// A larger step whose places of loads are tried for the step (larger_step.hpp).
struct TriedLarger {
  std::int64_t more = 0;  ///< how many micro-batches per batch it has more than the step
  TriedCounts tried;      ///< few, so that planning does not take several times as long
};

/// Returns the larger steps for a step of this many micro-batches per batch and this many operations. The first two
/// have one and two micro-batches more. The others have the next four of the numbers 3, 4, 6, 8, 12, 16 and so on, and
/// always all of them up to 16. In a step with more micro-batches, computations hide more loads, and the loads come in
/// another order. This order may also be the fastest for fewer micro-batches. The numbers of the others do not depend
/// on the step. So if a step gets an order from one of them, a slightly smaller step mostly tries this order, too.
inline std::vector<TriedLarger> larger_steps(std::int64_t micro_batches, std::int64_t operations) {
  constexpr std::size_t most_steps = 6;
  constexpr std::int64_t always = 16;  // tried even if there are more steps than `most_steps`
  const TriedCounts tried = tried_counts(operations, /*made_to_change=*/false);
  if (tried.paces == 1) return {};
  const TriedCounts near{tried.listings > 0 ? tried.paces : 1, tried.listings / 2};
  const TriedCounts far{std::min(near.paces, paces_without_latency), near.listings};
  std::vector<TriedLarger> larger = {{1, near}, {2, near}};
  if (micro_batches > most_operations) return larger;  // each has an operation of its own
  for (std::int64_t two = 2;; two *= 2)
    for (const std::int64_t count : {two + two / 2, 2 * two}) {
      if (count <= micro_batches + 2) continue;
      if ((larger.size() >= most_steps && count > always) ||
          operations * count > most_operations * micro_batches)
        return larger;
      larger.push_back({count - micro_batches, far});
    }
}

}  // namespace sluice
