#include "base/dtype.hpp"

#include <array>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::int64_t bytes;
};

// The rows have the same order as the enumeration DType.
constexpr std::array<Row, 6> table = {{{DType::float64, "float64", 8},
                                       {DType::float32, "float32", 4},
                                       {DType::tfloat32, "tfloat32", 4},
                                       {DType::float16, "float16", 2},
                                       {DType::bfloat16, "bfloat16", 2},
                                       {DType::int8, "int8", 1}}};

const Row& row_of(DType dtype) {
  return table[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::int64_t bytes_of(DType dtype) {
  return row_of(dtype).bytes;
}

std::string_view name_of(DType dtype) {
  return row_of(dtype).name;
}

DType dtype_of(std::string_view name) {
  for (const Row& row : table)
    if (row.name == name) return row.dtype;
  throw InputError("unknown dtype '" + std::string(name) + "'" + did_you_mean(name, dtype_names()) +
                   "; known: " + join(dtype_names()));
}

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Row& row : table) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

}  // namespace sluice
