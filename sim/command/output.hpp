// What a command writes with -o or --junit: a file of the same kind may be replaced, any other by
// --force alone.
#pragma once

#include <string>

#include "command/command.hpp"

namespace sluice {

/// What is written.
enum class Output { trace, plan, table, document, exported, junit };

/// The option --force of a command that writes `output`.
Option force_option(Output output);

/// Throws UsageError where a file stands at `path` that is not of that kind, and --force is not
/// given. A document is somebody's work as soon as it is there; what is exported replaces anything
/// but traces, stores, plans and documents. `option` is the one that named the path.
void refuse_to_replace(const Arguments& arguments, const std::string& path, Output output,
                       const char* option = "output");

}  // namespace sluice
