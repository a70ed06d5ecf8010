#include "trace/hdf5/hdf5.hpp"

#include <new>
#include <string_view>

#include "base/interrupt.hpp"

namespace sluice::hdf5 {

namespace {

bool set_up() {
  return H5dont_atexit() >= 0 && H5PLset_loading_state(0) >= 0;
}

/// Turns HDF5's own messages off for the current thread. Debian's build of HDF5 has one error stack per thread, so each
/// thread must call this function.
bool silence() {
  return H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
}

/// Keeps the description of the innermost error, which HDF5 visits first.
herr_t keep_first(unsigned, const H5E_error2_t* error, void* text) {
  auto& reason = *static_cast<std::string*>(text);
  if (reason.empty() && error->desc != nullptr) reason = error->desc;
  return 0;
}

constexpr std::string_view digits = "0123456789ABCDEF";

}  // namespace

std::unique_lock<std::recursive_mutex> lock() {
  static std::recursive_mutex mutex;
  std::unique_lock<std::recursive_mutex> held(mutex);
  static const bool ready = set_up();
  thread_local const bool silent = silence();
  if (!ready || !silent) throw Failure("the HDF5 library cannot be set up");
  return held;
}

void fail(const std::string& what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  H5Eclear2(H5E_DEFAULT);
  // HDF5 describes a failed write as "file write failed: time = …, errno = 28, error message = 'No space left on
  // device', …". Keeps only the text between the quotes.
  constexpr std::string_view mark = "error message = '";
  if (const auto begin = reason.find(mark); begin != std::string::npos) {
    const auto from = begin + mark.size();
    reason = reason.substr(from, reason.find('\'', from) - from);
  }
  // If zlib lacks memory, HDF5 only says "inflate() failed". So this reason may also mean a lack of memory.
  const bool may_lack_memory =
      reason.find("alloc") != std::string::npos || reason.find("inflate") != std::string::npos;
  if (may_lack_memory && memory_is_low()) throw std::bad_alloc();
  throw Failure(reason.empty() ? what : what + ": " + reason);
}

Handle string_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "string type");
  check(H5Tset_size(type, H5T_VARIABLE), "string type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "string type");
  return type;
}

std::string escaped(const std::string& name) {
  if (name.empty()) return "%";
  const bool dots = name.find_first_not_of('.') == std::string::npos;
  std::string step;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || byte == 0x7f || dots) {
      step += '%';
      step += digits[byte >> 4];
      step += digits[byte & 15];
    } else {
      step += c;
    }
  }
  return step;
}

std::string unescaped(const std::string& step) {
  if (step == "%") return "";
  std::string name;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const auto high = i + 2 < step.size() ? digits.find(step[i + 1]) : std::string_view::npos;
    const auto low = i + 2 < step.size() ? digits.find(step[i + 2]) : std::string_view::npos;
    if (step[i] == '%' && high != std::string_view::npos && low != std::string_view::npos) {
      name += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      name += step[i];
    }
  }
  return name;
}

std::string below(const std::string& group, const std::string& step) {
  std::string path = group;
  path += '/';
  path += step;
  return path;
}

}  // namespace sluice::hdf5
