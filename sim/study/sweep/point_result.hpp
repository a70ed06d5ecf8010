// What one point of a sweep came to: numbers, a refusal, or an error. Numbers of many points that
// have the same names share them, so that a hundred thousand points fit in memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/summary.hpp"

namespace sluice {

/// The name and the unit of each number of an outcome: "makespan_s"; "peak_bytes[gpu]" has the
/// metric "peak_bytes" and the key {"gpu"}.
struct NumberName {
  std::string metric;
  std::vector<std::string> key;  ///< empty: the metric is one number
  std::string unit;              ///< as in Metric::unit
  bool operator==(const NumberName&) const = default;
  std::string text() const;
};
using NumberNames = std::vector<NumberName>;

struct PointResult {
  enum class Status {
    complete,    ///< it ran
    infeasible,  ///< it does not fit, or blocks: an answer, too
    failed,      ///< the point could not be asked: an error of the input, or of the program
  };
  Status status = Status::failed;
  std::string reason = {};    ///< the first line of why there are no numbers; empty where complete
  std::string message = {};   ///< all lines of it
  std::string shortage = {};  ///< infeasible: json_shortage() on one line
  std::shared_ptr<const NumberNames> names = {};  ///< complete: what the numbers are called
  std::vector<double> numbers = {};               ///< not a number: the metric is absent
  std::string bound_by = {};                      ///< what binds the run
  std::string chosen = {};    ///< what the program chose for it; empty: nothing was open
  std::string executor = {};  ///< who ran it
  bool verified = false;      ///< SimGrid came to the same

  /// Not a number where there is none of this name.
  double number(std::string_view name) const;
};

/// Of a point that could not be asked, with this message.
PointResult failed_result(std::string message);

std::string_view name_of(PointResult::Status status);
/// Throws InternalError.
PointResult::Status status_named(std::string_view name);

/// Names as JSON on one line, numbers as little-endian 64-bit floats, and a whole outcome as bytes
/// that are handed from one process to another; and back. `file`: for messages.
std::string packed_names(const NumberNames& names);
std::shared_ptr<const NumberNames> unpacked_names(const std::string& text, const std::string& file);
std::string packed_numbers(const std::vector<double>& numbers);
std::vector<double> unpacked_numbers(std::string_view bytes);
std::string packed(const PointResult& outcome);
PointResult unpacked_result(std::string_view bytes);

/// Takes the numbers and words of a summary; names that were seen before are shared. Any thread may
/// call it.
void take_numbers(PointResult& outcome, const Summary& summary);
/// The one shared list of these names.
std::shared_ptr<const NumberNames> shared_names(NumberNames names);

}  // namespace sluice
