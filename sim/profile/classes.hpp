// Classes of operators: which words of Sluice, of torch and of tables mean the same kind.
#pragma once

#include <string>

namespace sluice {

/// The class of an operator by its word: "linear" for gemm, dense, Linear, ...; empty: there is
/// none.
std::string class_of_operator(const std::string& word);

/// Whether its operators are products of matrices, or are computed as such.
bool is_product_class(const std::string& name);

}  // namespace sluice
