// The header of a profile.
#pragma once

#include "document/record.hpp"
#include "profile/profile.hpp"

namespace sluice {

const Record& profile_header_record();

/// Throws InputError at the key or the value: unknown, of another type, a unit that is missing.
void check_header(const Value& header);

}  // namespace sluice
