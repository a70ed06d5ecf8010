// Makes the columns of a table for pandas. A column of numbers is a NumPy array, and a column of texts is a list.
#pragma once

#include <pybind11/numpy.h>

#include <limits>
#include <string>

#include "python/module.hpp"

namespace sluice::python {

template <class T, class Rows, class Get>
py::array_t<T> numbers(const Rows& rows, Get&& get) {
  py::array_t<T> column(static_cast<py::ssize_t>(rows.size()));
  T* out = column.mutable_data();
  for (const auto& row : rows) *out++ = static_cast<T>(get(row));
  return column;
}

template <class Rows, class Get>
py::list texts(const Rows& rows, Get&& get) {
  py::list column;
  for (const auto& row : rows) column.append(std::string(get(row)));
  return column;
}

}  // namespace sluice::python
