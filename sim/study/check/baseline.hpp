// A baseline: what a scenario came to when somebody said that this is right. DIR/<scenario>.json
// holds the question and the numbers with their tolerances, DIR/<scenario>.plan the plan
// (study/check/golden_plan.hpp). docs/check.md describes both for those who edit them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "document/value.hpp"
#include "metrics/metric.hpp"

namespace sluice {

/// One number or word, and how far it may move. Its unit is the metric's.
struct Entry {
  static constexpr double usual_rtol = 1e-9;

  std::optional<double> number = {};
  std::string text = {};    ///< of a word: what binds
  std::string absent = {};  ///< why there is neither
  std::string unit = {};
  Metric::Better better = Metric::Better::neither;
  double rtol = usual_rtol;  ///< share of the expected number
  double atol = 0;           ///< beside it, in the metric's unit
};

/// The metric, and its key where it has some: {"peak_bytes_by_class", "gpu/weight"}.
using EntryName = std::pair<std::string, std::string>;
using Entries = std::map<EntryName, Entry>;

struct Baseline {
  enum class Input { scenario, plan };
  enum class Outcome { complete, infeasible };

  std::string scenario;  ///< its name
  std::string program_version;
  Input input = Input::scenario;
  std::string input_sha256;  ///< of the resolved scenario's text, or of the plan's
  std::string input_text;    ///< of the scenario; empty: of a plan, or too long to be kept
  Outcome outcome = Outcome::complete;
  std::string message;  ///< infeasible: the first line of what it says, without its colon
  Entries entries;      ///< empty where it is infeasible
};

/// Longer texts, of scenarios and of plans, are kept by their hash and sums.
inline constexpr std::size_t longest_kept_text = 262'144;  ///< bytes

/// All metrics of a run, with the usual tolerances and the directions of the metrics' records.
Entries entries_of(const Summary& summary);
/// "makespan_s", "peak_bytes[gpu]"
std::string words_of(const EntryName& name);
std::string_view words_of(Metric::Better better);

/// Pretty JSON with sorted keys and a newline at the end.
std::string to_text(const Baseline& baseline);
/// Throws InputError with positions.
Baseline baseline_from(const Value& document);

}  // namespace sluice
