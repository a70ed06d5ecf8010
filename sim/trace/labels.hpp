// The tables that give a meaning to the numbers in a trace. The code that runs a plan
// copies the names into these tables. So code that reads traces does not need plans.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

struct Labels {
  struct Stream {
    std::string name, kind, device;  ///< kind: compute or copy
  };
  struct Pool {
    std::string name;
    std::int64_t capacity = -1;  ///< bytes; -1 means unlimited
  };
  struct Tensor {
    std::string name, tensor_class;
    std::int64_t bytes = 0;
  };
  struct Action {
    std::string name, kind, section;
    std::uint32_t stream = 0;
    std::int32_t stage = -1, micro_batch = -1;
    std::int64_t bytes = 0;  ///< bytes that a transfer moves
    double flop = 0;         ///< FLOP of a compute action
  };
  std::vector<Stream> streams;
  std::vector<Pool> pools;
  std::vector<Tensor> tensors;
  std::vector<Action> actions;
  std::vector<std::string> stages;
};

}  // namespace sluice
