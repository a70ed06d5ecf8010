// One point: a scenario with some values changed, planned and run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/sweep/point_result.hpp"

namespace sluice {

/// A scenario to be asked again and again with other values. Files are read once, and a plan whose
/// structure does not depend on what is changed is made once, and priced again.
class Variants {
 public:
  /// `document` as it stands in the file at `path`, before includes; `fixed` are changes that all
  /// points have. Throws what reading a scenario throws.
  Variants(Value document, std::string path, std::vector<std::string> fixed);
  ~Variants();

  const Scenario& base() const { return base_; }
  /// With these values changed. Throws as load_scenario does. Any thread may call it.
  Scenario with(const std::vector<std::string>& overrides) const;
  /// Runs a scenario that with() has made, on the replay. Throws as make_plan and check do. Any
  /// thread may call it.
  PointResult ask(const Scenario& scenario) const;

 private:
  class Plans;
  Value document_;
  std::string path_;
  std::vector<std::string> fixed_;
  Scenario base_;
  std::unique_ptr<Plans> plans_;
};

/// Runs a plan, with the bound of its question in seconds: the numbers that it comes to.
using Measure = std::function<Summary(const Plan& plan, double question_bound_s)>;
/// On the replay. Any thread may call it; neither SimGrid nor HDF5 comes into the process.
Summary measure_on_replay(const Plan& plan, double question_bound_s);

/// On the replay. Throws nothing but Interrupted: everything else is the outcome. Any thread may
/// call it.
PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides);
/// The same of a scenario that variants.with() has made.
PointResult evaluate(const Variants& variants, const Scenario& scenario);
/// The same, planned anew and measured so. Any thread may call it where any may call `measure`.
PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides,
                     const Measure& measure);

/// What a point is known by in a store: sha256 (64 hexadecimal digits) of the resolved scenario,
/// which holds all data that it reads, and of the library that computes it.
std::string point_key(const Scenario& scenario);

struct KnownPoint {
  std::string key;  ///< point_key(); where the scenario cannot be read, of what was asked instead
  std::optional<Scenario> scenario;  ///< none: it cannot be read
};
/// Throws nothing but Interrupted. Any thread may call it.
KnownPoint known_point(const Variants& variants, const std::vector<std::string>& overrides);

}  // namespace sluice
