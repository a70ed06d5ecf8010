// How certain a cost model's prices for a model are: how many of the seconds rest on a fit, how
// large the fit's error is, and which cost model prices the operators that were not fitted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cost/cost.hpp"

namespace sluice {

/// Shares of the seconds of one forward pass of all layers; in training, also of the backward pass.
struct Account {
  double seconds = 0;                     ///< 0: the cost model neither fits nor measures
  double fitted = 0, inside = 0;          ///< the share that rests on a fit; the part of it whose
                                          ///< sizes are within the measured ones
  double measured = 0, interpolated = 0;  ///< the share from rows of a profile; the share that
                                          ///< was interpolated between rows
  /// `known` is the share of the seconds whose operators have sizes for which the fit was
  /// cross-validated. The other two are the errors of single operators, weighted by their seconds.
  double known = 0, median = 0, ninety = 0;
  std::vector<std::pair<std::string, double>> others;  ///< by class: not fitted, largest first
};

Account account_of(const Cost& cost, const Model& model, const Device& device, DType dtype,
                   std::int64_t samples, bool training);

/// Returns one or two sentences, or "" if the cost model does not fit anything.
std::string account_text(const Account& account);

}  // namespace sluice
