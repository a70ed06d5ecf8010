// Element types and their sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class DType { float64, float32, tfloat32, float16, bfloat16, int8 };

/// Returns the bytes that one element occupies in memory. An element of tfloat32 occupies 4 bytes.
std::int64_t bytes_of(DType dtype);
std::string_view name_of(DType dtype);
/// Returns the dtype with this name. If the name is unknown, throws an InputError. The message lists the known names.
DType dtype_of(std::string_view name);
const std::vector<std::string>& dtype_names();

}  // namespace sluice
