// A baseline holds results of one scenario. Somebody has confirmed that these results are right. DIR/<scenario>.json
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

/// The expected value of a metric, and the tolerances within which another value counts as equal. The value is a word,
/// or a number in the unit of the metric.
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

/// The name of a metric and a key, such as {"peak_bytes_by_class", "gpu/weight"}. If the metric has no keys, the key is
/// "".
using EntryName = std::pair<std::string, std::string>;
using Entries = std::map<EntryName, Entry>;

struct Baseline {
  enum class Input { scenario, plan };
  enum class Outcome { complete, infeasible };

  std::string scenario;  ///< name of the scenario
  std::string program_version;
  Input input = Input::scenario;
  std::string input_sha256;  ///< hash of the resolved scenario's text, or of the plan's text
  /// The text of the resolved scenario. It is empty if a plan was run instead of a scenario, or if the text is longer
  /// than `longest_kept_text`.
  std::string input_text;
  Outcome outcome = Outcome::complete;
  /// If the outcome is infeasible: the first line of the message, without the colon at its end.
  std::string message;
  Entries entries;  ///< empty when the outcome is infeasible
};

/// The longest text that a baseline keeps. If the text of a scenario is longer, the baseline keeps only its hash. If
/// the text of a plan is longer, the baseline keeps a digest of it.
inline constexpr std::size_t longest_kept_text = 262'144;  ///< bytes

/// Returns one entry for each value of each metric of a run, with the usual tolerances. Whether smaller or larger
/// values are better is copied from the record of the metric.
Entries entries_of(const Summary& summary);
/// Returns the name as text: "makespan_s" for a metric without keys, and "peak_bytes[gpu]" for a metric and a key.
std::string words_of(const EntryName& name);
std::string_view words_of(Metric::Better better);

/// Returns the baseline as JSON of several lines, with sorted keys and a newline at the end.
std::string to_text(const Baseline& baseline);
/// Reads the JSON of a baseline. Throws InputError with a position.
Baseline baseline_from(const Value& document);

}  // namespace sluice
