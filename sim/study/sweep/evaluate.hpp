// Evaluates one point of a sweep: changes some values of a scenario, makes a plan and runs the plan.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/sweep/point_result.hpp"

namespace sluice {

/// A scenario that is evaluated many times, each time with other values of some keys. The files of the scenario are
/// read once. The structure of a plan may not depend on the changed values. Such a plan is made once, and then priced
/// again for each point.
class Variants {
 public:
  /// `document` is the content of the file at `path`, before includes. All points have the changes `fixed`. Throws the
  /// exceptions of load_scenario.
  Variants(Value document, std::string path, std::vector<std::string> fixed);
  ~Variants();

  const Scenario& base() const { return base_; }
  /// Returns the scenario with these values changed. Throws the exceptions of load_scenario. Any thread may call this
  /// function.
  Scenario with(const std::vector<std::string>& overrides) const;
  /// Replays the plan of a scenario that with() returned. Throws the exceptions of make_plan and check. Any thread may
  /// call this function.
  PointResult ask(const Scenario& scenario) const;

 private:
  class Plans;
  Value document_;
  std::string path_;
  std::vector<std::string> fixed_;
  Scenario base_;
  std::unique_ptr<Plans> plans_;
};

/// Runs a plan and returns the numbers of the run. `question_bound_s` is the bound of the question, in seconds.
using Measure = std::function<Summary(const Plan& plan, double question_bound_s)>;
/// Measures a plan in the replay. Any thread may call this function. The function loads neither
/// SimGrid nor HDF5 into the process.
Summary measure_on_replay(const Plan& plan, double question_bound_s);

/// Evaluates a point in the replay. If the evaluation throws an exception, the result has the error. Only the exception
/// Interrupted is passed on. Any thread may call this function.
PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides);
/// Evaluates a scenario that variants.with() returned, in the replay.
PointResult evaluate(const Variants& variants, const Scenario& scenario);
/// Makes a new plan for the point and runs the plan with `measure`. Several threads may call this function if several
/// threads may call `measure`.
PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides,
                     const Measure& measure);

/// Returns the key of a point in a store, a sha256 with 64 hexadecimal digits. The key is the hash of two things: the
/// program, and the resolved scenario with all data that it reads.
std::string point_key(const Scenario& scenario);

struct KnownPoint {
  /// The key of the point: point_key(), or a hash of the request if the scenario cannot be read.
  std::string key;
  /// The scenario of the point. If it cannot be read, this is nullopt.
  std::optional<Scenario> scenario;
};
/// Returns the key and the scenario of a point. Throws only Interrupted. Any thread may call this function.
KnownPoint known_point(const Variants& variants, const std::vector<std::string>& overrides);

}  // namespace sluice
