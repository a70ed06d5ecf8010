// The HDF5 form of a profile, which is known only in programs that ask for it: the Python process
// plans, and so reads profiles, but no HDF5 library of Sluice's may come into it beside h5py's.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace sluice {

struct Hdf5Form {
  /// Throws InputError, IoError.
  Profile (*read)(const std::string& path) = nullptr;
  /// As a whole or not at all. Throws IoError.
  void (*write)(const Profile& profile, const std::string& path) = nullptr;
};

/// From now on this program reads and writes profiles as HDF5. Call it before any thread starts.
void know_hdf5_profiles();

/// The form, where the program knows it. Throws InputError that names `path` otherwise.
const Hdf5Form& hdf5_form(const std::string& path);
void set_hdf5_form(const Hdf5Form& form);

}  // namespace sluice
