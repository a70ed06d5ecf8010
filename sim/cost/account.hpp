// How certain a cost model's prices of a model are: how many of the seconds rest on a fit, how
// large the fit's error is, and what prices the operators that were not fitted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cost/cost.hpp"

namespace sluice {

/// Shares of the seconds of one forward pass of all layers, in training also of the backward pass.
struct Account {
  double seconds = 0;                     ///< 0: the cost model neither fits nor measures
  double fitted = 0, inside = 0;          ///< rest on a fit; rest on a fit and have sizes within
                                          ///< those measured
  double measured = 0, interpolated = 0;  ///< are rows of a profile; were interpolated between its
                                          ///< rows
  /// The share of the seconds for which operators of such sizes were cross-validated, and the
  /// errors of single operators, weighted by their seconds.
  double known = 0, median = 0, ninety = 0;
  std::vector<std::pair<std::string, double>> others;  ///< by class: not fitted, largest first
};

Account account_of(const Cost& cost, const Model& model, const Device& device, DType dtype,
                   std::int64_t samples, bool training);

/// One or two sentences; empty where the cost model does not fit anything.
std::string account_text(const Account& account);

}  // namespace sluice
