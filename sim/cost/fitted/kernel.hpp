// The kernels that an operator launches on a device, as the fitted cost model counts them: products
// of matrices, and streams over memory. Only their sizes describe them.
#pragma once

#include <array>
#include <string>

namespace sluice {

/// The place of a kernel among the others of its class. It consists of the natural logarithms of: count, rows, columns,
/// depth, and bytes per element of its matrices.
using Place = std::array<double, 5>;

/// One launch. A product consists of `count` products of rows x depth by depth x columns. A stream
/// (depth 0) reads and writes `rows` rows of `columns` elements.
struct Kernel {
  std::string of;  ///< its class: "linear", "bmm", "softmax", …
  double count = 1, rows = 1, columns = 1, depth = 0;
  double bytes = 0;  ///< read and written in memory
  double flop = 0;

  bool is_product() const { return depth > 0; }
  Place place() const;
};

/// Returns a product of matrices, with its FLOP, and with its bytes when each matrix is moved once.
Kernel product(std::string of, double count, double rows, double columns, double depth,
               double bytes_per_element);

}  // namespace sluice
