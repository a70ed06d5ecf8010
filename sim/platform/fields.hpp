// Short functions that make the fields of the records of a platform document. A field declares one key of a record.
#pragma once

#include <string>
#include <utility>

#include "document/record.hpp"

namespace sluice {

inline Field quantity(std::string name, Dimension dimension, std::string summary) {
  return {.name = std::move(name),
          .type = Type::quantity,
          .summary = std::move(summary),
          .dimension = dimension};
}

inline Field with_default(Field field, std::string written) {
  field.default_text = std::move(written);
  return field;
}

inline Field may_be_absent(Field field) {
  field.optional = true;
  return field;
}

inline Field above_zero(Field field) {
  field.minimum_excluded = true;
  return field;
}

}  // namespace sluice
