// The interface between the engine's module and the program that loads it. Loading SimGrid takes longer than most runs
// take. So the engine is a module, and only runs with SimGrid load it. The module has its own copy of Sluice's code.
// But a few functions must run in the program's copy. EngineHost gives the module these functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "execute/simgrid/engine.hpp"

namespace sluice {

inline constexpr std::size_t stack_kib = 1024;  ///< the size of each actor's stack, in KiB

struct EngineHost {
  void (*check_interrupt)();  ///< the function check_interrupt of base/interrupt.hpp
  /// The module calls this function after SimGrid has installed its own signal handlers.
  void (*take_back_handlers)();
};

struct EngineModule {
  /// The digest of the library from which the module is linked. If this digest differs from the program's own digest,
  /// the module belongs to another build of Sluice.
  std::string_view digest;
  /// Executes the plan like execute() of engine.hpp, but returns a deadlock in the report instead of throwing an
  /// exception.
  EngineReport (*run)(const Plan& plan, Sink& sink, const EngineOptions& options);
  std::string (*settings)(const Plan& plan);
  std::string (*version)();
};

/// The type of the only function that a program looks up in the module.
using EngineEntry = const EngineModule*(const EngineHost& host);
inline constexpr const char* engine_entry_name = "sluice_engine_module";

}  // namespace sluice

extern "C" const sluice::EngineModule* sluice_engine_module(const sluice::EngineHost& host);
