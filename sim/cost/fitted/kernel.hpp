// The kernels that an operator launches on a device, in the fitted cost model. A kernel is a product of matrices, or a
// stream over memory. The class and the sizes of a kernel describe the kernel completely.
#pragma once

#include <array>
#include <string>

namespace sluice {

/// The place of a kernel among all kernels of its class. A place has the natural logarithms of five sizes: count, rows,
/// columns, depth, and bytes per element of the matrices.
using Place = std::array<double, 5>;

/// One launch of a kernel. A product multiplies `count` pairs of matrices. The first matrix of a pair has rows x depth
/// elements, and the second has depth x columns elements. A stream (depth 0) reads and writes `rows` rows of `columns`
/// elements.
struct Kernel {
  std::string of;  ///< the class, such as "linear", "bmm" or "softmax"
  double count = 1, rows = 1, columns = 1, depth = 0;
  double bytes = 0;  ///< the bytes that are read and written in memory
  double flop = 0;

  bool is_product() const { return depth > 0; }
  Place place() const;
};

/// Returns a product of matrices with its FLOP and bytes. The bytes count each matrix once.
Kernel product(std::string of, double count, double rows, double columns, double depth,
               double bytes_per_element);

}  // namespace sluice
