// The configuration of a layer as text. Equal configurations have equal texts.
#pragma once

#include <string>

#include "model/catalog.hpp"

namespace sluice {

/// Returns the type and the layer's keys, sorted by name and with defaults filled in, such as "conv2d bias=true
/// channels=64 kernel=[3,3]". Optional keys that are absent are left out.
std::string config_of(const LayerType& type, const Reader& keys);

}  // namespace sluice
