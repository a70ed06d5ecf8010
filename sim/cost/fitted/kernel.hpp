// What an operator launches on a device, as the fitted cost model sees it: products of matrices and
// streams over memory, by their sizes alone.
#pragma once

#include <array>
#include <string>

namespace sluice {

/// Where a kernel lies among others of its class, as natural logarithms: count, rows, columns,
/// depth, and bytes for each element of its matrices.
using Place = std::array<double, 5>;

/// One launch. A product: `count` products of rows x depth by depth x columns. A stream (depth 0):
/// `rows` rows of `columns` elements are read and written.
struct Kernel {
  std::string of;  ///< its class: "linear", "bmm", "softmax", …
  double count = 1, rows = 1, columns = 1, depth = 0;
  double bytes = 0;  ///< read and written in memory
  double flop = 0;

  bool is_product() const { return depth > 0; }
  Place place() const;
};

/// A product of matrices, with its FLOP, and its bytes where each matrix is moved once.
Kernel product(std::string of, double count, double rows, double columns, double depth,
               double bytes_per_element);

}  // namespace sluice
