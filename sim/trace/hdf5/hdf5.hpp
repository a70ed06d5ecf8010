// A safe interface to the HDF5 library. Handles close themselves, every return value is checked, and only one thread
// works at a time. No code outside of sim/trace calls HDF5.
//
// HDF5 has global state, and not every build of HDF5 supports threads. So code that calls HDF5 holds lock(). A handle
// itself takes the lock when it closes. If HDF5 fails, check() throws a Failure with HDF5's innermost reason. The
// reader of traces turns a Failure into an InputError, and the writer turns it into an IoError.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace sluice::hdf5 {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Locks HDF5. The first call also sets HDF5 up. From then on, HDF5 writes no messages of its own to stderr, and loads
/// no filters from other files. HDF5 also skips its clean-up at exit, because this clean-up crashes if a disk was full.
[[nodiscard]] std::unique_lock<std::recursive_mutex> lock();

/// Throws a Failure that says "WHAT: HDF5's reason".
[[noreturn]] void fail(const std::string& what);

template <class Result>
Result check(Result result, const std::string& what) {
  if (result < 0) fail(what);
  return result;
}

/// An open HDF5 object. The constructor throws Failure if the call that opened the object failed.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close, const std::string& what) : id_(check(id, what)), close_(close) {}
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Handle() { close(); }

  operator hid_t() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  void release() { id_ = -1; }  ///< gives up the handle, so that the object stays open for ever
  /// Closes the object and returns HDF5's result, which is negative if HDF5 failed.
  herr_t close() {
    if (id_ < 0) return 0;
    const auto held = lock();
    return close_(std::exchange(id_, -1));
  }

 private:
  void swap(Handle& other) {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
  }
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Returns the type of variable-length UTF-8 strings.
Handle string_type();

/// Returns a name as one step of a path. The characters '/' and '%' and control characters are written as %2F and so
/// on. If a name has only dots, they are written in the same form. An empty name is written as "%".
std::string escaped(const std::string& name);
std::string unescaped(const std::string& step);
/// Returns the path GROUP/STEP.
std::string below(const std::string& group, const std::string& step);

}  // namespace sluice::hdf5
