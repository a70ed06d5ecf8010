// How much of a measured whole do measured operators make up, and which to measure next?
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
  std::string dtype = "float32";  ///< empty: whichever the profile has
  std::vector<std::string> passes = {"forward"};
  double target = 0.9;
  /// Of the whole, where the profile has no row of it, or another counts.
  std::optional<double> whole_s, whole_j;
  /// At whose rates operators that were not measured are ranked; null: by FLOP and bytes.
  const Device* device = nullptr;
};

/// An operator of the model that was not measured.
struct Missing {
  std::string words;
  std::int64_t occurrences = 0;
  double weight = 0;  ///< of all occurrences, for the order
  /// Seconds that all occurrences are expected to take: as much more than at the rates as those
  /// that were measured. 0: none were.
  double expected_s = 0;
};

struct Cover {
  std::size_t operators = 0, measured = 0;    ///< distinct; in the model's passes
  double attributed_s = 0, attributed_j = 0;  ///< occurrences x measured, of leaves alone
  std::size_t with_energy = 0;                ///< of those measured
  std::optional<double> whole_s, whole_j;
  std::vector<Missing> missing;  ///< the largest first
  /// Operators that the profile has otherwise than asked: "for 8 samples", "in float16" -> how
  /// many.
  std::map<std::string, std::size_t> elsewhere;
  /// So many of them are expected to reach the target; none: not even all do, or nothing is known.
  std::optional<std::size_t> needed;

  std::optional<double> share_s() const;
  std::optional<double> share_j() const;
};

/// Of a model's layers. Throws InputError: several rows fit a layer (see only_row).
Cover cover_of(const Model& model, const Profile& profile, const CoverRequest& request);

/// Of a profile's own rows, by their occurrences: those of one model, batch and element type.
Cover cover_of_rows(const Profile& profile, const CoverRequest& request);

}  // namespace sluice
