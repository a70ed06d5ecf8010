#include "python/protocol.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/packed_strings.hpp"

namespace sluice::helper {
namespace {

constexpr std::size_t most_descriptors = 4;

[[noreturn]] void fail(const std::string& what) {
  throw IoError(what + ": " + std::strerror(errno));
}

}  // namespace

Memory packed(const std::vector<std::string_view>& parts) {
  Memory memory = Memory::make(packed_size(parts));
  pack_into(memory.data(), parts);
  return memory;
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
