// What a fit learns from: rows of profiles as kernels with their class, dtype and device.
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
  std::vector<Sheet> sheets;  ///< of each device and dtype that has samples
  std::vector<ClassSamples> classes;
  /// Rows that take no part, by why: "of no class that is fitted: Flatten" -> how many.
  std::map<std::string, std::int64_t> left_out;
};

/// The data sheets of the devices by the name that rows have; "" stands for one other, whichever it
/// is.
using DevicesByName = std::map<std::string, Device>;

/// Forward rows of leaves with a time above 0. Throws InputError where a device of the rows has no
/// data sheet, or one that lacks a figure that the form needs.
FitSamples samples_of(const std::vector<Profile>& profiles, const DevicesByName& devices);

}  // namespace sluice
