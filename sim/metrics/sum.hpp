// A sum of many numbers in which rounding errors do not add up. The method is from A. Neumaier, Rundungsfehleranalyse
// einiger Verfahren zur Summation endlicher Summen, ZAMM 54 (1974).
#pragma once

#include <cmath>

namespace sluice {

class Sum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    correction_ +=
        std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  double value() const { return sum_ + correction_; }

 private:
  double sum_ = 0, correction_ = 0;
};

}  // namespace sluice
