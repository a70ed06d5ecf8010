#include "base/error.hpp"
#include "profile/hdf5.hpp"

namespace sluice {
namespace {

Hdf5Form known;

}  // namespace

const Hdf5Form& hdf5_form(const std::string& path) {
  if (!known.read)
    throw InputError(
        "'" + path +
        "' is a profile in the HDF5 form. A Python process cannot read this form: write the profile as CSV with: "
        "sluice profile merge " +
        path + " -o profile.csv");
  return known;
}

void set_hdf5_form(const Hdf5Form& form) {
  known = form;
}

}  // namespace sluice
