// The configuration of a layer as text. Equal configurations have equal texts.
#pragma once

#include <string>

#include "model/catalog.hpp"

namespace sluice {

/// Returns the layer's type and its keys, for example "conv2d bias=true channels=64 kernel=[3,3]". The keys are
/// sorted by name and have their defaults filled in. Optional keys that are absent are left out.
std::string config_of(const LayerType& type, const Reader& keys);

}  // namespace sluice
