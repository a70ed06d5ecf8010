// How sure a cost model is of a model's passes: which of the seconds rest on a fit, how far off it
// is, and what stands in where nothing was fitted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cost/cost.hpp"

namespace sluice {

/// Shares of the seconds of one forward pass of all layers, and of the backward pass in training.
struct Account {
  double seconds = 0;                     ///< 0: the cost model fits and measures nothing
  double fitted = 0, inside = 0;          ///< rest on a fit; on one where such sizes were measured
  double measured = 0, interpolated = 0;  ///< are rows of a profile; lie between its rows
  /// The share of the seconds for which operators of such sizes were cross-validated, and the error
  /// of single ones of them, weighted by their seconds.
  double known = 0, median = 0, ninety = 0;
  std::vector<std::pair<std::string, double>> others;  ///< by class: not fitted, the greatest first
};

Account account_of(const Cost& cost, const Model& model, const Device& device, DType dtype,
                   std::int64_t samples, bool training);

/// A sentence or two; empty where the cost model fits nothing.
std::string account_text(const Account& account);

}  // namespace sluice
