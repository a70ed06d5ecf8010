#include "planning/training/step_digest.hpp"

#include "base/number_list.hpp"

namespace sluice {

namespace {

void add(NumberDigest& numbers, const Program::Operation& operation) {
  numbers.add(operation.kind, operation.stage, operation.micro_batch, operation.device,
              operation.phase, operation.selective, operation.ends_micro_batch,
              operation.workspace);
  numbers.add(operation.seconds);
  for (const auto* list : {&operation.loads, &operation.makes, &operation.uses, &operation.saves})
    numbers.add(*list);
}

void add(NumberDigest& numbers, const Program::Instance& made) {
  numbers.add(made.tensor_class, made.bytes, made.stage, made.micro_batch, made.device, made.first,
              made.last, made.loaded, made.home, made.copy_of, made.sent, made.saves, made.saved_at,
              made.saved_home, made.answer);
  numbers.add(made.load_s);
}

}  // namespace

std::string step_digest(const Program& step) {
  NumberDigest numbers;
  numbers.add(step.operations.size(), step.instances.size(), step.staying.size(),
              step.places.size());
  for (const Program::Operation& operation : step.operations) add(numbers, operation);
  for (const Program::Instance& made : step.instances) add(numbers, made);
  for (const Program::Staying& stays : step.staying)
    numbers.add(stays.device, stays.weights, stays.gradients, stays.optimizer);
  for (const Program::Place& place : step.places)
    numbers.add(place.home, place.number, place.tensor_class, place.bytes);
  return numbers.text();
}

}  // namespace sluice
