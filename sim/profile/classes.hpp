// Classes of operators: which words, of Sluice, of torch and of tables, are of one kind.
#pragma once

#include <string>

namespace sluice {

/// The class of an operator by its word: "linear" of gemm, dense, Linear, ...; empty: none.
std::string class_of_operator(const std::string& word);

/// Are its operators products of matrices, or work as such?
bool is_product_class(const std::string& name);

}  // namespace sluice
