// The helper is the process that runs simulations for Python. This file sends requests to the helper, and receives its
// messages. protocol.hpp describes their form.
#include <poll.h>
#include <pybind11/stl.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "python/module.hpp"
#include "python/protocol.hpp"

namespace sluice::python {
namespace {

std::string_view view_of(const py::buffer_info& buffer) {
  return {static_cast<const char*>(buffer.ptr),
          static_cast<std::size_t>(buffer.size * buffer.itemsize)};
}

bool send_request(int control, int channel, const std::vector<py::buffer>& parts) {
  std::vector<py::buffer_info> buffers;
  std::vector<std::string_view> views;
  for (const py::buffer& part : parts) {
    buffers.push_back(part.request());
    views.push_back(view_of(buffers.back()));
  }
  const py::gil_scoped_release free_gil;
  const helper::Memory memory = helper::packed(views);
  return helper::send(control, "R", {channel, memory.file().get()});
}

/// What a wait for a message from the helper has brought. During the wait, Python's global lock is released.
struct Arrival {
  bool in_time = false, ended = false;
  helper::Message message;
  std::optional<helper::Memory> memory;
};

Arrival wait_for(int channel, int timeout_ms) {
  Arrival arrival;
  pollfd ready{channel, POLLIN, 0};
  if (::poll(&ready, 1, timeout_ms) <= 0) return arrival;
  arrival.in_time = true;
  helper::Received received = helper::receive(channel, &arrival.message, sizeof arrival.message);
  arrival.ended = received.ended;
  if (received.ended) return arrival;
  if (received.size != sizeof arrival.message)
    throw InternalError("the helper sent half a message");
  if (!received.descriptors.empty())
    arrival.memory.emplace(helper::Memory::of(std::move(received.descriptors.front())));
  return arrival;
}

/// Waits at most `timeout_ms` milliseconds for a message. Returns the kind of the message, the two numbers in the
/// message, and the memory file that comes with an answer. If the channel was closed, the kind is "ended". Returns None
/// if no message has arrived in this time, or if a signal has ended the wait.
py::object receive(int channel, int timeout_ms) {
  Arrival arrival;
  {
    const py::gil_scoped_release free_gil;
    arrival = wait_for(channel, timeout_ms);
  }
  if (!arrival.in_time) return py::none();
  if (arrival.ended) return py::make_tuple("ended", 0, 0, py::none());
  using Kind = helper::Message::Kind;
  const helper::Message& message = arrival.message;
  const char* kind = message.kind == Kind::progress ? "progress"
                     : message.kind == Kind::answer ? "answer"
                                                    : "died";
  return py::make_tuple(
      kind, message.first, message.second,
      arrival.memory ? py::cast(std::move(*arrival.memory)) : py::object(py::none()));
}

}  // namespace

void bind_helper(py::module_& module) {
  py::class_<helper::Memory>(module, "Mapped", py::buffer_protocol())
      .def_buffer([](helper::Memory& memory) {
        return py::buffer_info(memory.data(), 1, py::format_descriptor<unsigned char>::format(), 1,
                               {static_cast<py::ssize_t>(memory.size())}, {py::ssize_t{1}}, true);
      })
      .def("__len__", &helper::Memory::size);
  module.def("send_request", &send_request);
  module.def("receive", &receive);
}

}  // namespace sluice::python
