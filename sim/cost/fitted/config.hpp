// Reads values from the text of a layer's configuration (Layer::config).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

struct Layer;

/// Returns the number of a text such as "heads=16". Returns `otherwise` if the configuration does not give it as a
/// number.
double config_number(const Layer& layer, std::string_view key, double otherwise);
/// Returns whether the configuration contains "dropout=true", or a number above 0.
bool config_is_on(const Layer& layer, std::string_view key);

}  // namespace sluice
