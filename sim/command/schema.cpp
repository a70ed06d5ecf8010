// The command `sluice schema` prints JSON Schemas for text editors. The schemas are made from the records that
// describe the keys of each kind of document.
#include "document/schema.hpp"
#include "model/catalog.hpp"
#include "model/schema_rules.hpp"
#include "platform/platform.hpp"
#include "platform/schema_rules.hpp"
#include "scenario/scenario.hpp"
#include "scenario/schema_rules.hpp"

#include "command/command.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

int run_schema(const Arguments& arguments) {
  const std::string& kind = arguments.positionals.front();
  const std::vector<std::string> kinds = {"scenario", "platform", "model"};
  if (kind == "scenario")
    print(json_schema(scenario_record(), "A Sluice scenario", kind, scenario_schema_rules()));
  else if (kind == "platform")
    print(json_schema(platform_record(), "A Sluice platform", kind, platform_schema_rules()));
  else if (kind == "model")
    print(json_schema(model_record(), "A Sluice model", kind, model_schema_rules()));
  else
    throw UsageError("no schema of '" + kind + "'" + did_you_mean(kind, kinds) +
                     "; known: " + join(kinds));
  return 0;
}

}  // namespace

extern const Command schema_command = {
    .name = "schema",
    .summary = "Prints the JSON Schema of a kind of document, for editors.",
    .usage = {"scenario|platform|model"},
    .least = 1,
    .most = 1,
    .positionals = "one of scenario, platform, model",
    .names =
        [] {
          return std::vector<std::string>{"scenario", "platform", "model"};
        },
    .details =
        "An editor with a YAML language server finds the schema by the first line of the\n"
        "document, such as\n"
        "  # yaml-language-server: $schema=../schemas/scenario.schema.json\n",
    .examples = {{"sluice schema scenario > schemas/scenario.schema.json",
                  "writes one of the files in schemas/"}},
    .run = run_schema,
};

}  // namespace sluice
