#include "python/protocol.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace sluice::helper {
namespace {

constexpr std::size_t most_descriptors = 4;

[[noreturn]] void fail(const std::string& what) {
  throw IoError(what + ": " + std::strerror(errno));
}

std::size_t put_number(char* to, std::uint64_t number) {
  std::memcpy(to, &number, sizeof number);
  return sizeof number;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  reset();
  number_ = other.release();
  return *this;
}

int Descriptor::release() {
  return std::exchange(number_, -1);
}

void Descriptor::reset() {
  if (number_ >= 0) ::close(release());
}

Memory Memory::of(Descriptor file) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail("cannot look at an answer");
  Memory memory;
  memory.size_ = static_cast<std::size_t>(status.st_size);
  if (memory.size_ == 0) return memory;
  void* const data = ::mmap(nullptr, memory.size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) fail("cannot map an answer");
  memory.data_ = static_cast<char*>(data);
  return memory;
}

Memory Memory::make(std::size_t size) {
  Memory memory;
  memory.file_ = Descriptor(::memfd_create("sluice", MFD_CLOEXEC));
  if (!memory.file_) fail("cannot make a memory file");
  memory.size_ = size;
  if (size == 0) return memory;
  // Reserved at once: writing to a page that is not there would be a signal.
  errno = ::posix_fallocate(memory.file_.get(), 0, static_cast<off_t>(size));
  if (errno != 0) fail("no memory for " + std::to_string(size) + " bytes");
  void* const data =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file_.get(), 0);
  if (data == MAP_FAILED) fail("cannot map a memory file");
  memory.data_ = static_cast<char*>(data);
  return memory;
}

Memory::Memory(Memory&& other) noexcept
    : file_(std::move(other.file_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Memory::~Memory() {
  if (data_) ::munmap(data_, size_);
}

Memory packed(const std::vector<std::string_view>& parts) {
  std::size_t size = sizeof(std::uint64_t);
  for (const std::string_view part : parts) size += sizeof(std::uint64_t) + part.size();
  Memory memory = Memory::make(size);
  char* at = memory.data();
  at += put_number(at, parts.size());
  for (const std::string_view part : parts) {
    at += put_number(at, part.size());
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return memory;
}

std::vector<std::string_view> unpacked(const Memory& memory) {
  std::string_view rest = memory.view();
  const auto number = [&rest] {
    std::uint64_t value = 0;
    if (rest.size() < sizeof value) throw InternalError("a request is cut short");
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  };
  std::vector<std::string_view> parts;
  for (std::uint64_t left = number(); left > 0; --left) {
    const std::uint64_t size = number();
    if (size > rest.size()) throw InternalError("a request is cut short");
    parts.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return parts;
}

bool send(int socket, std::string_view bytes, const std::vector<int>& descriptors, bool wait) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size() * sizeof(int));
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) < 0) {
    if (errno == EINTR) continue;
    if (!wait && errno == EAGAIN) return false;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return false;
    fail("cannot send to another process");
  }
  return true;
}

Received receive(int socket, void* bytes, std::size_t size) {
  iovec part{bytes, size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  while ((count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == EINTR) continue;
    if (errno == ECONNRESET) break;
    fail("cannot receive from another process");
  }
  Received received;
  received.ended = count <= 0;
  received.size = count > 0 ? static_cast<std::size_t>(count) : 0;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    std::vector<int> numbers((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(numbers.data(), CMSG_DATA(head), numbers.size() * sizeof(int));
    for (const int number : numbers) received.descriptors.emplace_back(number);
  }
  return received;
}

}  // namespace sluice::helper
