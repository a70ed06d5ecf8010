// How much of a measured whole the measured operators make up, and which to measure next.
// Source: Operator energy profiling.
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
  std::string dtype = "float32";  ///< empty: whichever element type the profile has
  std::vector<std::string> passes = {"forward"};
  double target = 0.9;
  /// Seconds and joules of the whole, where the profile has no row of it or another value is to be
  /// used.
  std::optional<double> whole_s, whole_j;
  /// The device at whose rates unmeasured operators are ranked; null: by FLOP and bytes.
  const Device* device = nullptr;
};

/// An operator of the model that was not measured.
struct UnmeasuredOperator {
  std::string words;
  std::int64_t occurrences = 0;
  double weight = 0;  ///< of all occurrences, for the order
  /// The seconds that all occurrences are expected to take: longer than at the device's rates by
  /// the same factor as those that were measured. 0: none were measured.
  double expected_s = 0;
};

struct Cover {
  std::size_t operators = 0, measured = 0;  ///< distinct operators; in the passes of the model
  /// Occurrences x measured value, of operators that contain no others.
  double attributed_s = 0, attributed_j = 0;
  std::size_t with_energy = 0;  ///< how many of the measured ones have joules
  std::optional<double> whole_s, whole_j;
  std::vector<UnmeasuredOperator> missing;  ///< largest first
  /// The number of operators that the profile has only for another batch or element type: "for 8
  /// samples", "in float16".
  std::map<std::string, std::size_t> elsewhere;
  /// How many of the missing ones are expected to reach the target; none: not even all do, or
  /// nothing is known.
  std::optional<std::size_t> needed;

  std::optional<double> share_s() const;
  std::optional<double> share_j() const;
};

/// For the layers of a model. Throws InputError where several rows fit a layer (see only_row).
Cover cover_of(const Model& model, const Profile& profile, const CoverRequest& request);

/// For the rows of a profile alone, by their occurrences; they must be of one model, batch and
/// element type.
Cover cover_of_rows(const Profile& profile, const CoverRequest& request);

}  // namespace sluice
