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

/// A scenario that is evaluated repeatedly with other values. Files are read once. A plan whose
/// structure does not depend on the changed values is made once, and then priced again.
class Variants {
 public:
  /// `document` is the content of the file at `path`, before includes; `fixed` are changes that all
  /// points share. Throws what reading a scenario throws.
  Variants(Value document, std::string path, std::vector<std::string> fixed);
  ~Variants();

  const Scenario& base() const { return base_; }
  /// The scenario with these values changed. Throws as load_scenario does. Any thread may call it.
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

/// Runs a plan; the bound of its question is given in seconds. Returns the numbers of the run.
using Measure = std::function<Summary(const Plan& plan, double question_bound_s)>;
/// Uses the replay. Any thread may call it; it loads neither SimGrid nor HDF5 into the process.
Summary measure_on_replay(const Plan& plan, double question_bound_s);

/// Uses the replay. Throws only Interrupted: every other exception becomes the outcome. Any thread
/// may call it.
PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides);
/// The same for a scenario that variants.with() has made.
PointResult evaluate(const Variants& variants, const Scenario& scenario);
/// The same, but always makes a new plan and measures it with `measure`. As thread-safe as `measure`.
PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides,
                     const Measure& measure);

/// The key of a point in a store: the sha256 (64 hexadecimal digits) of the resolved scenario,
/// which contains all data that it reads, and of the library that computes it.
std::string point_key(const Scenario& scenario);

struct KnownPoint {
  std::string key;  ///< point_key(), or a hash of the request if the scenario cannot be read
  std::optional<Scenario> scenario;  ///< none: it cannot be read
};
/// Throws only Interrupted. Any thread may call it.
KnownPoint known_point(const Variants& variants, const std::vector<std::string>& overrides);

}  // namespace sluice
