// Reads and writes sluice-fit/1 documents, which fits/FORMAT.md describes.
#pragma once

#include <string>
#include <vector>

#include "cost/fitted/class_fit.hpp"
#include "document/value.hpp"

namespace sluice {

/// The fits to measurements on some devices: one fit per class of operators and dtype.
struct Fit {
  std::string name, summary, source, licence;
  /// The devices of the measurements, with one entry for each measured dtype. The rate of an entry is the device's
  /// FLOP/s in this dtype.
  std::vector<Sheet> devices;
  std::vector<ClassFit> classes;

  /// Returns the fit of a class in this dtype. If there is none, returns null.
  const ClassFit* find(const std::string& of, DType dtype) const;
  /// Returns whether the fit has measurements of a similar device. Similar devices have the same number of units. Their
  /// rates and bandwidths differ by at most 5 %.
  bool saw(const Sheet& sheet) const;
};

/// Throws InputError.
Fit read_fit(const Value& document);
/// Reads the fit in a file, or the bundled fit with this name. Throws InputError and IoError.
Fit load_fit(const std::string& file_or_name);

/// Returns the text of a document. Fitted numbers have six digits. If the text is read by read_fit, the result is the
/// same fit, except that its numbers are rounded to these digits.
std::string fit_text(const Fit& fit);

}  // namespace sluice
