// One KEY=VALUE of the command line, taken apart.
#pragma once

#include <string>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct Override {
  std::vector<std::string> path;
  Value value;  ///< its source is the whole "KEY=VALUE"
};

/// Throws UsageError when `text` is not KEY=VALUE, InputError when VALUE is not YAML.
Override parse_override(const std::string& text);

/// Throws InputError where the path leads nowhere.
void apply_override(Value& document, const Override& override,
                    const std::vector<std::string>& may_be_absent = {});

}  // namespace sluice
