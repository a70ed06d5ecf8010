#include "model/onnx/dimensions.hpp"

#include <algorithm>

#include "base/suggest.hpp"

namespace sluice::onnx_import {
namespace {

/// Returns the key by which a scenario gives the extent of a dimension. The key is the name of the dimension, with '_'
/// instead of each character that is neither a letter nor a digit.
std::string key_of(const std::string& name) {
  std::string key = name.substr(0, 100);
  for (char& c : key)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return key;
}

}  // namespace

Dimensions::Dimensions(const Reader& keys) : keys_(keys) {
  if (keys.has("batch")) given_batch_ = keys.integer("batch");
  for (const Value::Entry& entry : keys.map().entries()) {
    if (entry.key == "batch" || entry.key == "as_zero" || entry.key == "shapes") continue;
    const Value& value = entry.value;
    if (value.kind() != Value::Kind::integer || value.as_integer() < 1)
      fail_at(value,
              (value.is_scalar() ? "'" + value.text() + "'" : std::string(value.kind_name())) +
                  " for '" + entry.key +
                  "', a symbolic dimension: expected an integer of at least 1");
    given_[entry.key] = value.as_integer();
    used_[entry.key] = false;
  }
}

std::optional<std::int64_t> Dimensions::given(const std::string& name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.push_back(name);
  const auto found = given_.find(name);
  if (found == given_.end()) return std::nullopt;
  used_[name] = true;
  return found->second;
}

void Dimensions::find_batch(const std::vector<Extents>& inputs) {
  for (const Extents& input : inputs)
    for (std::size_t i = 0; i < input.axes.size(); ++i) {
      const Axis& axis = input.axes[i];
      if (axis.extent || key_of(axis.symbol) != "batch") continue;
      batch_axis_ = i;
      batch_is_named_ = true;
      set_batch(input.name, axis);
      return;
    }
  for (const Extents& input : inputs)
    if (!input.axes.empty()) return set_batch(input.name, input.axes.front());
}

void Dimensions::set_batch(const std::string& input, const Axis& axis) {
  if (!axis.extent) {
    const std::string key = key_of(axis.symbol.empty() ? input + "_0" : axis.symbol);
    batch_ = given(key).value_or(given_batch_.value_or(1));
    batch_symbol_ = axis.symbol;
    if (given_batch_ && *given_batch_ != batch_)
      keys_.fail("batch", "'batch' and '" + key + "' are the same dimension, but have the values " +
                              std::to_string(*given_batch_) + " and " + std::to_string(batch_));
    return;
  }
  batch_ = given_batch_.value_or(*axis.extent);
  if (batch_ != *axis.extent && batch_ != 1)
    keys_.fail("batch",
               "'" + std::to_string(batch_) + "' for 'batch': the file sets the batch, expected " +
                   std::to_string(*axis.extent) + ", or 1 if the first axis is not the batch");
}

std::int64_t Dimensions::symbolic(const std::string& input, std::size_t axis,
                                  const std::string& symbol) {
  const auto seen = symbols_.find(symbol);
  if (!symbol.empty() && seen != symbols_.end()) return seen->second;
  const std::string key = key_of(symbol.empty() ? input + "_" + std::to_string(axis) : symbol);
  const bool is_batch = !symbol.empty() && symbol == batch_symbol_;
  std::optional<std::int64_t> value = is_batch ? std::optional(batch_) : given(key);
  if (!value && axis == 0 && !batch_is_named_) value = batch_;
  if (!value && std::find(missing_.begin(), missing_.end(), key) == missing_.end())
    missing_.push_back(key);
  if (!symbol.empty()) symbols_[symbol] = value.value_or(1);
  return value.value_or(1);
}

Shape Dimensions::resolve(const Extents& input) {
  Shape shape;
  for (std::size_t i = 0; i < input.axes.size(); ++i) {
    const Axis& axis = input.axes[i];
    shape.push_back(axis.extent ? *axis.extent : symbolic(input.name, i, axis.symbol));
  }
  return shape;
}

void Dimensions::finish(const Graph& graph) const {
  for (const auto& [name, used] : used_) {
    if (used) continue;
    for (const Value::Entry& entry : keys_.map().entries())
      if (entry.key == name)
        throw InputError(entry.position(), "the model has no symbolic dimension '" + name + "'" +
                                               did_you_mean(name, known_) + "; it has: " +
                                               (known_.empty() ? "none" : join(known_)));
  }
  if (missing_.empty()) return;
  graph.fail("the extents of " + join(missing_) +
             " are not in the file; give their values, such as " + missing_.front() + "=128");
}

std::optional<std::int64_t> Dimensions::value_of(const std::string& symbol) const {
  const auto found = symbols_.find(symbol);
  return found == symbols_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sluice::onnx_import
