#include "study/check/measure.hpp"

#include <algorithm>
#include <new>

#include "base/error.hpp"
#include "base/packed_strings.hpp"
#include "base/processes.hpp"
#include "base/sha256.hpp"
#include "base/version.hpp"
#include "document/load.hpp"
#include "plan/text.hpp"
#include "run/run.hpp"
#include "study/check/golden_plan.hpp"
#include "trace/export/text.hpp"

namespace sluice {

namespace {

void fill(Measurement& result, const Subject& subject) {
  Baseline& baseline = result.baseline;
  baseline.scenario = valid_utf8(subject.name);
  baseline.program_version = program_version();
  baseline.input = subject.input;
  baseline.input_sha256 = sha256_of(subject.input_text);
  if (subject.input_text.size() <= longest_kept_text) baseline.input_text = subject.input_text;
  try {
    const Plan plan = subject.plan();
    result.plan = golden_text(plan);
    if (subject.input == Baseline::Input::plan) baseline.input_sha256 = sha256_of(to_text(plan));
    RunRequest request{.plan = plan};
    if (subject.question_bound_s) request.question_bound_s = subject.question_bound_s();
    baseline.entries = entries_of(run(request).summary);
  } catch (const Infeasible& infeasible) {
    baseline.outcome = Baseline::Outcome::infeasible;
    baseline.message = infeasible.headline();
  }
}

}  // namespace

Measurement measure(const std::function<Subject()>& subject) {
  Measurement result;
  const auto failed = [&](int code, const std::string& message) {
    result = {};
    result.error_code = code;
    result.error = message;
  };
  try {
    fill(result, subject());
  } catch (const Error& error) {
    failed(error.exit_code(), error.what());
  } catch (const std::bad_alloc&) {
    failed(70, "out of memory (of this computer, not of the simulated one)");
  } catch (const std::exception& error) {
    failed(70, error.what());
  }
  return result;
}

std::vector<Measurement> measure_all(
    std::size_t count, std::size_t jobs, const std::function<Subject(std::size_t)>& subject,
    const std::function<void(std::size_t done, std::size_t total)>& progress) {
  const auto work = [&](std::size_t i) { return packed(measure([&] { return subject(i); })); };
  const auto on_progress = [&](std::size_t done) {
    if (progress) progress(done, count);
  };
  std::vector<Measurement> measurements;
  for (const ProcessAnswer& answer : run_in_processes(count, jobs, work, on_progress)) {
    Measurement measurement;
    if (answer.fault.empty()) {
      measurement = unpacked(answer.text);
    } else {
      measurement.error_code = 70;
      measurement.error = answer.fault;
    }
    const int code = measurement.error_code;
    if (code == 130 || code == 143) throw Interrupted(code - 128);
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

// The text has three parts. The first part is the code of the error, or 0. The second part is the
// error, or the baseline if there is no error. The third part is the plan.
std::string packed(const Measurement& measurement) {
  const bool failed = measurement.error_code != 0;
  return pack({std::to_string(measurement.error_code),
               failed ? measurement.error : to_text(measurement.baseline), measurement.plan});
}

Measurement unpacked(const std::string& text) {
  const std::vector<std::string_view> parts = unpack(text);
  Measurement measurement;
  measurement.error_code = std::stoi(std::string(parts.at(0)));
  if (measurement.error_code != 0)
    measurement.error = parts.at(1);
  else
    measurement.baseline = baseline_from(parse_text(std::string(parts.at(1)), "measurement.json"));
  measurement.plan = parts.at(2);
  return measurement;
}

}  // namespace sluice
