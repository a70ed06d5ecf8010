// The command `sluice profile fit` fits the seconds of operators as a function of their sizes.
#include <optional>

#include "base/figures.hpp"
#include "base/part_file.hpp"
#include "base/suggest.hpp"
#include "command/output.hpp"
#include "command/profile/subcommands.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "cost/fitted/document.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "study/operator_fit/samples.hpp"
#include "study/operator_fit/train.hpp"

namespace sluice {
namespace {

/// Reads the values of --on: the name of a platform, such as "t4", or a device's name in the profiles with its
/// platform, such as "Tesla T4=t4". The first device of the platform is the measured device.
DevicesByName devices_of(const Arguments& arguments) {
  DevicesByName devices;
  for (const std::string& on : arguments.texts("on")) {
    const std::size_t equals = on.rfind('=');
    const std::string name = equals == std::string::npos ? "" : on.substr(0, equals);
    const std::string platform = equals == std::string::npos ? on : on.substr(equals + 1);
    devices[name] = load_platform(platform).devices.front();
  }
  return devices;
}

Fit fit_of(const Arguments& arguments, const std::vector<Profile>& profiles,
           const FitSamples& samples) {
  const auto text = [&](const char* option) {
    return arguments.text(option, profiles.front().text(option));
  };
  Fit fit{.name = text("name"),
          .summary = text("summary"),
          .source = text("source"),
          .licence = text("licence"),
          .devices = samples.sheets};
  const TrainingOptions options{.splits = static_cast<int>(arguments.integer("splits", 5, 0, 1000)),
                                .corrections = !arguments.has("form-only")};
  for (const ClassSamples& each : samples.classes)
    fit.classes.push_back(train(each.name, each.dtype, each.samples, samples.sheets, options));
  return fit;
}

std::vector<std::string> error_cells(const std::optional<FitError>& error) {
  if (!error || error->count == 0) return {"-", "-"};
  return {percent(error->median), percent(error->ninety)};
}

std::string text_of(const Fit& fit, const FitSamples& samples) {
  TextTable table{
      .columns = {left("class"), left("dtype"), right("samples"), right("time"), right("9 of 10"),
                  right("energy"), right("9 of 10"), right("other device"), right("9 of 10")},
      .rows = {}};
  for (const ClassFit& each : fit.classes) {
    std::vector<std::string> row = {each.name, std::string(name_of(each.dtype)),
                                    std::to_string(each.samples)};
    for (const auto& error : {std::optional(each.time_error), each.energy_error, each.device_error})
      for (const std::string& cell : error_cells(error)) row.push_back(cell);
    table.rows.push_back(std::move(row));
  }
  std::string text =
      table.aligned() +
      "\nRelative errors for configurations that were not used for the fit. The first number is the "
      "median. Nine of ten errors are at most the second number.\n";
  for (const ClassFit& each : fit.classes)
    for (const auto& [device, error] : each.device_errors)
      text += each.name + " of '" + device +
              "', fitted to the other devices: " + percent(error.median) + ", nine of ten within " +
              percent(error.ninety) + "\n";
  for (const auto& [why, rows] : samples.left_out)
    text += std::to_string(rows) + (rows == 1 ? " row" : " rows") + " left out: " + printable(why) +
            "\n";
  return text;
}

Value error_json(const std::optional<FitError>& error) {
  if (!error || error->count == 0) return Value::make_null();
  return object(
      {{"median", error->median}, {"ninety", error->ninety}, {"predictions", error->count}});
}

Value errors_json(const ClassFit& fit) {
  Value errors = Value::make_map();
  for (const auto& [device, error] : fit.device_errors) errors.set(device, error_json(error));
  return errors;
}

std::string json_of(const Fit& fit, const FitSamples& samples) {
  Value left_out = Value::make_map();
  for (const auto& [why, rows] : samples.left_out) left_out.set(why, Value::make(rows));
  return to_json(object({{"format", "sluice-fit-report/1"},
                         {"classes", list_of(fit.classes,
                                             [](const ClassFit& each) {
                                               return object(
                                                   {{"class", each.name},
                                                    {"dtype", name_of(each.dtype)},
                                                    {"samples", each.samples},
                                                    {"error", error_json(each.time_error)},
                                                    {"energy_error", error_json(each.energy_error)},
                                                    {"device_error", error_json(each.device_error)},
                                                    {"device_errors", errors_json(each)}});
                                             })},
                         {"left_out", left_out}}));
}

/// Returns why rows are left out, with the number of rows for each reason. For example: "3 of a class that is not
/// fitted: Flatten, 2 not measured".
std::string reasons_of(const FitSamples& samples) {
  std::vector<std::string> reasons;
  for (const auto& [why, rows] : samples.left_out)
    reasons.push_back(std::to_string(rows) + " " + why);
  return join(reasons);
}

int run_fit(const Arguments& arguments) {
  if (!arguments.has("on"))
    throw UsageError(
        "a fit needs the data sheet of the measured device: give --on PLATFORM, or --on 'NAME OF "
        "THE DEVICE=PLATFORM' for each of several devices");
  const std::string path = arguments.text("output");
  // A fit takes minutes. So the file is opened before the fit, and an error of its path is reported at once.
  std::optional<PartFile> file;
  if (!path.empty()) {
    refuse_to_replace(arguments, path, Output::document);
    file.emplace(path);
  }
  std::vector<Profile> profiles;
  for (const std::string& profile : arguments.positionals)
    profiles.push_back(read_profile(arguments, profile));
  const FitSamples samples = samples_of(profiles, devices_of(arguments));
  if (samples.classes.empty())
    throw InputError("none of the rows can be fitted" + (samples.left_out.empty()
                                                             ? std::string("; there are no rows")
                                                             : ": " + reasons_of(samples)));
  const Fit fit = fit_of(arguments, profiles, samples);
  if (file) {
    file->write(fit_text(fit));
    file->commit();
    message("sluice: wrote '" + path + "'");
  }
  print(arguments.has("json") ? json_of(fit, samples) + "\n" : text_of(fit, samples));
  return 0;
}

std::vector<Option> options() {
  std::vector<Option> all = reading_options();
  all.push_back(
      {.name = "on",
       .value = "PLATFORM",
       .summary =
           "the platform whose first device was measured. For profiles of several devices, give "
           "NAME=PLATFORM for each device",
       .repeated = true});
  all.push_back({.name = "output",
                 .letter = 'o',
                 .value = "FILE",
                 .summary = "the file to which the fit is written, a sluice-fit/1 document",
                 .absent = "no file is written. The errors of the fit are printed"});
  all.push_back(force_option(Output::document));
  all.push_back(
      {.name = "splits",
       .value = "N",
       .summary =
           "how often the configurations are divided into two random halves to compute errors",
       .absent = "5"});
  all.push_back({.name = "form-only",
                 .summary = "make a short file: only the formula's parameters, without the deviations at the measured "
                            "sizes"});
  for (const char* key : {"name", "summary", "source", "licence"})
    all.push_back({.name = key,
                   .value = "TEXT",
                   .summary = std::string("the fit's ") + key,
                   .absent = "the first profile's"});
  all.push_back({.name = "json", .summary = "print the errors as JSON"});
  return all;
}

}  // namespace

extern const Command profile_fit_command = {
    .name = "profile fit",
    .summary = "Fits the seconds of operators as a function of their sizes.",
    .usage = {"PROFILE... --on PLATFORM [-o FILE] [--form-only] [--splits N] [--json]"},
    .least = 1,
    .most = 1000,
    .positionals = "PROFILE...",
    .options = options(),
    .details =
        "There is a fit for each class of operators, such as linear, bmm, conv or softmax, and for each dtype. "
        "fits/FORMAT.md describes the formula and the classes. To estimate the errors, the command fits one half of the "
        "configurations and predicts the other half. If there are several devices, the seconds of each device are also "
        "predicted by a fit to all other devices. Use the file in a scenario as cost: {model: fitted, file: FILE}.\n",
    .examples =
        {{"sluice profile fit operators.csv --on t4 -o t4.yaml", "a fit of one card"},
         {"sluice profile fit a.csv b.csv --on 'Tesla T4=t4' --on 'Tesla P100=p100_pcie'",
          "a fit of two cards, and the errors for each card when only the other card is fitted"}},
    .run = run_fit,
};

}  // namespace sluice
