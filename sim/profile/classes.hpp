// Classes of operators: maps the words of Sluice, of torch and of tables to classes.
#pragma once

#include <string>

namespace sluice {

/// Returns the class of an operator by its word: "linear" for gemm, dense, Linear, ...; empty if
/// there is none.
std::string class_of_operator(const std::string& word);

/// Returns whether the class's operators are products of matrices, or are computed as such.
bool is_product_class(const std::string& name);

}  // namespace sluice
