#include "model/blocks.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {
namespace {

std::string texts(const std::vector<Value>& values) {
  std::vector<std::string> words;
  for (const Value& value : values) words.push_back(value.text());
  return join(words);
}

void check_inputs(const Reader& block) {
  const Value* inputs = block.value("inputs");
  if (!inputs) return;
  if (inputs->items().empty())
    block.fail("inputs", "'inputs' is empty, expected at least one name");
  std::vector<std::string> names;
  for (const Value& name : inputs->items()) {
    const bool is_name = name.kind() == Value::Kind::string && !name.text().empty();
    if (!is_name || name.text() == before_word)
      fail_at(name, "'" + name.text() + "' cannot be the name of a block's input");
    if (std::find(names.begin(), names.end(), name.text()) != names.end())
      fail_at(name, "duplicate input '" + name.text() + "' of a block");
    names.push_back(name.text());
  }
}

}  // namespace

void check_blocks(const Value& blocks) {
  for (const Value::Entry& entry : blocks.entries())
    check_inputs(Reader(entry.value, block_record(), "block '" + entry.key + "'"));
}

const Value& find_block(const Value* blocks, const Value& word) {
  if (const Value* block = blocks ? blocks->find(word.text()) : nullptr) return *block;
  std::vector<std::string> known;
  if (blocks)
    for (const Value::Entry& entry : blocks->entries()) known.push_back(entry.key);
  fail_at(word, "the model has no block '" + word.text() + "'" + did_you_mean(word.text(), known) +
                    "; it has: " + (known.empty() ? "none" : join(known)));
}

Surroundings given_to_block(const Value& block, const Value& use, const LayerNames& names,
                            const std::string& suffix, const Surroundings& around,
                            std::optional<std::uint32_t> previous) {
  const Value* declared = block.find("inputs");
  const Value* given = use.find("inputs");
  if (given && !given->is_list())
    fail_at(*given,
            "expected a list of layers for 'inputs', got " + std::string(given->kind_name()));
  std::vector<std::uint32_t> layers;
  if (given)
    for (const Value& name : given->items())
      layers.push_back(names.find(name, "inputs", suffix, around));
  else if (previous)
    layers.push_back(*previous);
  const std::size_t wanted = declared ? declared->items().size() : 1;
  if ((given || declared) && layers.size() != wanted)
    fail_at(given ? *given : use, "the block '" + use.find("block")->text() + "' takes " +
                                      std::to_string(wanted) +
                                      (wanted == 1 ? " input" : " inputs") +
                                      (declared ? " (" + texts(declared->items()) + ")" : "") +
                                      ", got " + std::to_string(layers.size()));
  Surroundings inside;
  if (!layers.empty()) inside.before = layers.front();
  for (std::size_t i = 0; declared && i < wanted; ++i)
    inside.inputs.emplace_back(declared->items()[i].text(), layers[i]);
  return inside;
}

}  // namespace sluice
