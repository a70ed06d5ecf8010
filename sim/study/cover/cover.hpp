// A whole model was measured, and some of its operators were measured alone. The code here says which share of the
// model's time and energy the measured operators explain, and which operators to measure next. The document 'Operator
// energy profiling' describes the method (see analysis/validation/README.md).
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
  /// The element type of the operators. If it is empty, rows of every element type count.
  std::string dtype = "float32";
  std::vector<std::string> passes = {"forward"};
  double target = 0.9;
  /// The seconds and joules of the whole model. If a value is set, it replaces the value of the profile's rows for the
  /// whole model.
  std::optional<double> whole_s, whole_j;
  /// Unmeasured operators are ranked by the seconds that they would take at the rates of this device. If the pointer is
  /// null, they are ranked by FLOP and bytes.
  const Device* device = nullptr;
};

/// An operator of the model that was not measured.
struct UnmeasuredOperator {
  std::string words;
  std::int64_t occurrences = 0;
  /// The number by which operators are ranked, for all occurrences together: the seconds at the rates of the request's
  /// `device`. If the request has no device, one occurrence counts as the greater of two numbers: its bytes, and its
  /// FLOP divided by the FLOP per byte of a usual device.
  double weight = 0;
  /// The expected seconds of all occurrences: `weight` times (sum of the seconds of all measured operators) / (sum of
  /// their weights). If no operator was measured, the number is 0.
  double expected_s = 0;
};

struct Cover {
  /// How many distinct operators the passes of the model have, and how many of them were measured.
  std::size_t operators = 0, measured = 0;
  /// Sums over the measured operators. Each operator adds its measured value times the number of its occurrences. Only
  /// leaves of the profile count, not modules that contain other operators.
  double attributed_s = 0, attributed_j = 0;
  std::size_t with_energy = 0;  ///< the number of measured operators with joules
  std::optional<double> whole_s, whole_j;
  std::vector<UnmeasuredOperator> missing;  ///< largest first
  /// How many operators the profile has only for another batch or element type. The key says for which, such as "for 8
  /// samples" or "in float16".
  std::map<std::string, std::size_t> elsewhere;
  /// How many missing operators must be measured to reach the target. If the expected seconds of all missing operators
  /// together are not enough for the target, or if no operator was measured, the value is nullopt.
  std::optional<std::size_t> needed;

  std::optional<double> share_s() const;
  std::optional<double> share_j() const;
};

/// Compares the rows of a profile with the layers of a model. Throws InputError if it is not clear which row belongs to
/// a layer (see only_row).
Cover cover_of(const Model& model, const Profile& profile, const CoverRequest& request);

/// Compares the rows of a profile with the profile's row for the whole model, without a model file. Rows of another
/// batch or element type than the requested one are only counted in `elsewhere`. Throws InputError if the other rows
/// are of several models, devices, caches, methods or element types.
Cover cover_of_rows(const Profile& profile, const CoverRequest& request);

}  // namespace sluice
