// Evaluates one point of a sweep: changes some values of a scenario, makes a plan, and runs the plan.
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
/// read once. If the structure of the plan does not depend on the changed values, the plan is made once, and then only
/// priced again for each point.
class Variants {
 public:
  /// `document` is the content of the file at `path` as it is written: the documents that it names are not yet read.
  /// The changes `fixed` apply to all points. Throws the exceptions of load_scenario.
  Variants(Value document, std::string path, std::vector<std::string> fixed);
  ~Variants();

  const Scenario& base() const { return base_; }
  /// Returns the scenario with these values changed. Throws the exceptions of load_scenario. Any thread may call this
  /// function.
  Scenario with(const std::vector<std::string>& overrides) const;
  /// Makes or finds the plan of a scenario that with() returned, and runs it in the replay. Throws the exceptions of
  /// make_plan and check. Any thread may call this function.
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

/// Evaluates a point in the replay. If an exception occurs, the result has the error. But the exception Interrupted is
/// thrown to the caller. Any thread may call this function.
PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides);
/// Evaluates in the replay a scenario that variants.with() returned.
PointResult evaluate(const Variants& variants, const Scenario& scenario);
/// Makes a new plan for the point, and runs the plan with `measure`. If `measure` may be called by several threads at
/// the same time, so may this function.
PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides,
                     const Measure& measure);

/// Returns the key of a point in a store: a sha256, as 64 hexadecimal digits. It is a hash of the program and of the
/// resolved scenario, with all data that the scenario reads.
std::string point_key(const Scenario& scenario);

struct KnownPoint {
  /// The key of the point. It is point_key(scenario), or a hash of the requested changes if the scenario cannot be
  /// read.
  std::string key;
  /// The scenario of the point. If it cannot be read, this is nullopt.
  std::optional<Scenario> scenario;
};
/// Returns the key and the scenario of a point. Throws only Interrupted. Any thread may call this function.
KnownPoint known_point(const Variants& variants, const std::vector<std::string>& overrides);

}  // namespace sluice
