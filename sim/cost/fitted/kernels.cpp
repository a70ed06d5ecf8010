#include "cost/fitted/kernels.hpp"

#include <algorithm>

#include "cost/fitted/attention.hpp"
#include "cost/fitted/config.hpp"
#include "profile/classes.hpp"

namespace sluice {
namespace {

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
