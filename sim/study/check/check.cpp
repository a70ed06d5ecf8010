#include "study/check/check.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "base/part_file.hpp"
#include "document/load.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

void require_unique_names(const std::vector<std::string>& paths) {
  std::map<std::string, std::string> known;
  for (const std::string& path : paths) {
    const auto [other, is_new] = known.try_emplace(name_of_path(path), path);
    if (!is_new)
      throw UsageError("'" + other->second + "' and '" + path + "' have the same name, '" +
                       other->first + "': they would share one baseline, so rename one of them");
  }
}

void require_other_files(const std::vector<std::string>& paths, const std::string& folder) {
  std::error_code ignored;
  for (const std::string& path : paths)
    for (const std::string& file :
         {baseline_path(folder, name_of_path(path)), golden_path(folder, name_of_path(path))})
      if (fs::equivalent(path, file, ignored))
        throw UsageError("'" + path + "' is the path of its own baseline; choose another folder");
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

std::string read_text(const std::string& path) {
  if (!fs::is_regular_file(path))
    throw IoError("cannot read '" + path + "': it is not a regular file");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (in.bad() || !in.is_open())
    throw IoError("cannot read '" + path + "': " + std::strerror(errno));
  return text.str();
}

/// One scenario, and the two files of its baseline.
class Case {
 public:
  Case(const CheckRequest& request, const std::string& path, const Measurement& got)
      : got_(got),
        path_(path),
        name_(name_of_path(path)),
        baseline_path_(baseline_path(request.folder, name_)),
        golden_path_(golden_path(request.folder, name_)) {}

  ScenarioVerdict judge() {
    ScenarioVerdict verdict;
    if (got_.error_code != 0) {
      verdict.error_code = got_.error_code;
      verdict.message = got_.error;
    } else {
      try {
        verdict = against_baseline();
      } catch (const Error& error) {
        verdict = {};
        verdict.error_code = error.exit_code();
        verdict.message = error.what();
      }
    }
    if (verdict.error_code != 0) verdict.state = State::error;
    verdict.name = name_;
    verdict.path = path_;
    return verdict;
  }

  /// Writes the new baseline. If a new value equals the old value within the old tolerance, the old value is written
  /// again. The tolerances of the old baseline are kept, because somebody may have set them.
  void write(const ScenarioVerdict& verdict) const {
    Baseline baseline = got_.baseline;
    for (const MetricVerdict& metric : verdict.metrics) {
      if (!metric.expected || !metric.got) continue;
      Entry& entry = baseline.entries[metric.name];
      if (metric.verdict == Verdict::equal) entry.number = metric.expected->number;
      entry.rtol = metric.expected->rtol;
      entry.atol = metric.expected->atol;
      entry.better = metric.expected->better;
    }
    write_file(baseline_path_, to_text(baseline));
    if (!got_.plan.empty())
      write_file(golden_path_, got_.plan);
    else if (std::error_code error; !fs::remove(golden_path_, error) && error)
      throw IoError("cannot remove '" + golden_path_ + "': " + error.message());
  }

 private:
  ScenarioVerdict against_baseline() const {
    ScenarioVerdict verdict;
    if (!exists(baseline_path_)) {
      verdict.state = State::missing;
      verdict.message = "there is no baseline '" + baseline_path_ + "'";
      return verdict;
    }
    const Baseline expected = baseline_from(load_file(baseline_path_));
    if (expected.scenario != got_.baseline.scenario)
      throw InputError(
          Position{baseline_path_, 0, 0, {}},
          "this is the baseline of '" + expected.scenario + "', not of '" + name_ + "'");
    const std::string golden = exists(golden_path_) ? read_text(golden_path_) : "";
    verdict = compare(expected, golden, golden_path_, got_);
    if (golden.empty() && expected.outcome == Baseline::Outcome::complete) {
      verdict.state = State::missing;
      verdict.message = "there is no plan '" + golden_path_ + "' next to the baseline";
    }
    return verdict;
  }

  const Measurement& got_;
  std::string path_, name_, baseline_path_, golden_path_;
};

}  // namespace

std::string name_of_path(const std::string& path) {
  return fs::path(path).stem().string();
}
std::string baseline_path(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / (name + ".json")).string();
}
std::string golden_path(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / (name + ".plan")).string();
}

std::vector<std::string> CheckResult::paths_to_accept() const {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    if (scenarios[i].state != State::equal && scenarios[i].state != State::error && !written[i])
      paths.push_back(scenarios[i].path);
  return paths;
}

CheckResult check_scenarios(const CheckRequest& request) {
  require_unique_names(request.paths);
  require_other_files(request.paths, request.folder);
  const auto subject = [&](std::size_t i) { return request.read(request.paths[i]); };
  const std::vector<Measurement> measurements =
      measure_all(request.paths.size(), request.jobs, subject, request.progress);
  CheckResult result;
  if (request.update) {
    std::error_code error;
    fs::create_directories(request.folder, error);
    if (error) throw IoError("cannot make the folder '" + request.folder + "': " + error.message());
  }
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    Case one(request, request.paths[i], measurements[i]);
    const ScenarioVerdict verdict = one.judge();
    const bool write =
        request.update && verdict.state != State::equal && verdict.state != State::error;
    if (write) one.write(verdict);
    result.scenarios.push_back(verdict);
    result.written.push_back(write);
  }
  return result;
}

}  // namespace sluice
