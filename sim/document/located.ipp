#pragma once

namespace sluice {

template <class Action>
decltype(auto) located(const Value& where, Action&& action) {
  try {
    return action();
  } catch (const CountError& error) {
    if (error.has_position()) throw;
    throw CountError(where.position(), error.what());
  } catch (const InputError& error) {
    if (error.has_position()) throw;
    throw InputError(where.position(), error.what());
  }
}

}  // namespace sluice
