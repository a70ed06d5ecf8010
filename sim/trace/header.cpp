#include "trace/header.hpp"

#include <array>

namespace sluice {

std::string_view name_of(TraceStatus status) {
  static constexpr std::array<std::string_view, 4> names = {"running", "complete", "aborted",
                                                            "failed"};
  return names[static_cast<std::size_t>(status)];
}

}  // namespace sluice
