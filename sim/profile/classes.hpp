// Finds the class of an operator by its name. Sluice, torch and tables may have different names for an operator. All
// these names belong to the same class.
#pragma once

#include <string>

namespace sluice {

/// Returns the class to which the name of an operator belongs, or an empty text if it belongs to none. For example,
/// gemm, dense and Linear belong to the class "linear".
std::string class_of_operator(const std::string& word);

/// Returns whether the operators of the class `name` are computed as products of matrices.
bool is_product_class(const std::string& name);

}  // namespace sluice
