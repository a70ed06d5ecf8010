// The samples from which a fit learns: rows of profiles as kernels, with their class, dtype and device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cost/fitted/class_fit.hpp"
#include "platform/platform.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// Samples of one class in one dtype.
struct ClassSamples {
  std::string name;
  DType dtype = DType::float32;
  std::vector<Sample> samples;
};

struct FitSamples {
  std::vector<Sheet> sheets;  ///< one per device and dtype that has samples
  std::vector<ClassSamples> classes;
  /// The number of rows that are left out, for each reason, such as "of a class that is not fitted: Flatten".
  std::map<std::string, std::int64_t> left_out;
};

/// The data sheets of the devices, by the names that the rows use. The name "" may stand for one further device with
/// any name.
using DevicesByName = std::map<std::string, Device>;

/// Takes the forward rows of leaves (operators that contain no other operators) with a time above 0. Throws InputError
/// when a device of the rows has no data sheet, or when the data sheet lacks a figure that the form needs. Also throws
/// InputError when rows of one class and device were measured in several ways, such as hot and cold.
FitSamples samples_of(const std::vector<Profile>& profiles, const DevicesByName& devices);

}  // namespace sluice
