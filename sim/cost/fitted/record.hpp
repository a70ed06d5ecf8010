// The records of a sluice-fit/1 document.
#pragma once

#include "document/record.hpp"

namespace sluice {

const Record& fit_record();
const Record& fit_device_record();
const Record& fit_class_record();
const Record& fit_error_record();
const Record& fit_named_error_record();
const Record& fit_range_record();
/// Returns the record of the form's parameters, in the order of form_parameters().
const Record& fit_time_record();
const Record& fit_energy_record();

}  // namespace sluice
