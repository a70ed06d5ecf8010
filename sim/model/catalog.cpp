// The catalog of layer types, and the catalog of importers, which read models of other programs. To add a layer type or
// an importer, add a file, and a line here.
#include "model/catalog.hpp"

#include "model/importer.hpp"

namespace sluice {

// clang-format off
const Catalog<LayerType>& layer_catalog() {
  static const Catalog<LayerType> catalog("layer type", {
      SLUICE_ENTRY(LayerType, input_layer),
      SLUICE_ENTRY(LayerType, conv1d_layer),
      SLUICE_ENTRY(LayerType, conv2d_layer),
      SLUICE_ENTRY(LayerType, conv3d_layer),
      SLUICE_ENTRY(LayerType, conv_transpose1d_layer),
      SLUICE_ENTRY(LayerType, conv_transpose2d_layer),
      SLUICE_ENTRY(LayerType, conv_transpose3d_layer),
      SLUICE_ENTRY(LayerType, max_pool_layer),
      SLUICE_ENTRY(LayerType, avg_pool_layer),
      SLUICE_ENTRY(LayerType, global_avg_pool_layer),
      SLUICE_ENTRY(LayerType, adaptive_avg_pool_layer),
      SLUICE_ENTRY(LayerType, dense_layer),
      SLUICE_ENTRY(LayerType, matmul_layer),
      SLUICE_ENTRY(LayerType, batched_matmul_layer),
      SLUICE_ENTRY(LayerType, batch_norm_layer),
      SLUICE_ENTRY(LayerType, layer_norm_layer),
      SLUICE_ENTRY(LayerType, group_norm_layer),
      SLUICE_ENTRY(LayerType, rms_norm_layer),
      SLUICE_ENTRY(LayerType, relu_layer),
      SLUICE_ENTRY(LayerType, relu6_layer),
      SLUICE_ENTRY(LayerType, leaky_relu_layer),
      SLUICE_ENTRY(LayerType, sigmoid_layer),
      SLUICE_ENTRY(LayerType, tanh_layer),
      SLUICE_ENTRY(LayerType, silu_layer),
      SLUICE_ENTRY(LayerType, gelu_layer),
      SLUICE_ENTRY(LayerType, hardsigmoid_layer),
      SLUICE_ENTRY(LayerType, hardswish_layer),
      SLUICE_ENTRY(LayerType, softmax_layer),
      SLUICE_ENTRY(LayerType, dropout_layer),
      SLUICE_ENTRY(LayerType, add_layer),
      SLUICE_ENTRY(LayerType, mul_layer),
      SLUICE_ENTRY(LayerType, concat_layer),
      SLUICE_ENTRY(LayerType, flatten_layer),
      SLUICE_ENTRY(LayerType, reshape_layer),
      SLUICE_ENTRY(LayerType, transpose_layer),
      SLUICE_ENTRY(LayerType, split_layer),
      SLUICE_ENTRY(LayerType, slice_layer),
      SLUICE_ENTRY(LayerType, take_row_layer),
      SLUICE_ENTRY(LayerType, all_gather_layer),
      SLUICE_ENTRY(LayerType, reduce_scatter_layer),
      SLUICE_ENTRY(LayerType, embedding_layer),
      SLUICE_ENTRY(LayerType, add_embedding_layer),
      SLUICE_ENTRY(LayerType, class_token_layer),
      SLUICE_ENTRY(LayerType, rotary_layer),
      SLUICE_ENTRY(LayerType, attention_layer),
      SLUICE_ENTRY(LayerType, rnn_layer),
      SLUICE_ENTRY(LayerType, gru_layer),
      SLUICE_ENTRY(LayerType, lstm_layer),
      SLUICE_ENTRY(LayerType, top_k_layer),
      SLUICE_ENTRY(LayerType, dispatch_layer),
      SLUICE_ENTRY(LayerType, expert_matmul_layer),
      SLUICE_ENTRY(LayerType, combine_layer),
      SLUICE_ENTRY(LayerType, lrn_layer),
      SLUICE_ENTRY(LayerType, constant_layer),
      SLUICE_ENTRY(LayerType, operator_layer),
      SLUICE_ENTRY(LayerType, measured_layer),
  });
  return catalog;
}
// clang-format on

// clang-format off
const Catalog<Importer>& importer_catalog() {
  static const Catalog<Importer> catalog("importer", {
      SLUICE_ENTRY(Importer, onnx_importer),
      SLUICE_ENTRY(Importer, pipedream_importer),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
