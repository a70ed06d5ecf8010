// Profiles hold operators with their measured seconds and joules. A profile is a table with a header.
// sim/profile/FORMAT.md describes the columns. The header says how and on which device the profile was measured.
// The seconds, joules, FLOP and bytes of a row are those of one call of its operator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/value.hpp"
#include "profile/statistics.hpp"

namespace sluice {

/// Whether the row has been measured. `failed` means that a measurement has failed and will not be tried again.
enum class Processed : std::uint8_t { no, yes, failed };

/// The kind of a row: an operator (leaf), a module with children (inner), or a whole model. Cost models use only
/// leaves, and only leaves are added up. The row of a whole model is compared with the sum of the model's leaves.
enum class Level : std::uint8_t { leaf, inner, whole };

struct ProfileRow {
  std::string operator_class;  ///< column `operator`
  std::string config, node;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  ///< m, n, k, ...
  /// The shapes as measured, with the batch first.
  std::vector<std::vector<std::int64_t>> inputs, outputs;
  std::optional<std::int64_t> batch;
  std::string dtype;
  double sparsity = 0;
  std::string pass = "forward";
  std::vector<std::string> input_pools, output_pools;
  std::string cache, method, device;
  Level level = Level::leaf;
  std::string model;
  std::int64_t occurrences = 1;
  std::optional<double> flop, bytes;
  double calls = 1;  ///< the number of calls in each sample of the measurement
  Statistics seconds, joules;
  std::optional<double> joules_error;
  Processed processed = Processed::no;
  /// In a plan of measurements: the number of the row's run. All rows of a run are measured together.
  std::optional<std::int64_t> run;
  std::string note;
  int line = 0;  ///< its line in the CSV file or its number in the HDF5 file; 0 if it was not read

  /// Returns the seconds of a call: the median, or the mean if there is no median. Returns nullopt if the row was not
  /// measured.
  std::optional<double> time() const { return seconds.value(); }
  std::optional<double> energy() const { return joules.value(); }
  std::optional<std::int64_t> size(std::string_view name) const;
};

struct Profile {
  Value header = Value::make_map();  ///< the header, which has been checked against its record
  std::vector<ProfileRow> rows;
  std::string path;  ///< the path of the file from which the profile was read, for messages
  /// The text of the CSV file. If there is no file, or the file has the HDF5 form, the pointer is null.
  std::shared_ptr<const Source> source = {};

  /// Throws InputError with this message, and the line or the number of the row (ProfileRow::line).
  [[noreturn]] void fail(const ProfileRow& row, const std::string& message) const;

  /// Returns the text of a key of the header, or an empty text if the key is absent.
  std::string text(std::string_view key) const;
  /// Returns the power, in watts, that the measured device takes at rest, or nullopt if the header does not give it.
  std::optional<double> idle_w() const;
  bool joules_above_idle() const { return text("joules") == "above_idle"; }
};

/// Returns a text by which a person can recognise the row, such as "gemm m=8192;n=4096 bfloat16".
std::string words_of(const ProfileRow& row);

/// Reads a profile in CSV or HDF5, or a table of another program. The content of the file shows which of these it is.
/// Some tables of other programs are recognised by their headings, which are in the files of sim/profile/tables. For
/// all other tables, `map` must be the path of a sluice-profile-map/1 document. Throws InputError with file, line and
/// column. Throws IoError.
Profile load_profile(const std::string& path, const std::string& map = {});
/// Does the same as load_profile, but reads a text in memory instead of a file.
Profile parse_profile(std::string text, const std::string& name, const std::string& map = {});

/// Returns the profile in the CSV form. Columns that are empty in all rows are left out.
std::string profile_text(const Profile& profile);
/// Writes the profile as a whole or not at all. If the name ends in .h5 or .hdf5, the file is in the HDF5 form. All
/// other files are in the CSV form. Throws IoError.
void write_profile(const Profile& profile, const std::string& path);

}  // namespace sluice
