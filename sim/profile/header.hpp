// Checks the header of a profile.
#pragma once

#include "document/record.hpp"
#include "profile/profile.hpp"

namespace sluice {

const Record& profile_header_record();

/// Throws InputError at an unknown key, at a wrong value, and at a value without its unit.
void check_header(const Value& header);

}  // namespace sluice
