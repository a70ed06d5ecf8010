// What a layer's configuration says (Layer::config), read from its text.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

struct Layer;

/// The number of "heads=16"; `otherwise` where the configuration does not say it as a number.
double config_number(const Layer& layer, std::string_view key, double otherwise);
/// Whether the configuration says "dropout=true", or a number above 0.
bool config_is_on(const Layer& layer, std::string_view key);

}  // namespace sluice
