#include "cost/fitted/config.hpp"

#include <cstdlib>

#include "model/model.hpp"

namespace sluice {
namespace {

/// Returns the text after " KEY=" up to the next blank.
std::string text_of(const Layer& layer, std::string_view key) {
  const std::string word = " " + std::string(key) + "=";
  const std::size_t at = layer.config.find(word);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + word.size();
  return layer.config.substr(begin, layer.config.find(' ', begin) - begin);
}

}  // namespace

double config_number(const Layer& layer, std::string_view key, double otherwise) {
  const std::string text = text_of(layer, key);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? otherwise : number;
}

bool config_is_on(const Layer& layer, std::string_view key) {
  const std::string text = text_of(layer, key);
  return !text.empty() && text != "false" && text != "0";
}

}  // namespace sluice
