// Finds the class of an operator. The words of Sluice, of torch and of tables for the same operator have the same
// class.
#pragma once

#include <string>

namespace sluice {

/// Returns the class of an operator by its word: "linear" for gemm, dense, Linear, and so on. It is empty if the word
/// has no class.
std::string class_of_operator(const std::string& word);

/// Returns whether the class's operators are products of matrices, or are computed as such.
bool is_product_class(const std::string& name);

}  // namespace sluice
