// Says which part of a model's measured time and energy the measured operators account for, and which operators to
// measure next. The method is that of the document 'Operator energy profiling'.
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
  std::string dtype = "float32";  ///< if empty, the dtype of the profile
  std::vector<std::string> passes = {"forward"};
  double target = 0.9;
  /// Seconds and joules of the whole model. If they are set, they replace the profile's row for the whole model, which
  /// may be missing.
  std::optional<double> whole_s, whole_j;
  /// The device at whose rates unmeasured operators are ranked. If this is null, unmeasured operators are ranked by
  /// FLOP and bytes.
  const Device* device = nullptr;
};

/// An operator of the model that was not measured.
struct UnmeasuredOperator {
  std::string words;
  std::int64_t occurrences = 0;
  double weight = 0;  ///< the weight of all occurrences; operators are ranked by it
  /// The seconds that all occurrences are expected to take: the seconds at the device's rates, multiplied by the same
  /// factor as for the measured operators. It is 0 if no operators were measured.
  double expected_s = 0;
};

struct Cover {
  std::size_t operators = 0, measured = 0;  ///< distinct operators in the passes of the model
  /// Measured values times occurrences, summed over the operators that contain no other operators.
  double attributed_s = 0, attributed_j = 0;
  std::size_t with_energy = 0;  ///< the number of measured operators with joules
  std::optional<double> whole_s, whole_j;
  std::vector<UnmeasuredOperator> missing;  ///< largest first
  /// The number of operators that the profile has only for another batch or element type. The keys are texts such as
  /// "for 8 samples" or "in float16".
  std::map<std::string, std::size_t> elsewhere;
  /// The number of missing operators that must be measured to reach the target. It is nullopt if the target is not
  /// reached even with all missing operators, or if nothing is known.
  std::optional<std::size_t> needed;

  std::optional<double> share_s() const;
  std::optional<double> share_j() const;
};

/// Answers for the layers of a model. Throws InputError when several rows fit a layer (see only_row).
Cover cover_of(const Model& model, const Profile& profile, const CoverRequest& request);

/// Answers for the rows of a profile alone, with their occurrences. The rows must have the same model, batch and
/// element type.
Cover cover_of_rows(const Profile& profile, const CoverRequest& request);

}  // namespace sluice
