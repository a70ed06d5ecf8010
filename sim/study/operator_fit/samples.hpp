// The samples from which a fit learns. A sample is a row of a profile as a kernel, with its class, dtype and device.
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
  /// By reason: the number of rows that are left out. A reason is a text such as "of a class that is not fitted:
  /// Flatten".
  std::map<std::string, std::int64_t> left_out;
};

/// The data sheets of the devices, by the names of the devices in the rows. The name "" may stand for one device of any
/// name that is not in this list.
using DevicesByName = std::map<std::string, Device>;

/// Returns samples for the forward rows of leaves with a time above 0. A leaf is an operator that contains no other
/// operators. Throws InputError if a device of the rows has no data sheet. Throws InputError if the data sheet lacks a
/// figure that the form of the fit needs. All rows of a class and a device must have the same kind of cache, hot or
/// cold. If not, throws InputError.
FitSamples samples_of(const std::vector<Profile>& profiles, const DevicesByName& devices);

}  // namespace sluice
