#include "planning/training/step_digest.hpp"

#include <bit>
#include <cstdint>

#include "base/sha256.hpp"

namespace sluice {

namespace {

/// Collects numbers. Each list of numbers begins with its length, so different lists never give equal texts.
class Numbers {
 public:
  template <class... Number>
  void add(Number... numbers) {
    (add_one(static_cast<std::int64_t>(numbers)), ...);
  }
  void add(const std::vector<std::uint32_t>& list) {
    add(list.size());
    for (const std::uint32_t number : list) add(number);
  }
  const std::string& text() const { return text_; }

 private:
  void add_one(std::int64_t number) { text_ += std::to_string(number) + ' '; }
  std::string text_;
};

void add(Numbers& numbers, const Program::Operation& operation) {
  numbers.add(operation.kind, operation.stage, operation.micro_batch, operation.device,
              operation.phase, operation.selective, operation.ends_micro_batch, operation.workspace,
              std::bit_cast<std::int64_t>(operation.seconds));
  for (const auto* list : {&operation.loads, &operation.makes, &operation.uses, &operation.saves})
    numbers.add(*list);
}

void add(Numbers& numbers, const Program::Instance& made) {
  numbers.add(made.tensor_class, made.bytes, made.stage, made.micro_batch, made.device, made.first,
              made.last, made.loaded, made.home, made.copy_of, made.sent, made.saves, made.saved_at,
              made.saved_home, made.answer, std::bit_cast<std::int64_t>(made.load_s));
}

}  // namespace

std::string step_digest(const Program& step) {
  Numbers numbers;
  numbers.add(step.operations.size(), step.instances.size(), step.staying.size(),
              step.places.size());
  for (const Program::Operation& operation : step.operations) add(numbers, operation);
  for (const Program::Instance& made : step.instances) add(numbers, made);
  for (const Program::Staying& stays : step.staying)
    numbers.add(stays.device, stays.weights, stays.gradients, stays.optimizer);
  for (const Program::Place& place : step.places)
    numbers.add(place.home, place.number, place.tensor_class, place.bytes);
  return sha256_of(numbers.text());
}

}  // namespace sluice
