#include "planning/placement/on_their_way.hpp"

#include <algorithm>

#include "model/kept.hpp"

namespace sluice {

void ActivationLife::begin_again() {
  if (made) ++number;
  made = true;
  away = false;
}

std::string ActivationLife::name() const {
  return number == 0 ? "" : number == 1 ? " again" : " again " + std::to_string(number);
}

std::vector<std::uint32_t> last_readers(const Model& model) {
  std::vector<std::uint32_t> last(model.layers.size(), 0);
  for (std::uint32_t reader = 0; reader < last.size(); ++reader)
    for (const std::uint32_t input : model.layers[reader].inputs)
      last[origin_of(model, input)] = reader;
  return last;
}

bool add_passing(PlacementProblem::Kernel& kernel, const PlacementProblem::Operand& passing) {
  const auto is_it = [&](const PlacementProblem::Operand& one) {
    return one.tensor == passing.tensor;
  };
  if (std::any_of(kernel.operands.begin(), kernel.operands.end(), is_it)) return true;
  std::vector<double>& table = kernel.time.table;
  if (!table.empty() && kernel.operands.size() >= KernelTime::most_in_table) return false;
  kernel.operands.push_back(passing);
  for (KernelTime::Line& line : kernel.time.lines) line.extra.push_back(0);
  // the kernel takes equally long with the tensor in either memory
  const std::vector<double> same = table;
  table.insert(table.end(), same.begin(), same.end());
  return true;
}

}  // namespace sluice
