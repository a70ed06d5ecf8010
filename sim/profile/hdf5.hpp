// The HDF5 form of a profile. A program can read and write this form after a call of know_hdf5_profiles(). A Python
// process does not call this function: h5py may have loaded another HDF5 library, and one process must not load both
// libraries.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace sluice {

struct Hdf5Form {
  /// Reads a profile. Throws InputError and IoError.
  Profile (*read)(const std::string& path) = nullptr;
  /// Writes the file as a whole or not at all. Throws IoError.
  void (*write)(const Profile& profile, const std::string& path) = nullptr;
};

/// Enables this program to read and write profiles as HDF5. Call this function before any thread starts.
void know_hdf5_profiles();

/// Reads a profile in this process. A damaged file can crash the process. (hdf5_form().read() uses another process.)
/// Throws InputError and IoError.
Profile read_hdf5_profile_here(const std::string& path);

/// Returns the functions for the HDF5 form. If know_hdf5_profiles() was not called, throws an InputError that names
/// `path`.
const Hdf5Form& hdf5_form(const std::string& path);
void set_hdf5_form(const Hdf5Form& form);

}  // namespace sluice
