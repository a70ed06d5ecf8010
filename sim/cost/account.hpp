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
  double seconds = 0;  ///< the sum of all seconds; 0 if the cost model neither fits nor measures
  /// `fitted` is the share that rests on a fit. `inside` is the part of it with sizes within the measured range.
  double fitted = 0, inside = 0;
  /// `measured` is the share that comes from rows of a profile. `interpolated` is the share that was interpolated
  /// between such rows.
  double measured = 0, interpolated = 0;
  double multiple = 0;  ///< the share that is a multiple of forward passes
  /// `fit_errors` are the errors of a fit for operators that were left out of it. `interpolation_errors` are the errors
  /// of an interpolation for rows that were left out of it.
  KnownErrors fit_errors, interpolation_errors;
  /// Operator classes that were not fitted, each with its share, largest share first.
  std::vector<std::pair<std::string, double>> others;
  /// The devices on which the rows of the profile were measured, by name. An empty text stands for a device that the
  /// profile does not name.
  std::vector<std::string> measured_on;
};

/// Which parts of a backward pass are counted, and how.
struct BackwardCounted {
  bool any = false;
  /// Backward seconds / forward seconds; absent if each layer has its own backward seconds.
  std::optional<double> multiple = {};
};

Account account_of(const Cost& cost, const Model& model, const Device& device, DType dtype,
                   std::int64_t samples, const BackwardCounted& backward = {});

/// Returns a few sentences, or "" if the cost model does not fit, interpolate or multiply anything.
std::string account_text(const Account& account);

}  // namespace sluice
