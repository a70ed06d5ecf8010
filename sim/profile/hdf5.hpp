// A profile in its HDF5 form. Throws InputError, IoError.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace sluice {

Profile read_hdf5_profile(const std::string& path);
void write_hdf5_profile(const Profile& profile, const std::string& path);

}  // namespace sluice
