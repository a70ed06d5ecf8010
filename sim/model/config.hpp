// The canonical text of a layer's configuration.
#pragma once

#include <string>

#include "model/catalog.hpp"

namespace sluice {

/// "conv2d bias=true channels=64 kernel=[3,3]": the type, then its own keys by name with defaults
/// filled in. Optional keys that are absent are left out.
std::string config_of(const LayerType& type, const Reader& keys);

}  // namespace sluice
