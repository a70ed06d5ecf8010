// Finds the best choices of the relaxation (relaxation.hpp) at several prices of a byte.
#pragma once

#include <memory>

#include "fates/optimal/relaxation.hpp"

namespace sluice {

class PricedChoices {
 public:
  /// The chain and the weights must outlive this object.
  PricedChoices(const Chain& chain, const FateWeights& weights);
  ~PricedChoices();

  /// Returns the best choices at this price, in seconds per byte.
  Choices at(double price);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice
