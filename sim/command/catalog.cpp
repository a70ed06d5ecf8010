// The catalog of commands, in the order of the help. To add a command, add a file, and a line to
// this list.
#include "command/command.hpp"

namespace sluice {

// clang-format off
const Catalog<Command>& command_catalog() {
  static const Catalog<Command> catalog("command", {
      SLUICE_ENTRY(Command, run_command),
      SLUICE_ENTRY(Command, plan_command),
      SLUICE_ENTRY(Command, model_command),
      SLUICE_ENTRY(Command, import_command),
      SLUICE_ENTRY(Command, fits_command),
      SLUICE_ENTRY(Command, sweep_command),
      SLUICE_ENTRY(Command, search_command),
      SLUICE_ENTRY(Command, placement_command),
      SLUICE_ENTRY(Command, show_command),
      SLUICE_ENTRY(Command, check_command),
      SLUICE_ENTRY(Command, export_command),
      SLUICE_ENTRY(Command, profile_command),
      SLUICE_ENTRY(Command, list_command),
      SLUICE_ENTRY(Command, new_command),
      SLUICE_ENTRY(Command, schema_command),
      SLUICE_ENTRY(Command, completion_command),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
