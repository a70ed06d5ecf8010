// Takes prices from a profile. The price of a layer's pass is its measured time.
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

/// Between which rows a price may be interpolated. `none`: no rows. `batch`: rows of the same operator with other
/// batches. `sizes`: also rows of the same operator class with other sizes.
enum class Interpolation : std::uint8_t { none, batch, sizes };

class MeasuredTable {
 public:
  MeasuredTable(Profile profile, Interpolation interpolation, std::string statistic);

  /// Returns the price of a pass. Interpolated seconds are not a part of the price's `measured_s`. Returns nullopt if
  /// the pass was not measured, and cannot be interpolated. For example, the sizes may be outside of the measured
  /// range.
  std::optional<Price> price(const Query& query) const;
  /// Returns the grounds of the price. Returns nullopt if price() does.
  std::optional<Grounds> grounds(const Query& query) const;
  /// Returns whether the pass was measured with its operands in the query's memories.
  bool measured_so(const Query& query) const;
  /// Returns a text that says why there is no price, and what to do.
  std::string why_not(const Query& query) const;
  /// If all rows for forward passes of the model's layers were measured with the same batch, returns this batch. With
  /// several batches, or with interpolated prices, returns 0.
  std::int64_t only_samples(const Model& model) const;
  /// Cross-validates the interpolation by size on the rows of an element type, class by class.
  /// Classes with too few rows are left out.
  std::map<std::string, LeftOut> sizes_left_out(const Device& device, DType dtype) const;

 private:
  std::optional<double> seconds_of(const ProfileRow& row) const;
  Price price_of_row(const ProfileRow& row, const Query& query, double share) const;
  /// Returns the row of the operator for the query's number of samples, or null if this number was not measured.
  const ProfileRow* exact_row(const Query& query, std::string_view pass) const;
  std::optional<Price> exact(const Query& query, std::string_view pass, double share) const;
  /// Returns the rows of the operator, one row for each number of samples that was measured.
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
  const std::string device_;  ///< the device of rows that do not name a device
  mutable std::mutex mutex_;  ///< protects the maps below, because sweeps price in several threads
  /// A key of this map consists of device and element type.
  mutable std::map<std::string, SharesBySize> shares_;
  /// A key of this map consists of device, element type and class.
  mutable std::map<std::string, LeftOut> left_out_;
};

/// Computes the seconds of the FLOP and of the bytes, at the device's full rates. Returns the longer time.
double ideal_seconds(const Work& work, const Device& device, DType dtype);

}  // namespace sluice
