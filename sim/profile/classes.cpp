#include "profile/classes.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "base/letters.hpp"

namespace sluice {
namespace {

/// For each class, the words that name its operators, in lower case. The names of torch keep their
/// endings 1d, 2d and 3d, as in `batchnorm2d`.
const std::map<std::string_view, std::vector<std::string_view>>& words_by_class() {
  static const std::map<std::string_view, std::vector<std::string_view>> words = {
      {"linear", {"gemm", "linear", "dense", "matmul", "addmm", "mm"}},
      {"bmm", {"bmm", "batched_matmul", "baddbmm"}},
      {"conv", {"conv1d", "conv2d", "conv3d", "conv"}},
      {"softmax", {"softmax"}},
      {"layer_norm", {"ln", "layer_norm", "layernorm", "rms_norm", "rmsnorm", "group_norm"}},
      {"batch_norm", {"batch_norm", "batchnorm1d", "batchnorm2d", "batchnorm3d"}},
      {"pool",
       {"max_pool", "avg_pool", "global_avg_pool", "adaptive_avg_pool", "maxpool2d", "avgpool2d",
        "adaptiveavgpool2d"}},
      // The class `stochastic_depth` has one operator, which computes nothing in inference.
      {"stochastic_depth", {"stochasticdepth"}},
      {"elementwise",
       {"add",         "addu",          "mul",         "mulu",      "div",    "divu",
        "pow",         "powu",          "relu",        "relu6",     "tanh",   "gelu",
        "silu",        "sigmoid",       "dropout",     "embedding", "concat", "hardswish",
        "hardsigmoid", "hardtanh",      "leaky_relu",  "transpose", "split",  "slice",
        "rotary",      "add_embedding", "class_token", "constant"}}};
  return words;
}

}  // namespace

std::string class_of_operator(const std::string& word) {
  const std::string plain = lower_case(word);
  for (const auto& [name, words] : words_by_class())
    if (std::find(words.begin(), words.end(), plain) != words.end()) return std::string(name);
  return "";
}

bool is_product_class(const std::string& name) {
  return name == "linear" || name == "bmm" || name == "conv" || name == "grouped_conv";
}

}  // namespace sluice
