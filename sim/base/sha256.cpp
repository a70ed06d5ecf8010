#include "base/sha256.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>

#include <array>
#include <new>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace sluice {

namespace {

EVP_MD_CTX* context_of(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

void require(int ok) {
  if (ok == 1) return;
  const unsigned long error = ERR_peek_last_error();
  // If memory is used up, libcrypto sometimes fails without an error code. Sometimes it says instead that it does not
  // know SHA-256.
  if (error == 0 || ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE || memory_is_low())
    throw std::bad_alloc();
  std::array<char, 256> reason{};
  ERR_error_string_n(error, reason.data(), reason.size());
  throw InternalError("libcrypto cannot compute SHA-256: " + std::string(reason.data()));
}

/// When OpenSSL looks for an algorithm for the first time, it needs at most this number of bytes.
constexpr std::size_t room_for_openssl = 4'000'000;

/// Returns OpenSSL's object for SHA-256. OpenSSL is asked only once: to find the algorithm takes longer than to hash a
/// short text.
const EVP_MD* algorithm() {
  // When OpenSSL looks for an algorithm for the first time, it crashes if it gets no memory. So the next line first
  // allocates as many bytes as OpenSSL needs. If there is too little memory, `new` throws std::bad_alloc.
  static const bool has_room = (::operator delete(::operator new(room_for_openssl)), true);
  static_cast<void>(has_room);
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  require(found != nullptr);
  return found;
}

}  // namespace

void Sha256::Free::operator()(void* context) const {
  EVP_MD_CTX_free(context_of(context));
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr);
  require(EVP_DigestInit_ex(context_of(context_.get()), algorithm(), nullptr));
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(const void* data, std::size_t bytes) {
  require(EVP_DigestUpdate(context_of(context_.get()), data, bytes));
}

std::string Sha256::hex() const {
  // After EVP_DigestFinal_ex, a context takes no more bytes. So this function works on a copy, and more bytes can be
  // added to this object.
  Sha256 copy;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  require(EVP_MD_CTX_copy_ex(context_of(copy.context_.get()), context_of(context_.get())));
  require(EVP_DigestFinal_ex(context_of(copy.context_.get()), digest.data(), &length));
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < length; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

}  // namespace sluice
