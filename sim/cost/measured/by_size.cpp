#include "cost/measured/by_size.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cost/fitted/row_kernel.hpp"
#include "cost/measured/table.hpp"
#include "profile/classes.hpp"
#include "profile/match.hpp"
#include "profile/statistics.hpp"

namespace sluice {
namespace {

/// Returns the sizes that locate a kernel among the measured kernels. Two convolutions may have products of equal
/// sizes, but read each pixel a different number of times. The bytes per element of the matrices distinguish such
/// convolutions.
std::vector<double> sizes_of(const Kernel& kernel) {
  if (!kernel.is_product()) return {kernel.rows, kernel.columns};
  std::vector<double> sizes = {kernel.count, kernel.rows, kernel.columns, kernel.depth};
  if (kernel.of == "conv" || kernel.of == "grouped_conv")
    sizes.push_back(std::exp(kernel.place().back()));
  return sizes;
}

struct Measured {
  std::vector<const ProfileRow*> rows;
  /// The key is a list of sizes. The value is a kernel with these sizes, and the seconds of all kernels with these
  /// sizes.
  std::map<std::vector<double>, std::pair<Kernel, std::vector<double>>> by_sizes;
};

/// Returns the reason why rows of a class must not be used together. The text is empty if there is no such reason.
std::string unlike(const std::vector<const ProfileRow*>& rows, const std::string& of) {
  try {
    require_alike(rows, "operators of the class '" + of + "' were", columns_of_operators());
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool is_of(const ProfileRow& row, DType dtype) {
  return row.level == Level::leaf && row.pass == "forward" && !(row.sparsity > 0) &&
         (row.dtype.empty() || row.dtype == name_of(dtype));
}

}  // namespace

SharesBySize::SharesBySize(const Profile& profile, const Device& device, DType dtype,
                           const std::function<std::optional<double>(const ProfileRow&)>& seconds) {
  std::map<std::string, Measured> classes;
  for (const ProfileRow& row : profile.rows) {
    const std::string of = class_of_row(row);
    const std::optional<double> took = seconds(row);
    if (of.empty() || !is_of(row, dtype) || !took || !(*took > 0)) continue;
    const auto kernel = kernel_of(row, of, static_cast<double>(bytes_of(dtype)));
    if (!kernel) continue;
    Measured& measured = classes[of];
    measured.rows.push_back(&row);
    auto& [one, all] = measured.by_sizes[sizes_of(*kernel)];
    one = *kernel;
    all.push_back(*took);
  }
  for (const auto& [of, measured] : classes) {
    std::vector<MeasuredPoint> points;
    for (const auto& [sizes, taken] : measured.by_sizes)
      points.push_back(
          {sizes, ideal_seconds(taken.first, device, dtype) / median_of(taken.second)});
    classes_.emplace(of, Class{Utilisation(std::move(points)), measured.rows.front()->device,
                               unlike(measured.rows, of)});
  }
}

/// Returns a class. Throws InputError if its rows must not be used together. A class is checked only when it is used.
/// So differences between rows of an unused class do no harm.
const SharesBySize::Class& SharesBySize::of_class(const std::string& of) const {
  const Class& found = classes_.at(of);
  if (!found.unlike.empty()) throw InputError(found.unlike);
  return found;
}

std::optional<double> SharesBySize::share(const Kernel& kernel) const {
  if (classes_.count(kernel.of) == 0) return std::nullopt;
  return of_class(kernel.of).shares.share(sizes_of(kernel));
}

LeftOut SharesBySize::left_out(const std::string& of) const {
  return of_class(of).shares.left_out();
}

const std::string& SharesBySize::device(const std::string& of) const {
  return of_class(of).device;
}

std::map<std::string, LeftOut> SharesBySize::left_out() const {
  std::map<std::string, LeftOut> all;
  for (const auto& [of, unused] : classes_)
    if (const Class& found = of_class(of); found.shares.rows() > 2)
      all[of] = found.shares.left_out();
  return all;
}

double ideal_seconds(const Kernel& kernel, const Device& device, DType dtype) {
  const double flop = kernel.is_product() ? kernel.flop : 0;
  return ideal_seconds(Work{.flop = flop, .bytes = kernel.bytes}, device, dtype);
}

}  // namespace sluice
