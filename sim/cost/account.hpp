// An account says how certain the prices of a cost model are. It has the shares of the seconds that come from a fit or
// from rows of a profile. It also has the errors of these seconds, and the operators with prices from another cost
// model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost/cost.hpp"

namespace sluice {

/// The errors of the prices of single operators. The price of an operator has a median error, and an error that nine of
/// ten such operators do not exceed. `median` and `ninety` are the means of these two errors over the operators with
/// known errors, weighted by the operators' seconds.
struct KnownErrors {
  double share = 0;  ///< the share of all seconds for which the errors are known
  double median = 0, ninety = 0;
};

/// Shares of the seconds in which all layers compute once: their forward passes, and in training also their backward
/// passes.
struct Account {
  double seconds = 0;  ///< the sum of all seconds; 0 if no price comes from a fit or a profile
  /// `fitted` is the share of the seconds that comes from a fit. `inside` is the part of this share for operators whose
  /// sizes are within the measured range.
  double fitted = 0, inside = 0;
  /// `measured` is the share of the seconds that comes from rows of a profile. `interpolated` is the share of the
  /// seconds that was interpolated between rows.
  double measured = 0, interpolated = 0;
  /// The share of the seconds that belongs to backward passes, if these are computed as a multiple of forward seconds.
  double multiple = 0;
  /// `fit_errors` are the errors of a fit for operators that it has not seen. `interpolation_errors` are the errors of
  /// an interpolation for rows that were left out of it.
  KnownErrors fit_errors, interpolation_errors;
  /// Operator classes that were not fitted, with their shares of the seconds. The class with the largest share comes
  /// first.
  std::vector<std::pair<std::string, double>> others;
  /// The names of the devices on which the rows of the profile were measured. A name is empty if the profile does not
  /// give it.
  std::vector<std::string> measured_on;
};

/// Whether an account includes backward passes, and how their seconds are computed.
struct BackwardCounted {
  bool any = false;
  /// The ratio of backward seconds to forward seconds. Absent if each layer has its own backward seconds.
  std::optional<double> multiple = {};
};

Account account_of(const Cost& cost, const Model& model, const Device& device, DType dtype,
                   std::int64_t samples, const BackwardCounted& backward = {});

/// Returns the account in a few sentences, or "" if no seconds were fitted, interpolated or computed as a multiple.
std::string account_text(const Account& account);

}  // namespace sluice
