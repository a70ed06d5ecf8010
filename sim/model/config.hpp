// The canonical text of a layer's configuration.
#pragma once

#include <string>

#include "model/catalog.hpp"

namespace sluice {

/// Returns the type, then the layer's keys by name with defaults filled in: "conv2d bias=true
/// channels=64 kernel=[3,3]". Optional keys that are absent are left out.
std::string config_of(const LayerType& type, const Reader& keys);

}  // namespace sluice
