// Writes the configuration of a layer as a text. Equal configurations give equal texts.
#pragma once

#include <string>

#include "model/catalog.hpp"

namespace sluice {

/// Returns the layer's type and its keys, for example "conv2d bias=true channels=64 kernel=[3,3]". The keys are sorted
/// by name. If the layer leaves out a key, the text has this key with its default. If it has no default, it is left
/// out.
std::string config_of(const LayerType& type, const Reader& keys);

}  // namespace sluice
