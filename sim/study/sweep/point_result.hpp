// The result of one point of a sweep: numbers, a refusal, or an error. Points whose numbers have the same names share
// the list of names, so that a hundred thousand points fit into memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/summary.hpp"

namespace sluice {

/// The name and the unit of each number of a result. "makespan_s" is a metric with one number. "peak_bytes[gpu]" is the
/// number of the metric "peak_bytes" with the key {"gpu"}.
struct NumberName {
  std::string metric;
  std::vector<std::string> key;  ///< empty if the metric is one number
  std::string unit;              ///< as in Metric::unit
  bool operator==(const NumberName&) const = default;
  std::string text() const;
};
using NumberNames = std::vector<NumberName>;

struct PointResult {
  enum class Status {
    complete,    ///< the point ran
    infeasible,  ///< the point does not fit, or its run blocks; this is an answer, too
    failed,      ///< the point could not be evaluated: an error of the input, or of the program
  };
  Status status = Status::failed;
  std::string reason = {};                        ///< first line of `message`; empty if complete
  std::string message = {};                       ///< why there are no numbers, in full
  std::string shortage = {};                      ///< if infeasible: json_shortage() on one line
  std::shared_ptr<const NumberNames> names = {};  ///< if complete: the names of the numbers
  std::vector<double> numbers = {};               ///< NaN if the metric is absent
  std::string bound_by = {};                      ///< what binds the run
  std::string chosen = {};    ///< choices that were made for the point; empty if nothing was open
  std::string executor = {};  ///< the executor that ran it
  bool verified = false;      ///< SimGrid gave the same result

  /// Returns NaN when there is no number of this name.
  double number(std::string_view name) const;
};

/// The result of a point that could not be evaluated, with this message.
PointResult failed_result(std::string message);

std::string_view name_of(PointResult::Status status);
/// Throws InternalError.
PointResult::Status status_named(std::string_view name);

/// Converts names to JSON on one line, numbers to little-endian 64-bit floats, and a whole result to bytes that one
/// process sends to another. The other functions convert them back. `file` is for messages.
std::string packed_names(const NumberNames& names);
std::shared_ptr<const NumberNames> unpacked_names(const std::string& text, const std::string& file);
std::string packed_numbers(const std::vector<double>& numbers);
std::vector<double> unpacked_numbers(std::string_view bytes);
std::string packed(const PointResult& outcome);
PointResult unpacked_result(std::string_view bytes);

/// Takes the numbers and words of a summary. If their names were seen before, the known list of names is shared. Any
/// thread may call this function.
void take_numbers(PointResult& outcome, const Summary& summary);
/// Returns the one shared list of these names.
std::shared_ptr<const NumberNames> shared_names(NumberNames names);

}  // namespace sluice
