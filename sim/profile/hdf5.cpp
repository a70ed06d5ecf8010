#include "profile/hdf5.hpp"

#include <cmath>
#include <cstdio>

#include "base/part_file.hpp"
#include "base/processes.hpp"
#include "base/quantity.hpp"
#include "document/load.hpp"
#include "profile/cells.hpp"
#include "profile/columns.hpp"
#include "profile/header.hpp"
#include "profile/merge.hpp"
#include "trace/hdf5/column.hpp"
#include "trace/hdf5/file_reader.hpp"

namespace sluice {
namespace {

using Kind = ProfileColumn::Kind;

std::string path_of(const std::string& column) {
  return "/rows/" + column;
}

/// Writes a profile as an HDF5 file. Each column becomes a dataset, and a column with samples becomes two.
class HdfWriter {
 public:
  HdfWriter(const Profile& profile, const std::string& path) : profile_(profile), tree_(path) {}

  void write() {
    tree_.attribute("/", "format", "sluice-profile/1");
    tree_.attribute("/", "header", to_yaml(profile_.header));
    tree_.group("/rows");
    for (const ProfileColumn& column : profile_columns()) {
      if (column.kind == Kind::text)
        texts(column);
      else if (column.kind == Kind::number)
        numbers(path_of(column.name), cells(column), column.summary);
      else
        samples(column);
    }
    tree_.close();
  }

 private:
  std::vector<std::string> cells(const ProfileColumn& column) const {
    std::vector<std::string> list;
    for (const ProfileRow& row : profile_.rows) list.push_back(column.get(row));
    return list;
  }

  void texts(const ProfileColumn& column) {
    const std::vector<std::string> list = cells(column);
    std::vector<const char*> pointers;
    for (const std::string& text : list) pointers.push_back(text.c_str());
    Tree::Texts dataset(tree_, path_of(column.name), list.size(), column.summary);
    dataset.append(pointers);
    dataset.finish();
  }

  void numbers(const std::string& path, const std::vector<std::string>& list,
               const std::string& summary) {
    Column dataset(tree_, filter_, path, Cell::of<double>(), std::max<std::size_t>(list.size(), 1),
                   "", summary);
    dataset.append<double>(list.size(), [&](std::size_t i) {
      return list[i].empty() ? std::nan("") : cell::number(list[i]);
    });
    dataset.finish();
  }

  void samples(const ProfileColumn& column) {
    std::vector<std::string> all, counts;
    for (const ProfileRow& row : profile_.rows) {
      const std::string text = column.get(row);
      const auto parts = text.empty() ? std::vector<std::string>() : cell::parts_of(text);
      counts.push_back(std::to_string(parts.size()));
      all.insert(all.end(), parts.begin(), parts.end());
    }
    numbers(path_of(column.name), all, column.summary);
    numbers(path_of(column.name + "_rows"), counts, "how many samples each row has");
  }

  const Profile& profile_;
  Tree tree_;
  ChunkFilter filter_;
};

class HdfReader {
 public:
  explicit HdfReader(const std::string& path) : path_(path), file_(path) {}

  Profile read() {
    Profile profile;
    profile.path = path_;
    profile.header = parse_text(file_.text_attribute("/", "header"), path_);
    check_header(profile.header);
    if (!file_.is_group("/rows")) throw hdf5::Failure("the group 'rows' is missing");
    require_known_columns();
    profile.rows.resize(file_.texts(path_of("operator")).size());
    std::vector<bool> marked(profile.rows.size());
    for (const ProfileColumn& column : profile_columns())
      if (file_.has(path_of(column.name))) fill(profile, column, marked);
    settle(profile, marked);
    require_distinct(profile);
    return profile;
  }

 private:
  void require_known_columns() const {
    for (const std::string& name : file_.members("/rows")) {
      const bool counts = name == "seconds_samples_rows" || name == "joules_samples_rows";
      if (!counts) profile_column(name);
    }
  }

  void fill(Profile& profile, const ProfileColumn& column, std::vector<bool>& marked) {
    const std::vector<std::string> cells = texts(column);
    if (cells.size() != profile.rows.size())
      throw hdf5::Failure("'" + column.name + "' has " + std::to_string(cells.size()) +
                          " rows; expected " + std::to_string(profile.rows.size()) +
                          ", as many as 'operator'");
    for (std::size_t r = 0; r < cells.size(); ++r) {
      if (cells[r].empty()) continue;
      at(r, column.name, [&] { column.set(profile.rows[r], cells[r]); });
      if (column.name == "processed") marked[r] = true;
    }
  }

