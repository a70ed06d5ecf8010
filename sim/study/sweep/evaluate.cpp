#include "study/sweep/evaluate.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <vector>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/suggest.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "plan/fact.hpp"
#include "run/plan_json.hpp"
#include "run/run.hpp"
#include "scenario/question_bound.hpp"

namespace sluice {

namespace {

/// Does the change say which document takes the place of the model or of the platform? Then the
/// scenario is read again from its beginning.
bool names_document(const std::string& override) {
  const std::vector<std::string> path = parse_override(override).path;
  return (path[0] == "model" || path[0] == "platform") &&
         (path.size() == 1 || (path.size() == 2 && path[1] == "file"));
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (!line.empty() && line.back() == ':') line.pop_back();
  return line;
}

PointResult without_numbers(PointResult::Status status, const std::string& message) {
  return {.status = status, .reason = first_line(message), .message = message};
}

/// What the plan says was chosen for the scenario; empty: nothing was open.
std::string chosen_of(const Plan& plan) {
  const Fact* fact = find_fact(plan.facts, "chosen");
  return fact ? fact->shown() : "";
}

PointResult complete(const Scenario& scenario, Executor executor) {
  const Plan plan = make_plan(scenario);
  const RunResult result = run(
      {.plan = plan, .executor = executor, .question_bound_s = question_bound(scenario).seconds});
  PointResult outcome{.status = PointResult::Status::complete};
  take_numbers(outcome, result.summary);
  outcome.chosen = chosen_of(plan);
  outcome.executor = name_of(result.executor);
  return outcome;
}

/// Calls `ask`, and turns what it throws into an outcome.
template <class Ask>
PointResult outcome_of(Ask&& ask) {
  try {
    return ask();
  } catch (const Interrupted&) {
    throw;
  } catch (const Infeasible& infeasible) {
    PointResult outcome = without_numbers(PointResult::Status::infeasible, infeasible.what());
    outcome.reason = infeasible.headline();
    outcome.shortage = to_json(json_shortage(infeasible), 0);
    return outcome;
  } catch (const std::bad_alloc&) {
    return without_numbers(PointResult::Status::failed,
                           "out of memory (of this computer, not of the simulated one)");
  } catch (const std::exception& error) {
    return without_numbers(PointResult::Status::failed, error.what());
  }
}

std::string digest_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw IoError("cannot read '" + path + "': " + std::strerror(errno));
  Sha256 digest;
  std::vector<char> buffer(1 << 20);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    digest.update(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  return digest.hex();
}

}  // namespace

Variants::Variants(Value document, std::string path, std::vector<std::string> fixed)
    : document_(std::move(document)),
      path_(std::move(path)),
      fixed_(std::move(fixed)),
      base_(scenario_from(document_, path_, fixed_)) {}

Scenario Variants::with(const std::vector<std::string>& overrides) const {
  for (const std::string& override : overrides)
    if (names_document(override)) {
      std::vector<std::string> all = fixed_;
      all.insert(all.end(), overrides.begin(), overrides.end());
      return scenario_from(document_, path_, all);
    }
  return scenario_from(base_.document, path_, overrides);
}

PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides,
                     Executor executor) {
  return outcome_of([&] { return complete(variants.with(overrides), executor); });
}

PointResult evaluate(const Scenario& scenario, Executor executor) {
  return outcome_of([&] { return complete(scenario, executor); });
}

const std::string& library_digest() {
  static const std::string digest = [] {
    Dl_info info;
    if (::dladdr(reinterpret_cast<const void*>(&library_digest), &info) == 0 || !info.dli_fname)
      throw IoError("cannot tell which file this program's library is");
    return digest_of_file(info.dli_fname);
  }();
  return digest;
}

std::string unreadable_key(const Scenario& base, const std::vector<std::string>& overrides) {
  return sha256_of(point_key(base) + "\n" + join(overrides, "\n"));
}

std::string point_key(const Scenario& scenario) {
  Sha256 digest;
  digest.update("sluice-point/1\n" + library_digest() + "\n");
  digest.update(scenario.text());
  return digest.hex();
}

}  // namespace sluice
