// What a command writes with -o or --junit. A file of the same kind may be replaced; any other file
// only with --force.
#pragma once

#include <string>

#include "command/command.hpp"

namespace sluice {

/// The kind of file that is written.
enum class Output { trace, plan, table, document, exported, junit };

/// The option --force of a command that writes `output`.
Option force_option(Output output);

/// Throws UsageError where the path is `-`, and, unless --force is given, where a file of another
/// kind exists at `path` or where a trace would have the ending of another format. An existing
/// document is always somebody's work and needs --force. An exported file replaces anything but
/// traces, stores, plans and documents. `option` is the option that named the path.
void refuse_to_replace(const Arguments& arguments, const std::string& path, Output output,
                       const char* option = "output");

}  // namespace sluice
