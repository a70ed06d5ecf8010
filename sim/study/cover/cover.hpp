// Says which share of a model's measured time belongs to the measured operators. Says the same about energy. Names the
// operators to measure next. The method is that of the document 'Operator energy profiling'.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "platform/platform.hpp"
#include "profile/profile.hpp"

namespace sluice {

struct CoverRequest {
  std::int64_t samples = 1;
  /// Element type of the operators. Empty means the dtype of the profile.
  std::string dtype = "float32";
  std::vector<std::string> passes = {"forward"};
  double target = 0.9;
  /// Seconds and joules of the whole model. If these values are set, they replace the profile's row for the whole
  /// model.
  std::optional<double> whole_s, whole_j;
  /// Unmeasured operators are ranked by their seconds at the rates of this device. If the device is null, unmeasured
  /// operators are ranked by FLOP and bytes.
  const Device* device = nullptr;
};

/// An operator of the model that was not measured.
struct UnmeasuredOperator {
  std::string words;
  std::int64_t occurrences = 0;
  double weight = 0;  ///< the weight of all occurrences, by which operators are ranked
  /// The expected seconds of all occurrences. All measured operators together give the mean seconds per unit of weight.
  /// `weight` is multiplied by this mean. If no operator was measured, the number is 0.
  double expected_s = 0;
};

struct Cover {
  /// Distinct operators in the passes of the model: how many there are, and how many were measured.
  std::size_t operators = 0, measured = 0;
  /// Sums over operators. Each operator adds its measured value times the number of its occurrences. Operators that
  /// contain other operators do not count.
  double attributed_s = 0, attributed_j = 0;
  std::size_t with_energy = 0;  ///< the number of measured operators with joules
  std::optional<double> whole_s, whole_j;
  std::vector<UnmeasuredOperator> missing;  ///< largest first
  /// The number of operators that the profile has only for another batch or element type. The keys are texts such as
  /// "for 8 samples" or "in float16".
  std::map<std::string, std::size_t> elsewhere;
  /// To reach the target, this number of missing operators must be measured. The value is nullopt if all missing
  /// operators together do not reach the target. It is also nullopt if no operator was measured.
  std::optional<std::size_t> needed;

  std::optional<double> share_s() const;
  std::optional<double> share_j() const;
};

/// Compares the rows of a profile with the layers of a model. Throws InputError when several rows fit a layer (see
/// only_row).
Cover cover_of(const Model& model, const Profile& profile, const CoverRequest& request);

/// Compares the rows of a profile with the profile's row for the whole model, without a model file. All rows must have
/// one model, one batch and one element type.
Cover cover_of_rows(const Profile& profile, const CoverRequest& request);

}  // namespace sluice
