// The samples from which a fit learns. A sample is made from a row of a profile: it has the kernel of the row and the
// measured seconds. Each sample names the data sheet of its device. Samples are grouped by class and dtype.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cost/fitted/class_fit.hpp"
#include "platform/platform.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// The samples of one class of operators in one dtype.
struct ClassSamples {
  std::string name;
  DType dtype = DType::float32;
  std::vector<Sample> samples;
};

struct FitSamples {
  std::vector<Sheet> sheets;  ///< one element per device and dtype that have samples
  std::vector<ClassSamples> classes;
  /// How many rows are left out, for each reason. A reason is a text such as "of a class that is not fitted: Flatten".
  std::map<std::string, std::int64_t> left_out;
};

/// The data sheets of the devices. The keys are the names that the devices have in the rows. The key "" may stand for
/// one further device, whatever its name is.
using DevicesByName = std::map<std::string, Device>;

/// Returns one sample for each row that can be used: it is a leaf (an operator that contains no other operators) of a
/// class that is fitted, its sizes are understood, its pass is forward, and its time is above 0. Throws InputError if a
/// device of the rows has no data sheet, or if its data sheet lacks a figure that the form of the fit needs. Also
/// throws InputError if rows of one class and one device were measured in different ways, such as with a hot and with a
/// cold cache.
FitSamples samples_of(const std::vector<Profile>& profiles, const DevicesByName& devices);

}  // namespace sluice
