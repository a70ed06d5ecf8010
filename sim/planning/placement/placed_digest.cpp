#include "planning/placement/placed_digest.hpp"

#include "base/number_list.hpp"
#include "base/sha256.hpp"

namespace sluice {
namespace {

void add(NumberList& numbers, const KernelTime& time) {
  numbers.add(time.lines.size());
  for (const KernelTime::Line& line : time.lines) {
    numbers.add(line.base);
    numbers.add(line.extra);
    numbers.add(line.over);
  }
  numbers.add(time.table);
}

void add(NumberList& numbers, const PlacementProblem::Kernel& kernel) {
  numbers.add(kernel.operands.size());
  for (const PlacementProblem::Operand& operand : kernel.operands) {
    numbers.add(operand.tensor, operand.written);
    numbers.add(operand.read_bytes);
    numbers.add(operand.written_bytes);
  }
  add(numbers, kernel.time);
}

void add(NumberList& numbers, const PlacedKernel& kernel) {
  numbers.add(kernel.kind, kernel.layer, kernel.micro_batch, kernel.query.has_value());
  numbers.add(kernel.operand_of);
  for (const auto* list : {&kernel.saves, &kernel.fetches, &kernel.passing}) numbers.add(*list);
}

}  // namespace

std::string placed_digest(const PlacedQuestion& asked) {
  const PlacementQuestion& question = asked.question();
  NumberList numbers;
  numbers.add(asked.micro_batches(), asked.rounds(), question.kernel_count(),
              question.tensor_count());
  for (const PlacementProblem::Kernel& kernel : question.problem().kernels) add(numbers, kernel);
  for (const PlacedKernel& kernel : asked.kernels()) add(numbers, kernel);
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    const PlacementProblem::Tensor& tensor = question.tensor(t);
    numbers.add(tensor.tensor_class, tensor.bytes, tensor.begins, tensor.pinned, asked.copy_of(t));
  }
  return sha256_of(numbers.text());
}

}  // namespace sluice
