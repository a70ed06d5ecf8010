// Says in how many ways the loads of a training step are listed, for the candidates of training (training.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "planning/training/late_loads.hpp"

namespace sluice {

/// The numbers of bytes that are tried for early loads, each as a multiple of a step's peak without early loads.
constexpr std::array<double, 17> ahead_parts = {0.0, 0.02, 0.035, 0.06, 0.1, 0.2,  0.35, 0.5, 0.75,
                                                1.0, 1.5,  2.5,   4.0,  7.0, 12.0, 20.0, 34.0};

/// The paces that are tried, the most useful first. The empty element is the pace of the machine itself. In order of
/// size, neighbouring paces mostly differ by a factor of about 1.4. So a slow machine's own pace is mostly near a pace
/// that is tried for every machine. Therefore nearly every plan for the slow machine is also tried for a fast machine.
inline const std::array<std::optional<double>, 10> paces = {
    std::optional<double>(), as_early_as_may_be, 1.0, 4.0, 2.0, 0.5, 16.0, 1.4, 2.8, 0.7};

/// In how many ways the loads of a step are listed. The more operations a step has, the fewer ways are tried.
struct TriedCounts {
  std::size_t paces = 1;  ///< how many of `paces` are tried, from the beginning
  std::size_t listings =
      0;  ///< how many different listings are tried per pace, beginning with the most bytes
};
constexpr TriedCounts most_tried{paces.size(), 40};
/// `made_to_change` is PolicyRequest::made_to_change.
inline TriedCounts tried_counts(std::int64_t operations, bool made_to_change) {
  if (operations <= 500 && !made_to_change) return most_tried;
  if (operations <= 2'000) return {3, 0};
  return {1, 0};
}

/// How many micro-batches more than the step the larger steps have (larger_step.hpp).
constexpr std::array<std::int64_t, 2> larger_by = {1, 2};
/// For a larger step, fewer listings are tried, so that planning does not take several times as long.
inline TriedCounts for_larger(const TriedCounts& tried) {
  return {tried.paces, tried.listings / 2};
}

}  // namespace sluice
