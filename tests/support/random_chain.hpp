// Random chains of stages. A seed gives the same chains on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fates/choices.hpp"

namespace sluice::test {

/// Random numbers by SplitMix64 (Steele et al. 2014), which are the same on every machine. The distributions of the
/// standard library differ between its implementations.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Returns a number from 0 to bound - 1.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// Returns a random chain. Its tensors have up to 100 bytes, and its forward passes take up to 10 s. Some tensors have
/// 0 bytes, and some passes have workspaces. Some backward passes do not read the input of their stage, and some
/// backward passes read the output of their stage.
inline Chain random_chain(Dice& dice, std::size_t stages) {
  const auto tensor = [&dice] {
    ChainTensor made;
    if (!dice.one_in(6)) made.bytes = 1 + static_cast<std::int64_t>(dice.below(100));
    const double each = static_cast<double>(1 + dice.below(40)) / 10 / 100;
    made.save_s = made.load_s = each * static_cast<double>(made.bytes);
    if (dice.one_in(3)) made.load_s *= 2;
    return made;
  };
  const auto workspace = [&dice] {
    return dice.one_in(3) ? static_cast<std::int64_t>(dice.below(60)) : 0;
  };
  Chain chain;
  chain.input = tensor();
  for (std::size_t s = 0; s < stages; ++s) {
    ChainStage stage;
    stage.name = "s" + std::to_string(s);
    stage.forward_s = static_cast<double>(1 + dice.below(1000)) / 100;
    stage.backward_s = stage.forward_s * (dice.one_in(2) ? 1 : 2);
    stage.output = tensor();
    stage.inner = tensor();
    stage.reads_input = !dice.one_in(4);
    stage.reads_output = s + 1 == stages || dice.one_in(5);
    stage.gradient = s + 1 == stages ? 0 : stage.output.bytes;
    stage.pass_workspace = workspace();
    stage.keep_workspace = workspace();
    stage.backward_workspace = workspace();
    chain.stages.push_back(stage);
  }
  return chain;
}

/// Returns stages that resemble the layers of a transformer. Their bytes differ slightly from stage to stage. The
/// forward pass of a stage takes 1 s, and its backward pass takes 2 s. A stage has inner tensors of about 30 MB and an
/// output of about 2 MB. A copy of 30 MB takes `copy_s` seconds in each direction.
inline Chain layered_chain(std::size_t stages, double copy_s) {
  const auto tensor = [copy_s](std::size_t bytes) {
    const double seconds = copy_s * static_cast<double>(bytes) / 30e6;
    return ChainTensor{static_cast<std::int64_t>(bytes), seconds, seconds};
  };
  Chain chain;
  chain.input = tensor(2'000'000);
  for (std::size_t s = 0; s < stages; ++s) {
    ChainStage stage{.name = "s" + std::to_string(s), .forward_s = 1, .backward_s = 2};
    stage.output = tensor(2'000'000 + 10 * (s * 7 % 100));
    stage.inner = tensor(30'000'000 + 10 * (s * 31 % 1000));
    stage.gradient = s + 1 == stages ? 0 : stage.output.bytes;
    chain.stages.push_back(stage);
  }
  return chain;
}

/// A stage has one of 3 fates, so there are 3^n lists of the fates of n stages. Returns the list with the number
/// `index`.
inline std::vector<Fate> fates_number(std::uint64_t index, std::size_t stages) {
  std::vector<Fate> fates;
  for (std::size_t s = 0; s < stages; ++s, index /= 3)
    fates.push_back(static_cast<Fate>(index % 3));
  return fates;
}

inline std::uint64_t fates_count(std::size_t stages) {
  std::uint64_t count = 1;
  for (std::size_t s = 0; s < stages; ++s) count *= 3;
  return count;
}

}  // namespace sluice::test
