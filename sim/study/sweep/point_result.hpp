// The result of one point of a sweep: numbers, a refusal, or an error. If several points have numbers with equal
// names, these points share one list of names. So the results of a hundred thousand points fit into memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/summary.hpp"

namespace sluice {

/// The name and the unit of one number of a result. The name "makespan_s" belongs to a metric with one number. The name
/// "peak_bytes[gpu]" belongs to the metric "peak_bytes" and the key {"gpu"}.
struct NumberName {
  std::string metric;
  std::vector<std::string> key;  ///< key of the number; empty if the metric has only one number
  std::string unit;              ///< unit of the number, as in Metric::unit
  bool operator==(const NumberName&) const = default;
  std::string text() const;
};
using NumberNames = std::vector<NumberName>;

struct PointResult {
  enum class Status {
    complete,    ///< the point ran
    infeasible,  ///< the point does not fit, or its run ends in a deadlock; this is an answer, too
    /// The point could not be evaluated because of an error of the input or of the program.
    failed,
  };
  Status status = Status::failed;
  /// The first line of `message`.
  std::string reason = {};
  /// The whole message that says why there are no numbers. If the point is complete, it is empty.
  std::string message = {};
  /// If the point is infeasible: json_shortage() on one line.
  std::string shortage = {};
  /// If the point is complete: the names of the numbers.
  std::shared_ptr<const NumberNames> names = {};
  /// One number for each element of `names`. If a metric has no value, its number is NaN.
  std::vector<double> numbers = {};
  /// What limits the speed of the run (the metric `bound_by`).
  std::string bound_by = {};
  /// The choices that were made for the point, as text. If the scenario left no choice open, the text is empty.
  std::string chosen = {};
  std::string executor = {};  ///< the executor that ran the point
  bool verified = false;      ///< whether SimGrid gave an equal result

  /// Returns the number with the name `name`, or NaN if there is no such number.
  double number(std::string_view name) const;
};

/// Returns the result of a point that could not be evaluated, with this message.
PointResult failed_result(std::string message);

std::string_view name_of(PointResult::Status status);
/// Throws InternalError.
PointResult::Status status_named(std::string_view name);

/// The functions "packed…" convert names to JSON on one line, numbers to little-endian 64-bit floats, and a whole
/// result to bytes that can be sent to another process. The functions "unpacked…" convert in the opposite direction.
/// Messages of errors name `file`.
std::string packed_names(const NumberNames& names);
std::shared_ptr<const NumberNames> unpacked_names(const std::string& text, const std::string& file);
std::string packed_numbers(const std::vector<double>& numbers);
std::vector<double> unpacked_numbers(std::string_view bytes);
std::string packed(const PointResult& outcome);
PointResult unpacked_result(std::string_view bytes);

/// Copies the numbers and words of a summary into a result. If an earlier result has equal names, the two results share
/// one list of names. Any thread may call this function.
void take_numbers(PointResult& outcome, const Summary& summary);
/// Returns a list with these names. All results with equal names share this list.
std::shared_ptr<const NumberNames> shared_names(NumberNames names);

}  // namespace sluice
