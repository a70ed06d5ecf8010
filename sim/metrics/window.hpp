// Stores a time for each execution in a few consecutive iterations of a plan's body. Only lower_bound() uses this file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// A number, such as a time, for each execution in the latest iterations of the body.
class Window {
 public:
  /// Keeps the numbers of the last `iterations` iterations for which a number was written.
  Window(const Plan& plan, std::int64_t iterations)
      : begin_(plan.body_begin),
        width_(plan.body_end - plan.body_begin),
        iterations_(std::max<std::int64_t>(1, iterations)),
        values_(static_cast<std::size_t>(iterations_) * width_, 0) {}
  double& at(std::uint32_t action, std::int64_t iteration) {
    return values_[static_cast<std::size_t>(iteration % iterations_) * width_ + action - begin_];
  }
  double at(std::uint32_t action, std::int64_t iteration) const {
    return values_[static_cast<std::size_t>(iteration % iterations_) * width_ + action - begin_];
  }
  void clear() { std::fill(values_.begin(), values_.end(), 0); }

 private:
  std::uint32_t begin_;
  std::size_t width_;
  std::int64_t iterations_;
  std::vector<double> values_;
};

}  // namespace sluice
