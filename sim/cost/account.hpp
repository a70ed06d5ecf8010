// An account says how certain a cost model's prices for a model are. It says how many of the seconds rest on a fit or
// on rows of a profile, how large their errors are, and which cost model prices the other operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost/cost.hpp"

namespace sluice {

/// The errors of single operators, weighted by their seconds.
struct KnownErrors {
  double share = 0;  ///< the share of all seconds for which the errors are known
  double median = 0, ninety = 0;
};

/// Shares of the seconds of one forward pass of all layers; in training, also of the backward pass.
struct Account {
  double seconds = 0;  ///< 0: the cost model neither fits nor measures
  /// The share that rests on a fit; the part of it whose sizes are within the measured ones.
  double fitted = 0, inside = 0;
  /// The share from rows of a profile; the share that was interpolated between rows.
  double measured = 0, interpolated = 0;
  double multiple = 0;  ///< the share that is a multiple of forward passes
  /// Of operators that a fit had not seen; of rows that were left out of an interpolation.
  KnownErrors fit_errors, interpolation_errors;
  std::vector<std::pair<std::string, double>> others;  ///< by class: not fitted, largest first
  /// The devices on which the rows of the profile were measured, by name. An empty text stands for a device that the
  /// profile does not name.
  std::vector<std::string> measured_on;
};

/// What of a backward pass is counted.
struct BackwardCounted {
  bool any = false;
  std::optional<double> multiple = {};  ///< of the forward pass; none: each layer has its own
};

Account account_of(const Cost& cost, const Model& model, const Device& device, DType dtype,
                   std::int64_t samples, const BackwardCounted& backward = {});

/// Returns a few sentences, or "" if the cost model does not fit, interpolate or multiply anything.
std::string account_text(const Account& account);

}  // namespace sluice
