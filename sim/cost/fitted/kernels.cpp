#include "cost/fitted/kernels.hpp"

#include <algorithm>

#include "cost/fitted/config.hpp"
#include "profile/classes.hpp"

namespace sluice {
namespace {

/// The sizes of the matrices of scaled dot-product attention.
struct AttentionSizes {
  /// `matrices` is the number of heads x the number of samples.
  double matrices, rows, keys, width, depth;
  double size;  ///< the number of bytes of an element
  bool dropout;
};

AttentionSizes sizes_of(const Query& query) {
  const Layer& layer = *query.layer;
  const Shape &queries = layer.input_shapes.at(0), &keys = layer.input_shapes.at(1);
  const double heads = config_number(layer, "heads", 1);
  return {.matrices = heads * static_cast<double>(query.samples),
          .rows = static_cast<double>(queries.at(0)),
          .keys = static_cast<double>(keys.at(0)) + config_number(layer, "cached", 0),
          .width = static_cast<double>(queries.at(1)) / heads,
          .depth = static_cast<double>(layer.shape.back()) / heads,
          .size = static_cast<double>(bytes_of(query.dtype)),
          .dropout = config_is_on(layer, "dropout")};
}

/// Returns a stream over all scores. Parameter `passes` is the number of times that the stream reads or writes each
/// score.
Kernel over_scores(const AttentionSizes& s, const char* of, double passes) {
  const double rows = s.matrices * s.rows;
  return {.of = of, .rows = rows, .columns = s.keys, .bytes = passes * s.size * rows * s.keys};
}

/// Attention has two products. The first product multiplies queries by keys, and gives the scores. The second product
/// multiplies scores by values. Between the products, eager attention has a scale, a mask, softmax and dropout. Each of
/// these reads and writes all scores once. Dropout also writes a mask.
std::vector<Kernel> forward_kernels(const AttentionSizes& s, bool eager) {
  std::vector<Kernel> kernels = {product("bmm", s.matrices, s.rows, s.keys, s.width, s.size)};
  if (eager) {
    for (int step = 0; step < 2; ++step) kernels.push_back(over_scores(s, "elementwise", 2));
    kernels.push_back(over_scores(s, "softmax", 2));
    if (s.dropout) kernels.push_back(over_scores(s, "elementwise", 2 + 1 / s.size));
  }
  kernels.push_back(product("bmm", s.matrices, s.rows, s.depth, s.keys, s.size));
  return kernels;
}

/// Each product has two gradients. Between the products, dropout reads its mask, and softmax reads its output and the
/// gradient. Two more kernels follow: one for attention's own mask, and one for the scale. Each of these two reads and
/// writes the gradient of each score. Fused attention does not keep the scores, so it computes them again.
std::vector<Kernel> backward_kernels(const AttentionSizes& s, bool eager) {
  std::vector<Kernel> kernels = {product("bmm", s.matrices, s.keys, s.depth, s.rows, s.size),
                                 product("bmm", s.matrices, s.rows, s.keys, s.depth, s.size)};
  if (eager) {
    if (s.dropout) kernels.push_back(over_scores(s, "elementwise", 2 + 1 / s.size));
    kernels.push_back(over_scores(s, "softmax", 3));
    for (int step = 0; step < 2; ++step) kernels.push_back(over_scores(s, "elementwise", 2));
  } else {
    kernels.push_back(product("bmm", s.matrices, s.rows, s.keys, s.width, s.size));
  }
  kernels.push_back(product("bmm", s.matrices, s.rows, s.width, s.keys, s.size));
  kernels.push_back(product("bmm", s.matrices, s.keys, s.width, s.rows, s.size));
  return kernels;
}

/// Returns the kernels of a query for a layer of the type `attention`.
std::vector<Kernel> attention_kernels(const Query& query, AttentionKernels attention) {
  const AttentionSizes sizes = sizes_of(query);
  const bool eager = attention == AttentionKernels::eager;
  if (query.pass == Pass::forward || query.pass == Pass::recompute)
    return forward_kernels(sizes, eager);
  if (query.pass == Pass::backward_weight) return {};  // attention has no weights
  return backward_kernels(sizes, eager);
}

/// Returns the class of a layer's operator. If the operator has no class, returns the layer's type. For example, a
/// layer of experts has no class: its products read the weights of selected experts, and no measured product selects
/// its weights in this way.
std::string class_of(const Layer& layer) {
  const bool transposed = layer.type.rfind("conv_transpose", 0) == 0;
  const std::string found = transposed ? "conv" : class_of_operator(layer.type);
  if (found == "conv" && config_number(layer, "groups", 1) > 1) return "grouped_conv";
  return found.empty() ? layer.type : found;
}

double elements_of(const Shape& shape) {
  double elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<double>(size);
  return elements;
}

/// Returns a stream over the layer's output. A stream reads and writes rows of elements (kernel.hpp). Here, a row has
/// the elements along the last axis of the output. In a pooling, a row has the input elements of one output element
/// instead.
Kernel stream_of(const Query& query, std::string of) {
  const Layer& layer = *query.layer;
  double columns = layer.shape.empty() ? 1 : static_cast<double>(layer.shape.back());
  double elements = static_cast<double>(layer.output) * static_cast<double>(query.samples);
  if (of == "pool") {
    const double read = elements_of(layer.input_shapes.at(0));
    columns = std::max(1.0, read / static_cast<double>(layer.output));
    elements = read * static_cast<double>(query.samples);
  }
  return {.of = std::move(of),
          .rows = std::max(1.0, elements / columns),
          .columns = columns,
          .bytes = query.work.bytes,
          .flop = query.work.flop};
}

/// Returns the forward product of a layer. A convolution is a product over all pixels. A convolution in groups has one
/// pair of matrices per group.
Kernel forward_product(const Query& query, const std::string& of) {
  const Layer& layer = *query.layer;
  const auto size = static_cast<double>(bytes_of(query.dtype));
  const double outputs = static_cast<double>(layer.output);
  const double depth = static_cast<double>(layer.macs) / outputs;
  double columns = static_cast<double>(layer.shape.back());
  double count = of == "grouped_conv" ? config_number(layer, "groups", 1) : 1;
  columns /= count;
  double rows = outputs / columns / count * static_cast<double>(query.samples);
  if (of == "bmm" && layer.shape.size() >= 2) {
    const auto per_matrix = static_cast<double>(layer.shape[layer.shape.size() - 2]);
    count = rows / per_matrix;
    rows = per_matrix;
  }
  return product(of, count, rows, columns, depth, size);
}

bool does(Pass pass, Pass gradient) {
  return pass == Pass::backward || pass == gradient;
}

/// Returns the products of a pass. Each gradient is a product with the three sizes of the forward product in another
/// order.
std::vector<Kernel> products_of(const Query& query, const std::string& of) {
  const Kernel forward = forward_product(query, of);
  const Backward& backward = query.layer->backward;
  std::vector<Kernel> kernels;
  if (query.pass == Pass::forward || query.pass == Pass::recompute) {
    kernels.push_back(forward);
  } else {
    if (does(query.pass, Pass::backward_input) && backward.input_flop > 0)
      kernels.push_back(forward), std::swap(kernels.back().columns, kernels.back().depth);
    if (does(query.pass, Pass::backward_weight) && backward.weight_flop > 0)
      kernels.push_back(forward), std::swap(kernels.back().rows, kernels.back().depth);
  }
  // A convolution reads each pixel only once, although it multiplies the pixel by many weights.
  if (of == "conv" || of == "grouped_conv")
    for (Kernel& kernel : kernels)
      kernel.bytes = query.work.bytes / static_cast<double>(kernels.size());
  return kernels;
}

}  // namespace

std::vector<Kernel> kernels_of(const Query& query, AttentionKernels attention) {
  if (query.work.flop == 0 && query.work.bytes == 0) return {};
  if (!query.layer)
    return {{.of = "elementwise",
             .rows = query.work.bytes / static_cast<double>(bytes_of(query.dtype)),
             .bytes = query.work.bytes,
             .flop = query.work.flop}};
  if (!does_work(*query.layer, query.pass)) return {};
  if (query.layer->type == "attention") return attention_kernels(query, attention);
  const std::string of = class_of(*query.layer);
  if (is_product_class(of) && query.layer->macs > 0) return products_of(query, of);
  return {stream_of(query, of)};
}

}  // namespace sluice
