// Random placement problems. A seed gives the same problems on every machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "placement/problem.hpp"
#include "support/random_chain.hpp"

namespace sluice::test {

/// Returns a random number of seconds from 0.1 to `most`.
inline double random_seconds(Dice& dice, std::uint64_t most) {
  return static_cast<double>(1 + dice.below(10 * most)) / 10;
}

/// Returns a random function that gives the seconds of a kernel for the memories of its operands. The function is
/// a line, the maximum of two lines, or a table. A line adds seconds for each operand in slow memory. A table has an
/// independent random entry for each choice of memories.
inline KernelTime random_time(Dice& dice, std::size_t operands) {
  KernelTime time;
  if (operands <= 4 && dice.one_in(3)) {
    for (std::size_t set = 0; set < std::size_t{1} << operands; ++set)
      time.table.push_back(random_seconds(dice, 10));
    return time;
  }
  KernelTime::Line bytes{random_seconds(dice, 3), {}};
  for (std::size_t o = 0; o < operands; ++o) bytes.extra.push_back(random_seconds(dice, 4));
  if (dice.one_in(2))
    time.lines.push_back({random_seconds(dice, 6), std::vector<double>(operands, 0.0)});
  time.lines.push_back(std::move(bytes));
  return time;
}

struct PlacementShape {
  std::size_t tensors = 8, kernels = 12;
  std::uint64_t users = 5;  ///< at most this many kernels use a tensor
  std::size_t stay = 2;     ///< the greatest number of tensors that stay for the whole run
};

/// Returns a problem. Some tensors exist from the start, some tensors stay for the whole run, and the kernels make all
/// other tensors. Some tensors are written more than once. A move of a tensor takes about as long as a kernel.
inline PlacementProblem random_placement(Dice& dice, const PlacementShape& shape) {
  using Begins = PlacementProblem::Begins;
  PlacementProblem problem;
  problem.kernels.resize(shape.kernels);
  std::size_t staying = 0;
  for (std::size_t k = 0; k < shape.kernels; ++k) problem.kernels[k].name = "k" + std::to_string(k);
  for (std::uint32_t t = 0; t < shape.tensors; ++t) {
    PlacementProblem::Tensor tensor{.name = "t" + std::to_string(t)};
    tensor.bytes = 1 + static_cast<std::int64_t>(dice.below(60));
    if (dice.one_in(4)) tensor.begins = Begins::given;
    if (dice.one_in(4) && staying++ < shape.stay) tensor.begins = Begins::stays;
    const std::uint64_t users = 1 + dice.below(shape.users);
    std::vector<std::uint64_t> at;
    for (std::uint64_t u = 0; u < users; ++u) at.push_back(dice.below(shape.kernels));
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    for (std::size_t i = 0; i < at.size(); ++i) {
      const bool made = i == 0 && tensor.begins == Begins::made;
      problem.kernels[at[i]].operands.push_back({.tensor = t, .written = made || dice.one_in(5)});
    }
    problem.tensors.push_back(tensor);
  }
  for (PlacementProblem::Kernel& kernel : problem.kernels)
    kernel.time = random_time(dice, kernel.operands.size());
  problem.synchronous = {10 + static_cast<double>(dice.below(60)),
                         10 + static_cast<double>(dice.below(60))};
  if (!dice.one_in(4))
    problem.asynchronous = {5 + static_cast<double>(dice.below(40)),
                            5 + static_cast<double>(dice.below(40))};
  problem.cache = problem.synchronous;
  return problem;
}

/// Returns a problem that resembles the training of a deep network. The kernels of the first half make the activations.
/// The kernels of the second half read them in the opposite order. Weights stay for the whole run.
inline PlacementProblem layered_placement(Dice& dice, std::size_t tensors, std::size_t kernels) {
  using Begins = PlacementProblem::Begins;
  PlacementProblem problem;
  problem.kernels.resize(kernels);
  std::vector<double> bytes_of(kernels, 0);
  const auto use = [&](std::size_t k, std::uint32_t t, bool written) {
    auto& operands = problem.kernels[k].operands;
    for (const auto& operand : operands)
      if (operand.tensor == t) return;
    operands.push_back({.tensor = t, .written = written});
  };
  for (std::uint32_t t = 0; t < tensors; ++t) {
    const bool weight = t % 5 == 4;
    PlacementProblem::Tensor tensor{.name = (weight ? "weight" : "activation") + std::to_string(t)};
    tensor.bytes = 1'000'000 * (1 + static_cast<std::int64_t>(dice.below(weight ? 40 : 400)));
    if (weight) tensor.begins = Begins::stays;
    const std::size_t begin = t * (kernels / 2) / tensors;
    use(begin, t, !weight);
    if (begin + 1 < kernels / 2) use(begin + 1 + dice.below(2), t, false);
    if (dice.one_in(6)) use(begin + 2 + dice.below(kernels / 8), t, false);
    use(kernels - 1 - begin, t, weight);
    if (dice.one_in(3)) use(kernels - 1 - begin + (begin > 0 ? 1 : 0), t, false);
    problem.tensors.push_back(tensor);
  }
  for (std::size_t k = 0; k < kernels; ++k) {
    PlacementProblem::Kernel& kernel = problem.kernels[k];
    kernel.name = "k" + std::to_string(k);
    std::sort(kernel.operands.begin(), kernel.operands.end(),
              [](const auto& a, const auto& b) { return a.tensor < b.tensor; });
    KernelTime::Line line{0.0005 * static_cast<double>(1 + dice.below(20)), {}};
    for (const auto& operand : kernel.operands) {
      const auto size = static_cast<double>(problem.tensors[operand.tensor].bytes);
      line.base += size / 100e9;
      line.extra.push_back(size / (operand.written ? 10e9 : 30e9) - size / 100e9);
    }
    kernel.time.lines = {{0.001 * static_cast<double>(1 + dice.below(30)),
                          std::vector<double>(kernel.operands.size(), 0.0)},
                         line};
  }
  problem.synchronous = {29e9, 12e9};
  problem.asynchronous = {2e9, 2.5e9};
  problem.cache = {30e9, 10e9};
  return problem;
}

}  // namespace sluice::test
