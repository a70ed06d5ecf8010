#include "study/operator_fit/samples.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/error.hpp"
#include "cost/fitted/row_kernel.hpp"
#include "cost/fitted/sheet.hpp"
#include "profile/match.hpp"

namespace sluice {
namespace {

/// Returns true if `config` describes a module such as "Dropout(p=0)". Such a module returns its input unchanged, and
/// launches no kernel.
bool drops_nothing(const std::string& config) {
  const std::size_t at = config.find("(p=");
  return at != std::string::npos && std::strtod(config.c_str() + at + 3, nullptr) == 0;
}

/// Returns a key of a row. When samples are split into halves (train.hpp), rows with equal keys go into the same half.
/// If the operator has weights, the key names the operator without the size of its input. Otherwise, it names the
/// operator and its input.
std::string configuration_of(const ProfileRow& row, const Kernel& kernel) {
  const bool has_weights = kernel.of == "linear" || kernel.of == "conv" ||
                           kernel.of == "grouped_conv" || kernel.of == "batch_norm";
  if (has_weights && !row.config.empty()) return row.config;
  if (kernel.of == "linear")
    return std::to_string(kernel.columns) + "x" + std::to_string(kernel.depth);
  std::string text = row.operator_class + " " + row.config;
  for (const auto& [name, size] : row.sizes) text += " " + name + "=" + std::to_string(size);
  for (const auto& shape : row.inputs)
    for (const std::int64_t size : shape) text += " " + std::to_string(size);
  return text;
}

class Collector {
 public:
  explicit Collector(const DevicesByName& devices) : devices_(devices) {}

  void add(const Profile& profile, const ProfileRow& row) {
    const std::string why = refusal(row);
    if (!why.empty()) {
      ++found.left_out[why];
      return;
    }
    const std::string of = class_of_row(row);
    const DType dtype = row.dtype.empty() ? DType::float32 : dtype_of(row.dtype);
    const auto kernel = kernel_of(row, of, static_cast<double>(bytes_of(dtype)));
    if (!kernel) {
      ++found.left_out["with sizes that are not understood: " + row.operator_class];
      return;
    }
    const std::string device = row.device.empty() ? profile.text("device") : row.device;
    rows_[{of, dtype, device}].push_back(&row);
    class_of(of, dtype).samples.push_back({.kernel = *kernel,
                                           .configuration = configuration_of(row, *kernel),
                                           .sheet = sheet_of_row(device, dtype),
                                           .seconds = *row.time(),
                                           .joules = energy_of(profile, row, device)});
  }

  /// Throws InputError if rows of one class and one device were not all measured in the same way. For example, one fit
  /// cannot describe both rows with a hot cache and rows with a cold cache. The operators of these rows may differ.
  void require_alike_rows() const {
    for (const auto& [key, rows] : rows_) {
      const auto& [of, dtype, device] = key;
      require_alike(rows,
                    "operators of the class '" + of + "'" +
                        (device.empty() ? "" : " on '" + device + "'") + " were",
                    columns_of_operators());
    }
  }

  FitSamples found;

 private:
  static std::string refusal(const ProfileRow& row) {
    if (row.level != Level::leaf) return "of whole models or modules with children";
    if (row.pass != "forward") return "of another pass than forward";
    if (!row.time()) return "not measured";
    if (!(*row.time() > 0)) return "too short for the timer: 0 s";
    if (class_of_row(row).empty()) return "of a class that is not fitted: " + row.operator_class;
    if (drops_nothing(row.config)) return "of modules that drop nothing and therefore do nothing";
    return "";
  }

  ClassSamples& class_of(const std::string& name, DType dtype) {
    for (ClassSamples& each : found.classes)
      if (each.name == name && each.dtype == dtype) return each;
    return found.classes.emplace_back(ClassSamples{.name = name, .dtype = dtype, .samples = {}});
  }

  /// Returns the energy that fits learn: all energy that the device takes during the operator of the row, including the
  /// device's energy at rest.
  std::optional<double> energy_of(const Profile& profile, const ProfileRow& row,
                                  const std::string& device) {
    std::optional<double> joules = row.energy();
    if (joules && profile.joules_above_idle())
      *joules += profile.idle_w().value_or(device_of(device).idle_w) * *row.time();
    return joules;
  }

  const Device& device_of(const std::string& name) {
    if (const auto known = devices_.find(name); known != devices_.end()) return known->second;
    const auto any = devices_.find("");
    if (any == devices_.end())
      throw InputError("rows are of the device '" + name +
                       "', whose data sheet is not known: expected --on 'NAME=PLATFORM' for it");
    if (!stood_for_) stood_for_ = name;
    if (*stood_for_ != name)
      throw InputError("rows are of the devices '" + *stood_for_ + "' and '" + name +
                       "', but only one data sheet was given: expected --on 'NAME=PLATFORM' "
                       "for each, or --where 'device=" +
                       *stood_for_ + "' for the rows of one device");
    return any->second;
  }

  std::size_t sheet_of_row(const std::string& name, DType dtype) {
    const auto [at, fresh] = known_.try_emplace({name, dtype}, found.sheets.size());
    if (!fresh) return at->second;
    const Device& device = device_of(name);
    Sheet sheet = sheet_of(device, dtype);
    sheet.name = name.empty() ? device.name : name;
    found.sheets.push_back(sheet);
    return at->second;
  }

  const DevicesByName& devices_;
  std::map<std::pair<std::string, DType>, std::size_t> known_;
  std::map<std::tuple<std::string, DType, std::string>, std::vector<const ProfileRow*>> rows_;
  /// A data sheet without a name (its name is "") may be used for one device. This is the name of that device.
  std::optional<std::string> stood_for_;
};

}  // namespace

FitSamples samples_of(const std::vector<Profile>& profiles, const DevicesByName& devices) {
  Collector collector(devices);
  for (const Profile& profile : profiles)
    for (const ProfileRow& row : profile.rows) collector.add(profile, row);
  collector.require_alike_rows();
  std::stable_sort(collector.found.classes.begin(), collector.found.classes.end(),
                   [](const ClassSamples& a, const ClassSamples& b) { return a.name < b.name; });
  return std::move(collector.found);
}

}  // namespace sluice
