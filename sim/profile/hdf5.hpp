// The HDF5 form of a profile. Only programs that ask for it know this form. The Python process also reads profiles when
// it plans, but Sluice's HDF5 library must not be loaded there beside that of h5py.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace sluice {

struct Hdf5Form {
  /// Throws InputError, IoError.
  Profile (*read)(const std::string& path) = nullptr;
  /// Writes the file as a whole or not at all. Throws IoError.
  void (*write)(const Profile& profile, const std::string& path) = nullptr;
};

/// Makes this program read and write profiles as HDF5. Call it before any thread starts.
void know_hdf5_profiles();

/// Returns the form if the program knows it. Otherwise throws InputError, which names `path`.
const Hdf5Form& hdf5_form(const std::string& path);
void set_hdf5_form(const Hdf5Form& form);

}  // namespace sluice
