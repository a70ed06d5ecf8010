// Takes prices from a profile: the time that was measured for a pass of a layer.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cost/cost.hpp"
#include "cost/measured/by_size.hpp"
#include "profile/match.hpp"

namespace sluice {

/// Between which rows a price may be interpolated.
enum class Interpolation : std::uint8_t { none, batch, sizes };

class MeasuredTable {
 public:
  MeasuredTable(Profile profile, Interpolation interpolation, std::string statistic);

  /// Returns nothing if the pass was not measured and may not be interpolated, or if its size is outside of the rows.
  /// Measured seconds are in measured_s, and interpolated seconds are not.
  std::optional<Price> price(const Query& query) const;
  /// Returns what that price rests on; nothing if there is no price.
  std::optional<Grounds> grounds(const Query& query) const;
  /// Returns whether the pass was measured with its operands in these memories.
  bool measured_so(const Query& query) const;
  /// Says why there is no price, and what to do.
  std::string why_not(const Query& query) const;
  /// Returns the only batch for which each layer's forward pass was measured, or 0 if there are
  /// several or none.
  std::int64_t only_samples(const Model& model) const;
  /// Cross-validates the interpolation by size on the rows of an element type, class by class.
  /// Classes with too few rows are left out.
  std::map<std::string, LeftOut> sizes_left_out(const Device& device, DType dtype) const;

 private:
  std::optional<double> seconds_of(const ProfileRow& row) const;
  Price price_of_row(const ProfileRow& row, const Query& query, double share) const;
  /// The row of the operator for these samples; null: it was not measured.
  const ProfileRow* exact_row(const Query& query, std::string_view pass) const;
  std::optional<Price> exact(const Query& query, std::string_view pass, double share) const;
  /// The rows of the operator for other samples, one for each.
  std::vector<const ProfileRow*> rows_by_batch(const Query& query, std::string_view pass) const;
  Utilisation shares_by_batch(const std::vector<const ProfileRow*>& rows, const Query& query) const;
  std::optional<Price> by_batch(const Query& query, std::string_view pass) const;
  std::optional<Price> by_sizes(const Query& query) const;
  LeftOut left_out(const Query& query, const std::string& of) const;
  const std::string& device_of(const ProfileRow& row) const;
  const SharesBySize& shares(const Device& device, DType dtype) const;

  const Profile profile_;
  const ProfileIndex index_;
  const Interpolation interpolation_;
  const std::string statistic_;
  const std::string device_;  ///< of rows that do not name one
  mutable std::mutex mutex_;  ///< protects the maps below: sweeps price in several threads
  mutable std::map<std::string, SharesBySize> shares_;  ///< by device and element type
  mutable std::map<std::string, LeftOut> left_out_;     ///< by these and by class
};

/// Returns the seconds at the device's full rates: the longer of FLOP and bytes.
double ideal_seconds(const Work& work, const Device& device, DType dtype);

}  // namespace sluice
