// What the engine's module and the program that loads it tell each other. SimGrid takes longer to
// load than most runs take, so it is in a module of its own, which is opened where somebody asks
// for it. The module has its own copy of the code that it shares with the program; what the program
// knows and the copy does not comes with EngineHost.
#pragma once

#include <string>
#include <string_view>

#include "execute/simgrid/engine.hpp"

namespace sluice {

struct EngineHost {
  void (*check_interrupt)();     ///< of base/interrupt.hpp
  void (*take_back_handlers)();  ///< which SimGrid replaces by its own
};

struct EngineModule {
  /// Of the library that it is linked from: the program's own, or the two do not fit together.
  std::string_view digest;
  /// As execute() of engine.hpp, but that what blocks is told in the report.
  EngineReport (*run)(const Plan& plan, Sink& sink, const EngineOptions& options);
  std::string (*settings)(const Plan& plan);
  std::string (*version)();
};

/// The one function that a program looks up in the module.
using EngineEntry = const EngineModule*(const EngineHost& host);
inline constexpr const char* engine_entry_name = "sluice_engine_module";

}  // namespace sluice

extern "C" const sluice::EngineModule* sluice_engine_module(const sluice::EngineHost& host);
