#include "base/headline.hpp"

namespace sluice {

std::string headline_of(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  if (!line.empty() && line.back() == ':') line.pop_back();
  return line;
}

}  // namespace sluice
