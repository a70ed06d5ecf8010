// The form is a formula for the time of a kernel. The time depends on the sizes of the kernel and on the device's data
// sheet. The form has terms for tiles and waves over the device's units, for memory and cache, and for the launch. Most
// parameters are shares of the data sheet's figures. So a fit to measurements of some devices also applies to another
// device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cost/fitted/kernel.hpp"

namespace sluice {

/// The figures of a device's data sheet.
struct Sheet {
  std::string name;
  double units = 0;      ///< units that work side by side: streaming multiprocessors, cores
  double rate = 0;       ///< FLOP/s of all units together
  double bandwidth = 0;  ///< byte/s of the device's default memory
  double cache = 0;      ///< bytes of the last cache before the memory
  double watts = 0;      ///< the power limit in watts, or 0 if it is not known
  /// The factor by which bytes outside of caches take longer than in the device's default memory. 1 if all operands are
  /// in the default memory.
  double slowness = 1;
};

enum class FormPart { all, products, streams };

/// A parameter of the form, with the range in which a fit searches for it.
struct FormParameter {
  const char* name;
  const char* summary;
  double start, low, high;
  FormPart part;  ///< the kernels whose form has this parameter
  /// Whether the form divides by the parameter. Such a parameter must not be 0.
  bool divides = false;
  /// How strongly a fit keeps the parameter near `start`. This number matters if the samples hardly depend on the
  /// parameter. A fit minimises a sum: the mean penalty for the errors of the samples, plus a term for each
  /// parameter. The term is `firmness` times the square of log(parameter / start).
  double firmness = 0.003;
};

/// Returns the parameters in the order in which `seconds_of` takes their values.
const std::vector<FormParameter>& form_parameters();
constexpr std::size_t resident_parameter = 5;
constexpr std::size_t energy_parameter = 9;  ///< the index of `energy`, which a fit never changes
/// The index of the first parameter that is a share of a unit's rate. All later parameters are such shares, too.
constexpr std::size_t first_share = 10;

/// Returns the seconds of a kernel on a device. `parameters` are in the order of form_parameters(). The tiles and waves
/// follow Lee et al., NeuSight (ASPLOS 2025), section 4. The roofline follows Williams et al. (2009).
double seconds_of(const Kernel& kernel, const Sheet& sheet, const std::vector<double>& parameters);

/// Returns whether the bytes of a kernel take more seconds than its FLOP.
bool is_bound_by_memory(const Kernel& kernel, const Sheet& sheet,
                        const std::vector<double>& parameters);

/// Returns the parameters of a kernel's energy. The energy is `watts` x seconds + J/FLOP x FLOP + J/byte x bytes + J
/// per launch.
const std::vector<FormParameter>& energy_parameters();
double joules_of(const Kernel& kernel, double seconds, const std::vector<double>& parameters);

}  // namespace sluice
