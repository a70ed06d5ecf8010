#include "document/foreign.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/memory_file.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

constexpr std::int64_t largest_file = std::int64_t{1} << 30;
using Endings = std::vector<std::string> (*)();
constinit Endings foreign_endings = nullptr;  ///< set_foreign_endings() sets it
constexpr const char* key = "foreign";

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw IoError("cannot read '" + path + "': " + reason);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "a socket";
}

/// Returns a hint for a path at which no file exists. The hint suggests a similar file name, or says that the folder
/// does not exist.
std::string hint_for(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::exists(folder, error))
    return "; there is no folder '" + folder.string() + "'";
  std::vector<std::string> names;
  fs::directory_iterator entries(folder.empty() ? "." : folder, error), end;
  for (constexpr std::size_t most = 1000; !error && entries != end && names.size() < most;
       entries.increment(error))
    names.push_back((folder / entries->path().filename()).string());
  return did_you_mean(path, names);
}

/// Opens the file at `path` and returns the number of bytes of the file.
std::int64_t open_regular_file(const std::string& path, Descriptor& file) {
  // The file is opened without blocking, because opening a pipe without a writer would hang.
  file = Descriptor(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    const int number = errno;
    refuse(path, std::strerror(number) + (number == ENOENT ? hint_for(path) : std::string()));
  }
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) refuse(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    refuse(path, std::string("it is ") + kind_of(status.st_mode) + ", not a regular file");
  if (status.st_size > largest_file) refuse(path, "it is larger than 1 GiB");
  return status.st_size;
}

}  // namespace

void set_foreign_endings(std::vector<std::string> (*endings)()) {
  foreign_endings = endings;
}

bool is_foreign_name(std::string_view path) {
  if (!foreign_endings) return false;
  for (const std::string& ending : foreign_endings())
    if (path.ends_with(ending)) return true;
  return false;
}

Value foreign_value(const std::string& path) {
  Descriptor file;
  open_regular_file(path, file);
  const auto source = std::make_shared<const Source>(Source{path, ""});
  Value name = Value::make(path), value = Value::make_map();
  name.place(source, 0, 0);
  value.place(source, 0, 0);
  value.set(key, std::move(name));
  return value;
}

const std::string* foreign_path(const Value& value) {
  // If a value was read from a document, its source holds the text of the document. If a value represents a foreign
  // file, the text of its source is empty.
  if (!value.source() || !value.source()->text.empty()) return nullptr;
  const Value* path = value.find(key);
  return path && path->source() == value.source() ? &path->text() : nullptr;
}

std::string read_regular_file(const std::string& path) {
  Descriptor file;
  std::string text(static_cast<std::size_t>(open_regular_file(path, file)), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace sluice
