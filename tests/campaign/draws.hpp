// Draws random numbers and records them on a tape, which is the list of the drawn numbers. Equal draws make equal
// scenarios. Callers let 0 stand for the simplest choice. So fewer or smaller numbers make a simpler scenario.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/random_chain.hpp"

namespace sluice::test {

class Draws {
 public:
  using Tape = std::vector<std::uint32_t>;

  explicit Draws(std::uint64_t seed) : dice_(seed), from_seed_(true) {}
  /// After this constructor, draws are not random: they are the numbers of `tape` in order, and then 0.
  explicit Draws(Tape tape) : dice_(0), given_(std::move(tape)) {}

  /// Returns a number from 0 to bound - 1.
  std::uint32_t below(std::uint32_t bound) {
    std::uint32_t drawn = 0;
    if (from_seed_)
      drawn = static_cast<std::uint32_t>(dice_.below(bound));
    else if (tape_.size() < given_.size())
      drawn = given_[tape_.size()] % bound;
    tape_.push_back(drawn);
    return drawn;
  }
  bool one_in(std::uint32_t n) { return below(n) == n - 1; }
  int number(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint32_t>(high - low + 1)));
  }
  /// Returns one of the words. The first word must be the simplest choice.
  const std::string& one_of(const std::vector<std::string>& words) {
    last_ = words[below(static_cast<std::uint32_t>(words.size()))];
    return last_;
  }

  /// Returns all numbers that were drawn so far.
  const Tape& tape() const { return tape_; }

 private:
  Dice dice_;
  bool from_seed_ = false;
  Tape given_, tape_;
  std::string last_;
};

}  // namespace sluice::test
