#include "cost/fitted/record.hpp"

#include "base/dtype.hpp"
#include "cost/fitted/form.hpp"

namespace sluice {
namespace {

Field text(std::string name, std::string summary, bool optional = true) {
  return {.name = std::move(name), .summary = std::move(summary), .optional = optional};
}

Field quantity(std::string name, Dimension dimension, std::string summary) {
  return {.name = std::move(name),
          .type = Type::quantity,
          .summary = std::move(summary),
          .dimension = dimension,
          .minimum_excluded = true};
}

Field number(std::string name, std::string summary) {
  return {.name = std::move(name), .type = Type::number, .summary = std::move(summary)};
}

Field mapping(std::string name, std::string summary, const Record& record, bool optional = false) {
  return {.name = std::move(name),
          .type = Type::mapping,
          .summary = std::move(summary),
          .optional = optional,
          .record = &record};
}

Field list(std::string name, std::string summary, const Record* record) {
  return {
      .name = std::move(name), .type = Type::list, .summary = std::move(summary), .record = record};
}

Record of_form(std::string name, std::string summary, const std::vector<FormParameter>& form) {
  Record record{std::move(name), std::move(summary), {}};
  for (const FormParameter& parameter : form) {
    record.fields.push_back(number(parameter.name, parameter.summary));
    record.fields.back().minimum_excluded = parameter.divides;
  }
  return record;
}

}  // namespace

const Record& fit_device_record() {
  static const Record record = [] {
    Field watts = quantity("watts", Dimension::watts,
                           "The greatest power, in watts, that the device may take.");
    watts.optional = true;
    return Record{
        "device of a fit",
        "A device that was measured, with the figures of its data sheet.",
        {text("name", "The name of the device.", /*optional=*/false),
         {.name = "units",
          .type = Type::integer,
          .summary =
              "The number of units that compute side by side: streaming multiprocessors, cores.",
          .minimum = 1},
         quantity("rate", Dimension::flop_per_s, "The rate of all units together, in FLOP/s."),
         quantity("bandwidth", Dimension::bytes_per_s,
                  "The bandwidth of the device's default memory, in byte/s."),
         quantity("cache", Dimension::bytes,
                  "The size of the last cache before the memory, in bytes."),
         watts}};
  }();
  return record;
}

const Record& fit_error_record() {
  static const Record record = {
      "error of a fit",
      "Relative errors for operators that the fit has not seen. 0.05 is 5 %.",
      {number("median", "The median."),
       number("ninety", "The 90th percentile."),
       {.name = "predictions",
        .type = Type::integer,
        .summary = "The number of operators that were compared."}}};
  return record;
}

const Record& fit_named_error_record() {
  static const Record record = [] {
    Record named = fit_error_record();
    named.name = "error of a fit for a device";
    named.summary = "Relative errors for the operators of a device that the fit has not seen.";
    named.fields.insert(named.fields.begin(),
                        text("device", "The name of the device.", /*optional=*/false));
    return named;
  }();
  return record;
}

const Record& fit_range_record() {
  static const Record record = {
      "range of a fit",
      "The least and the greatest measured value of each size.",
      {list(
           "count",
           "The number of products that are computed side by side. 1 for operators that only read and write.",
           nullptr),
       list("rows", "The rows of the result.", nullptr),
       list("columns", "The columns of the result, or the elements of a row.", nullptr),
       list("depth", "The depth of a product. 1 for operators that only read and write.", nullptr),
       list("density", "The bytes read and written per element of the matrices.", nullptr)}};
  return record;
}

const Record& fit_time_record() {
  static const Record record =
      of_form("form of time", "Parameters of the formula for the time.", form_parameters());
  return record;
}

const Record& fit_energy_record() {
  static const Record record =
      of_form("form of energy", "Parameters of the formula for the energy.", energy_parameters());
  return record;
}

const Record& fit_class_record() {
  static const Field by_device = [] {
    Field errors = list("device_errors", "The errors in device_error, for each device separately.",
                        &fit_named_error_record());
    errors.optional = true;
    return errors;
  }();
  static const Record record = {
      "class of a fit",
      "A class of operators in one dtype.",
      {text("class", "linear, bmm, softmax, …: see `fits/FORMAT.md`.", /*optional=*/false),
       {.name = "dtype",
        .type = Type::choice,
        .summary = "The dtype of the measurements.",
        .choices = dtype_names()},
       {.name = "samples",
        .type = Type::integer,
        .summary = "The number of samples that were fitted."},
       mapping("error",
               "The errors when the fit of one half of the samples estimates the other half.",
               fit_error_record()),
       mapping(
           "energy_error",
           "The errors of the energy when the fit of one half of the samples estimates the other "
           "half.",
           fit_error_record(), /*optional=*/true),
       mapping("device_error",
               "The errors over all devices, when each device is estimated by a fit of all other "
               "devices.",
               fit_error_record(), /*optional=*/true),
       by_device,
       mapping("range", "The least and the greatest measured value of each size.",
               fit_range_record()),
       mapping("time", "The parameters of the formula for the time.", fit_time_record()),
       mapping("energy", "The parameters of the formula for the energy.", fit_energy_record(),
               /*optional=*/true),
       text(
           "left",
           "The deviations from the formulas for time and energy, as logarithms, with one line per measured "
           "kernel.")}};
  return record;
}

const Record& fit_record() {
  static const Record record = {
      "fit",
      "The seconds of operators as a function of their sizes, fitted to measurements.",
      {text("format", "sluice-fit/1", /*optional=*/false), text("name", "The name of the fit."),
       text("summary", "One sentence."), text("source", "Where the measurements come from."),
       text("licence", "The licence of the measurements."),
       list("devices", "The devices that were measured.", &fit_device_record()),
       list("classes", "Classes of operators.", &fit_class_record())}};
  return record;
}

}  // namespace sluice
