#include "cost/fitted/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {

Place Kernel::place() const {
  const double elements = count * (rows * columns + depth * (rows + columns));
  Place place = {count, rows, columns, std::max(depth, 1.0), bytes / elements};
  for (double& size : place) size = std::log(std::max(size, 1e-9));
  return place;
}

Kernel product(std::string of, double count, double rows, double columns, double depth,
               double bytes_per_element) {
  return {.of = std::move(of),
          .count = count,
          .rows = rows,
          .columns = columns,
          .depth = depth,
          .bytes = bytes_per_element * count * (rows * depth + depth * columns + rows * columns),
          .flop = 2 * count * rows * columns * depth};
}

}  // namespace sluice