  std::vector<std::string> texts(const ProfileColumn& column) {
    const std::string path = path_of(column.name);
    if (column.kind == Kind::text) return file_.texts(path);
    const auto numbers = file_.numbers(path);
    if (column.kind == Kind::samples) return joined(column, numbers);
    std::vector<std::string> list;
    for (const double number : numbers)
      list.push_back(std::isnan(number) ? std::string() : exact(number));
    return list;
  }

  std::vector<std::string> joined(const ProfileColumn& column, const std::vector<double>& numbers) {
    std::vector<std::string> list;
    std::size_t at = 0;
    for (const double count : file_.numbers(path_of(column.name + "_rows"))) {
      if (!(count >= 0) || count > static_cast<double>(numbers.size() - at))
        throw hdf5::Failure("'" + column.name + "' has fewer samples than '" + column.name +
                            "_rows' says");
      const auto end = at + static_cast<std::size_t>(count);
      list.push_back(
          cell::text_of(std::vector<double>(numbers.begin() + static_cast<std::ptrdiff_t>(at),
                                            numbers.begin() + static_cast<std::ptrdiff_t>(end))));
      at = end;
    }
    return list;
  }

  void settle(Profile& profile, const std::vector<bool>& marked) {
    for (std::size_t r = 0; r < profile.rows.size(); ++r) {
      ProfileRow& row = profile.rows[r];
      row.line = static_cast<int>(r) + 1;
      if (!marked[r] && (row.seconds.known() || !row.seconds.samples.empty()))
        row.processed = Processed::yes;
      at(r, "operator", [&] {
        if (row.operator_class.empty()) throw InputError("it is empty");
        settle_row(row);
      });
    }
  }

  template <class Work>
  void at(std::size_t row, const std::string& column, Work&& work) {
    try {
      work();
    } catch (const InputError& error) {
      throw InputError(path_ + ": error: row " + std::to_string(row + 1) + ", " + column + ": " +
                       error.what());
    }
  }

  const std::string path_;
  FileReader file_;
};

/// Reads the file, and returns the profile in the CSV form. There, the key `format` must come first in the header.
std::string text_of_file(const std::string& path) {
  Profile profile = read_hdf5_profile_here(path);
  Value header = Value::make_map();
  if (const Value* format = profile.header.find("format")) header.set("format", *format);
  for (const Value::Entry& entry : profile.header.entries()) header.set(entry.key, entry.value);
  profile.header = header;
  return profile_text(profile);
}

/// HDF5 stores texts of variable length in heaps, and the HDF5 library does not check the sizes of heaps. So if a file
/// is damaged, the library may crash or never return. That is why a child process reads the file, and returns the
/// profile in the CSV form.
const ChildWork read_work("read_hdf5_profile",
                          [](std::string_view path) { return text_of_file(std::string(path)); });

Profile read_hdf5_profile(const std::string& path) {
  constexpr ChildLimits limits = {.more_bytes = std::int64_t{8} << 30, .cpu_s = 60, .wall_s = 120};
  std::string text;
  try {
    text = run_isolated(read_work, path, limits);
  } catch (const InternalError& error) {
    throw InputError(
        path + ": error: not a readable profile: the process that reads it ended early (" +
        error.what() +
        "). The file is damaged, or it takes more than 8 GiB of memory, 60 s of processor time or 120 s "
        "to read: restore the file from a copy, or write the profile as CSV.");
  }
  Profile profile = parse_profile(std::move(text), path);
  profile.source = nullptr;
  int row = 0;
  for (ProfileRow& read : profile.rows) read.line = ++row;
  return profile;
}

void write_hdf5_profile(const Profile& profile, const std::string& path) {
  const auto held = hdf5::lock();
  PartFile part(path);
  try {
    HdfWriter(profile, part.path()).write();
  } catch (const hdf5::Failure& failure) {
    throw IoError("cannot write '" + path + "': " + failure.what());
  }
  part.commit();
}

}  // namespace

Profile read_hdf5_profile_here(const std::string& path) {
  const auto held = hdf5::lock();
  try {
    return HdfReader(path).read();
  } catch (const hdf5::Failure& failure) {
    throw InputError(path + ": error: not a readable profile: " + failure.what());
  }
}

void know_hdf5_profiles() {
  set_hdf5_form({read_hdf5_profile, write_hdf5_profile});
}

}  // namespace sluice
