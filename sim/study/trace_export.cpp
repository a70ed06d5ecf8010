#include "study/trace_export.hpp"

#include "base/error.hpp"
#include "document/load.hpp"
#include "model/model.hpp"
#include "study/layer_table/island.hpp"

namespace sluice {
namespace {

constexpr const char* layers_table = "layers";

/// Returns the layers of the model that the trace's scenario names, as a stage table (models/FORMAT.md) in JSON.
std::string layers(const TraceReader& trace) {
  const std::string& text = trace.header().scenario;
  if (text.empty())
    throw InputError(trace.path() +
                     ": error: the trace is of a plan file, which does not name layers");
  const Value scenario = parse_text(text, trace.path() + ":/scenario");
  const Value* keys = scenario.find("model");
  if (!keys) throw InputError(trace.path() + ":/scenario: error: the scenario has no 'model'");
  const Value* workload = scenario.find("workload");
  const Value* mode = workload ? workload->find("mode") : nullptr;
  const bool trains = mode && mode->text() == "training";
  return model_island(read_model(*keys, trains ? Purpose::training : Purpose::inference),
                      DType::float32);
}

}  // namespace

std::vector<std::string> tables_of(const ExportFormat& format) {
  std::vector<std::string> tables = format.tables;
  if (!tables.empty()) tables.emplace_back(layers_table);
  return tables;
}

void export_trace(const TraceReader& trace, const ExportFormat& format, const std::string& table,
                  const Write& write) {
  if (table == layers_table)
    write(layers(trace));
  else
    format.write(trace, table, write);
}

}  // namespace sluice
