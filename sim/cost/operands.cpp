#include "cost/operands.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "model/catalog.hpp"

namespace sluice {
namespace {

std::string quoted(const Layer& layer) {
  return "'" + layer.name + "'";
}

/// Lists the operands of a pass, in the order in which work.cpp adds their bytes.
class Listing {
 public:
  Listing(const Model& model, const Layer& layer, std::int64_t samples, DType dtype)
      : model_(model),
        layer_(layer),
        count_(static_cast<double>(samples)),
        size_(static_cast<double>(bytes_of(dtype))),
        weights_(weight_bytes(layer, samples, dtype)) {}

  std::vector<Operand> forward() {
    read_inputs();
    if (weights_ > 0) read("weights of " + quoted(layer_), weights_);
    if (layer_.cached > 0) read("cache of " + quoted(layer_), of(layer_.cached));
    write("output of " + quoted(layer_), of(layer_.output));
    return std::move(operands_);
  }

  std::vector<Operand> backward() {
    const Backward& backward = layer_.backward;
    if (backward.reads_inputs) read_inputs();
    if (weights_ > 0) read("weights of " + quoted(layer_), weights_);
    if (backward.reads_output) read("output of " + quoted(layer_), of(layer_.output));
    read("gradient of the output of " + quoted(layer_), of(layer_.output));
    const double kept = of(backward.kept) + count_ * static_cast<double>(backward.kept_bytes);
    if (kept > 0) read("tensors that " + quoted(layer_) + " kept", kept);
    if (!(layer_.macs > 0 && backward.input_flop == 0))
      for_inputs([&](const Layer& input) {
        write("gradient of input " + quoted(input), of(input.output));
      });
    if (weights_ > 0) write("gradient of the weights of " + quoted(layer_), weights_);
    return std::move(operands_);
  }

 private:
  double of(std::int64_t elements) const { return size_ * count_ * static_cast<double>(elements); }
  void read(std::string name, double bytes) {
    operands_.push_back({"", bytes, 0, std::move(name)});
  }
  void write(std::string name, double bytes) {
    operands_.push_back({"", 0, bytes, std::move(name)});
  }
  template <class Each>
  void for_inputs(Each&& each) const {
    if (reads_nothing(layer_)) return;
    for (const std::uint32_t input : layer_.inputs) each(model_.layers.at(input));
  }
  void read_inputs() {
    for_inputs([&](const Layer& input) { read("input " + quoted(input), of(input.output)); });
  }

  const Model& model_;
  const Layer& layer_;
  const double count_, size_, weights_;
  std::vector<Operand> operands_;
};

}  // namespace

std::vector<Operand> operands_of(const Model& model, const Layer& layer, Pass pass,
                                 std::int64_t samples, DType dtype) {
  if (pass == Pass::update || !does_work(layer, pass)) return {};
  Listing listing(model, layer, samples, dtype);
  if (pass == Pass::forward || pass == Pass::recompute) return listing.forward();
  std::vector<Operand> operands = listing.backward();
  const double share = share_of(layer.backward, pass);
  for (Operand& operand : operands)
    for (double* bytes : {&operand.read, &operand.written}) *bytes *= share;
  return operands;
}

std::string operand_is(const Operand& operand) {
  if (operand.name.empty()) return "an operand is";
  const bool several = operand.name.starts_with("weights ") || operand.name.starts_with("tensors ");
  return operand.name + (several ? " are" : " is");
}

Query placed_query(const Query& query, const std::vector<std::string>& pools) {
  if (!query.model || !query.layer)
    throw InternalError("an update of weights belongs to no layer, and has no operands");
  Query placed = query;
  placed.operands = operands_of(*query.model, *query.layer, query.pass, query.samples, query.dtype);
  const std::string start =
      std::string(name_of(query.pass)) + " of layer " + quoted(*query.layer) + ": ";
  if (pools.size() != placed.operands.size())
    throw InputError(start + "it has " + std::to_string(placed.operands.size()) +
                     " operands, but " + std::to_string(pools.size()) +
                     " memories are given; expected one memory per operand");
  for (std::size_t o = 0; o < pools.size(); ++o) {
    if (pools[o].empty())
      throw InputError(start + operand_is(placed.operands[o]) +
                       " in no memory; expected a memory that the device '" + query.device.name +
                       "' reaches, or that a link leads to");
    placed.operands[o].pool = pools[o];
  }
  return placed;
}

}  // namespace sluice
