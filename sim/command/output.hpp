// Checks the files that a command writes with -o or --junit. Without --force, a command replaces no document, because a
// document may be somebody's work. The comment of refuse_to_replace() says which other files may be replaced.
#pragma once

#include <string>

#include "command/command.hpp"

namespace sluice {

/// The kind of file that a command writes.
enum class Output { trace, plan, table, document, exported, junit };

/// Returns the option --force of a command that writes `output`.
Option force_option(Output output);

/// Throws UsageError if the path is `-`. Without --force, also throws UsageError in two cases. First: the file at
/// `path` is a document, or is not of the kind `output`. A document may be somebody's work. Second: the name of a new
/// trace has the ending of another format. An exported file may replace any file except a trace, a store, a plan or a
/// document. `option` is the option with which the user gave the path.
void refuse_to_replace(const Arguments& arguments, const std::string& path, Output output,
                       const char* option = "output");

}  // namespace sluice
