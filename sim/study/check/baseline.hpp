// A baseline holds the results of one scenario, after somebody confirmed these results to be right. DIR/<scenario>.json
// has the question and the numbers with their tolerances. DIR/<scenario>.plan has the plan
// (study/check/golden_plan.hpp). docs/check.md describes both files for people who edit them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "document/value.hpp"
#include "metrics/metric.hpp"

namespace sluice {

/// The value of a metric, and by how much the value may change. The value is a word, or a number in the unit of the
/// metric.
struct Entry {
  static constexpr double usual_rtol = 1e-9;

  std::optional<double> number = {};
  std::string text = {};    ///< the value of a metric that is a word
  std::string absent = {};  ///< why there is neither a number nor a word; empty if there is a value
  std::string unit = {};
  Metric::Better better = Metric::Better::neither;
  double rtol = usual_rtol;  ///< tolerance, as a share of the expected number
  double atol = 0;           ///< a tolerance in the metric's unit, in addition to `rtol`
};

/// The name of a metric, and the key if the metric has keys: {"peak_bytes_by_class", "gpu/weight"}.
using EntryName = std::pair<std::string, std::string>;
using Entries = std::map<EntryName, Entry>;

struct Baseline {
  enum class Input { scenario, plan };
  enum class Outcome { complete, infeasible };

  std::string scenario;  ///< name of the scenario
  std::string program_version;
  Input input = Input::scenario;
  std::string input_sha256;  ///< hash of the resolved scenario's text, or of the plan's text
  /// Text of the scenario. For a plan, the text is empty. A text that is longer than `longest_kept_text` is not kept.
  std::string input_text;
  Outcome outcome = Outcome::complete;
  /// If the outcome is infeasible: the first line of the message, without the colon at its end.
  std::string message;
  Entries entries;  ///< empty when the outcome is infeasible
};

/// The longest text that a baseline keeps. For a longer text of a scenario, the baseline keeps only a hash. For a
/// longer text of a plan, it keeps a digest.
inline constexpr std::size_t longest_kept_text = 262'144;  ///< bytes

/// Returns all metrics of a run, with the usual tolerances. The record of each metric says whether smaller or larger
/// values are better.
Entries entries_of(const Summary& summary);
/// Returns the name as text: "makespan_s" or, with a key, "peak_bytes[gpu]".
std::string words_of(const EntryName& name);
std::string_view words_of(Metric::Better better);

/// Writes JSON over several lines, with sorted keys and a newline at the end.
std::string to_text(const Baseline& baseline);
/// Reads the JSON of a baseline. Throws InputError with a position.
Baseline baseline_from(const Value& document);

}  // namespace sluice
