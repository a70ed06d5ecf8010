// Uses libcrypto to compute the SHA-256 (FIPS 180-4) of a sequence of bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace sluice {

/// Computes the digest of bytes that are added in several calls. Throws InternalError if libcrypto cannot compute
/// SHA-256. For example, libcrypto may have been built without it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(const void* data, std::size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// Returns the digest of all bytes so far, as 64 hexadecimal digits. More bytes may be added afterwards.
  std::string hex() const;

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

/// Returns the digest of one text.
std::string sha256_of(std::string_view text);

}  // namespace sluice
