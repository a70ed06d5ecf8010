// Reads values from the text of a layer's configuration (Layer::config).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

struct Layer;

/// Returns the number behind a key, such as 16 in "heads=16". Returns `otherwise` if the configuration has no number
/// for the key.
double config_number(const Layer& layer, std::string_view key, double otherwise);
/// Returns whether a key is on. Its value is then "true" or a number above 0, for example "dropout=true".
bool config_is_on(const Layer& layer, std::string_view key);

}  // namespace sluice
