// A small network as ONNX, for the tests of the importer.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include "model/importer.hpp"
#include "model/onnx/onnx.hpp"
#include "model/onnx/skim.hpp"
#include "support/onnx_models.hpp"

namespace sluice::onnx_case {

using namespace sluice::test;
using A = OnnxAttribute;

/// Returns a network in the form in which PyTorch exports it. The batch is symbolic.
inline OnnxBytes small_cnn() {
  OnnxBytes onnx;
  onnx.input("x", {"N", 3, 8, 8})
      .weight("w", {4, 3, 3, 3})
      .weight("b", {4})
      .weight("scale", {4})
      .weight("shift", {4})
      .weight("mean", {4})
      .weight("var", {4})
      .weight("fc_w", {10, 16})
      .weight("fc_b", {10})
      .numbers("zero", {0})
      .numbers("rest", {-1})
      .node("Conv", {"x", "w", "b"}, {"c"},
            {A::integers("pads", {1, 1, 1, 1}), A::integers("strides", {2, 2})}, "conv")
      .node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"n"}, {}, "bn")
      .node("Relu", {"n"}, {"r"}, {}, "relu")
      .node("MaxPool", {"r"}, {"p"},
            {A::integers("kernel_shape", {2, 2}), A::integers("strides", {2, 2})}, "pool")
      .node("Shape", {"p"}, {"s"})
      .node("Gather", {"s", "zero"}, {"s0"})
      .node("Concat", {"s0", "rest"}, {"to"}, {A::integer("axis", 0)})
      .node("Reshape", {"p", "to"}, {"flat"}, {}, "flat")
      .node("Gemm", {"flat", "fc_w", "fc_b"}, {"y"}, {A::integer("transB", 1)}, "fc")
      .output("y");
  return onnx;
}

}  // namespace sluice::onnx_case
