// The HDF5 form of a profile. A program that has called know_hdf5_profiles() can read and write this form. A Python
// process does not call this function, because h5py may have loaded another HDF5 library, and a process must not load
// two HDF5 libraries.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace sluice {

struct Hdf5Form {
  /// Reads a profile. Throws InputError and IoError.
  Profile (*read)(const std::string& path) = nullptr;
  /// Writes the whole file, or changes nothing if that fails. Throws IoError.
  void (*write)(const Profile& profile, const std::string& path) = nullptr;
};

/// Enables this program to read and write profiles as HDF5. Must be called before any thread starts.
void know_hdf5_profiles();

/// Reads a profile in this process. A damaged file may crash the process. (hdf5_form().read() reads in a child process
/// instead.) Throws InputError and IoError.
Profile read_hdf5_profile_here(const std::string& path);

/// Returns the functions that read and write the HDF5 form. If know_hdf5_profiles() was not called, throws an
/// InputError that names `path`, the file to be read or written.
const Hdf5Form& hdf5_form(const std::string& path);
void set_hdf5_form(const Hdf5Form& form);

}  // namespace sluice
