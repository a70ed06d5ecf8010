#include "model/layer_count.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "document/record.hpp"
#include "model/expression.hpp"

namespace sluice {
namespace {

class LayerCount {
 public:
  /// A count above `limit` is replaced by `limit`, so that no count overflows.
  LayerCount(const Value* blocks, std::int64_t limit) : blocks_(blocks), limit_(limit) {}

  std::int64_t of_item(const Value& item, const Parameters& parameters) {
    if (!item.is_map()) return 1;
    try {
      if (const Value* times = item.find("repeat")) return of_repeat(item, *times, parameters);
      if (const Value* word = item.find("block")) return of_block(item, *word, parameters);
    } catch (const InputError&) {
      // An item with an error counts as one layer. read_layers reports the error later, with its position.
    }
    return 1;
  }

 private:
  std::int64_t of(const Value& layers, const Parameters& parameters) {
    if (!layers.is_list()) return 1;
    std::int64_t count = 0;
    for (const Value& item : layers.items()) {
      count += std::min(limit_ - count, of_item(item, parameters));
      if (count == limit_) break;
    }
    return count;
  }

  std::int64_t of_repeat(const Value& item, const Value& times, const Parameters& parameters) {
    const std::int64_t repetitions = integer(times, parameters);
    const Value* layers = item.find("layers");
    if (!layers || repetitions <= 0) return 0;
    const std::int64_t once = of(*layers, parameters);
    return once == 0 || repetitions <= limit_ / once ? once * repetitions : limit_;
  }

  std::int64_t of_block(const Value& item, const Value& word, const Parameters& parameters) {
    const Value* block = blocks_ ? blocks_->find(word.text()) : nullptr;
    const Value* layers = block && block->is_map() ? block->find("layers") : nullptr;
    if (!layers) return 1;
    Value use = item;
    for (Value::Entry& entry : use.entries())
      if (entry.value.kind() == Value::Kind::string && entry.key != "block" && entry.key != "name")
        entry.value = Value::make(integer(entry.value, parameters));
    Parameters scope = read_block_parameters(*block, word.text(), use);
    scope.insert(parameters.begin(), parameters.end());
    const auto [place, is_new] = counted_.try_emplace({word.text(), scope}, 0);
    // If the block contains itself, counted_ already has it with 0 layers, because the outer use is being counted.
    // read_layers reports this error.
    if (is_new) place->second = of(*layers, scope);
    return place->second;
  }

  static std::int64_t integer(const Value& value, const Parameters& parameters) {
    return value.kind() == Value::Kind::string ? evaluate(value.text(), parameters)
                                               : value.as_integer();
  }

  const Value* blocks_;
  const std::int64_t limit_;
  /// For each block that has been counted, the number of its layers. The key has the name of the block, and the values
  /// of all parameters inside it.
  std::map<std::pair<std::string, Parameters>, std::int64_t> counted_;
};

}  // namespace

void refuse_too_many_layers(const Value& layers, const Parameters& parameters, const Value* blocks,
                            std::int64_t most) {
  LayerCount count(blocks, most + 1);
  std::int64_t left = most;
  for (const Value& item : layers.items()) {
    const std::int64_t here = count.of_item(item, parameters);
    if (here > left)
      fail_at(item, "with this item the model has more than " + std::to_string(most) +
                        " layers, once repetitions and blocks are written out");
    left -= here;
  }
}

}  // namespace sluice
