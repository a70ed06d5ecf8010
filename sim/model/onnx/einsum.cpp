#include "model/onnx/einsum.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace sluice::onnx_import {
namespace {

constexpr int hidden = 256;  ///< the label of the last axis for which `...` stands

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

[[noreturn]] void refuse_term(const std::string& term) {
  throw InputError("'" + term + "' is not a term: expected letters, and '...' at most once");
}

/// Returns the labels of one term, such as `bij`. `rank` is the number of axes of the input to which the term belongs.
Labels labels_of(const std::string& term, std::size_t rank) {
  const std::size_t dots = term.find('.');
  const bool has_dots = dots != std::string::npos;
  if (has_dots && term.compare(dots, 3, "...") != 0) refuse_term(term);
  const std::size_t letters = term.size() - (has_dots ? 3 : 0);
  if (letters > rank || (!has_dots && letters != rank))
    throw InputError("the term '" + term + "' is for " + std::to_string(letters) +
                     " axes, but its input has " + std::to_string(rank));
  Labels labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (has_dots && i == dots) {
      for (std::size_t more = rank - letters; more-- > 0;)
        labels.push_back(hidden + static_cast<int>(more));
      i += 2;
      continue;
    }
    if (!is_letter(term[i])) refuse_term(term);
    labels.push_back(term[i]);
  }
  return labels;
}

std::vector<std::string> terms_of(const std::string& list) {
  std::vector<std::string> terms(1);
  for (const char c : list) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  return terms;
}

void join_extents(Einsum& sum, const Labels& labels, const Shape& shape) {
  for (std::size_t axis = 0; axis < labels.size(); ++axis) {
    std::int64_t& extent = sum.extents.emplace(labels[axis], 1).first->second;
    if (extent != 1 && shape[axis] != 1 && extent != shape[axis])
      throw InputError("one axis has the different extents " + std::to_string(extent) + " and " +
                       std::to_string(shape[axis]));
    if (extent == 1) extent = shape[axis];
  }
}

/// Returns the labels of the axes for which `...` stands, in the order of the axes.
Labels hidden_labels(const Einsum& sum) {
  Labels labels;
  for (auto at = sum.extents.rbegin(); at != sum.extents.rend() && at->first >= hidden; ++at)
    labels.push_back(at->first);
  return labels;
}

/// Returns the labels of the output of an equation that has no right side. First come the axes of `...`. Then come the
/// letters that occur only once in the equation, in alphabetical order.
Labels implied(const Einsum& sum) {
  std::map<int, int> times;
  for (const Labels& labels : sum.inputs)
    for (const int label : labels) ++times[label];
  Labels labels = hidden_labels(sum);
  for (const auto& [label, count] : times)
    if (label < hidden && count == 1) labels.push_back(label);
  return labels;
}

Labels written(const Einsum& sum, const std::string& right) {
  const bool has_dots = right.find("...") != std::string::npos;
  const std::size_t rank = right.size() - (has_dots ? 3 : 0);
  Labels labels = labels_of(right, rank + (has_dots ? hidden_labels(sum).size() : 0));
  for (const int label : labels)
    if (sum.extents.count(label) == 0 || std::count(labels.begin(), labels.end(), label) != 1)
      throw InputError("'" + right + "' has an axis twice, or an axis that no input has");
  return labels;
}

}  // namespace

Shape Einsum::shape() const {
  Shape shape;
  for (const int label : output) shape.push_back(extents.at(label));
  return shape;
}

std::int64_t Einsum::summed() const {
  std::int64_t products = 1;
  for (const auto& [label, extent] : extents)
    if (std::find(output.begin(), output.end(), label) == output.end())
      products = checked_mul(products, extent, "products");
  return products;
}

Einsum einsum_of(const std::string& equation, const std::vector<Shape>& inputs) {
  std::string text = equation;
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> terms = terms_of(text.substr(0, arrow));
  if (terms.size() != inputs.size())
    throw InputError("the equation has " + std::to_string(terms.size()) + " terms, but there are " +
                     std::to_string(inputs.size()) + " inputs");
  Einsum sum;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    sum.inputs.push_back(labels_of(terms[i], inputs[i].size()));
    join_extents(sum, sum.inputs.back(), inputs[i]);
  }
  sum.output = arrow == std::string::npos ? implied(sum) : written(sum, text.substr(arrow + 2));
  return sum;
}

}  // namespace sluice::onnx_import
