// Finds the class of an operator. An operator may have different names in Sluice, in torch and in tables. All names of
// an operator belong to one class.
#pragma once

#include <string>

namespace sluice {

/// Returns the class of an operator by its name, such as "linear" for gemm, dense and Linear. Returns an empty text if
/// the name has no class.
std::string class_of_operator(const std::string& word);

/// Returns whether the operators of the class are computed as products of matrices.
bool is_product_class(const std::string& name);

}  // namespace sluice
