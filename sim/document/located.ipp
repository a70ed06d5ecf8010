#pragma once

namespace sluice {

template <class Action>
auto located(const Value& where, Action&& action) {
  try {
    return action();
  } catch (const InputError& error) {
    if (std::string_view(error.what()).find(": error: ") != std::string_view::npos) throw;
    throw InputError(where.position(), error.what());
  }
}

}  // namespace sluice
