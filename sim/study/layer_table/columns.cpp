#include "study/layer_table/columns.hpp"

#include "document/object.hpp"

namespace sluice {
namespace {

template <auto member>
Cell own(const TableRow& row) {
  return row.own.*member;
}
template <auto member>
Cell total(const TableRow& row) {
  return row.total.*member;
}
template <auto member>
Cell ms(const TableRow& row) {
  return 1e3 * (*row.times).*member;
}

Cell step(const TableRow& row) {
  return static_cast<std::int64_t>(row.step);
}
Cell name(const TableRow& row) {
  return row.layer->name;
}
Cell type(const TableRow& row) {
  return row.layer->type;
}
Cell shape(const TableRow& row) {
  return row.layer->shape;
}
Cell macs(const TableRow& row) {
  return row.knows_macs ? Cell(row.own.macs) : Cell();
}
Cell total_macs(const TableRow& row) {
  return row.knows_macs ? Cell(row.total.macs) : Cell();
}
Cell sparsity(const TableRow& row) {
  return row.layer->sparsity;
}
Cell shared(const TableRow& row) {
  return row.layer->shared;
}
Cell cached(const TableRow& row) {
  return row.layer->cached;
}
Cell field(const TableRow& row) {
  return row.layer->field ? Cell(ByAxis{row.layer->field->size}) : Cell();
}
Cell jump(const TableRow& row) {
  return row.layer->field ? Cell(ByAxis{row.layer->field->jump}) : Cell();
}
Cell copies(const TableRow& row) {
  return row.times->copies ? Cell(*row.times->copies) : Cell();
}

using R = RowCounts;
using T = TableRow::Times;

std::vector<ModelColumn> columns_of_layers() {
  return {
      {"step", "step", "number of the layer, counted from 1", step},
      {"layer", "layer", "name of the layer", name},
      {"type", "type", "type of the layer", type},
      {"shape", "shape", "extents of the layer's output", shape},
      {"state", "state", "elements of the layer's output", own<&R::state>},
      {"total_state", "total state", "sum of `state` from layer 1 to this one", total<&R::state>},
      {"parameters", "parameters", "elements of the layer's weights", own<&R::parameters>},
      {"total_parameters", "total parameters", "sum of `parameters` from layer 1 to this one",
       total<&R::parameters>},
      {"sparsity", "sparsity",
       "share of the weights that a sparse operator leaves out of all counts", sparsity},
      {"shared_parameters", "shared",
       "elements of weights that this layer shares with an earlier layer (tied weights)", shared},
      {"cached", "cached", "elements of the layer's cache of keys and values", cached},
      {"kept_bytes", "kept B",
       "bytes that this layer, but no earlier layer, keeps for the backward pass", own<&R::kept>},
      {"total_kept_bytes", "total kept B", "sum of `kept_bytes` from layer 1 to this one",
       total<&R::kept>},
      {"macs", "MACs", "multiply-accumulates of the forward pass", macs},
      {"total_macs", "total MACs", "sum of `macs` from layer 1 to this one", total_macs},
      {"flop", "FLOP", "FLOP of the forward pass", own<&R::flop>},
      {"total_flop", "total FLOP", "sum of `flop` from layer 1 to this one", total<&R::flop>},
      {"backward_flop", "FLOP back",
       "FLOP of the backward pass: gradients of inputs, and gradients of weights",
       own<&R::backward_flop>},
      {"total_backward_flop", "total FLOP back", "sum of `backward_flop` from layer 1 to this one",
       total<&R::backward_flop>},
      {"read_bytes", "read B", "bytes that the forward pass reads: inputs and weights",
       own<&R::read>},
      {"written_bytes", "written B", "bytes that the forward pass writes: the output",
       own<&R::written>},
      {"total_read_bytes", "total read B", "sum of `read_bytes` from layer 1 to this one",
       total<&R::read>},
      {"total_written_bytes", "total written B", "sum of `written_bytes` from layer 1 to this one",
       total<&R::written>},
      {"backward_read_bytes", "backward read B",
       "bytes that the backward pass reads: kept tensors, weights and the output's gradient",
       own<&R::backward_read>},
      {"backward_written_bytes", "backward written B",
       "bytes that the backward pass writes: gradients of inputs and weights",
       own<&R::backward_written>},
      {"receptive_field", "field", "input pixels on which an output pixel depends, by axis", field},
      {"jump", "jump", "input pixels between two neighbouring output pixels, by axis", jump},
  };
}

std::vector<ModelColumn> columns_of_times() {
  return {
      {"state_ms", "state ms", "time to move the output over the link", ms<&T::state>},
      {"total_state_ms", "total state ms", "sum of `state_ms` from layer 1 to this one",
       ms<&T::total_state>},
      {"total_parameters_ms", "total parameters ms",
       "time to move the weights of all layers up to this layer over the link",
       ms<&T::total_parameters>},
      {"flop_ms", "FLOP ms", "FLOP / (rate x efficiency)", ms<&T::flop>},
      {"total_flop_ms", "total FLOP ms", "sum of `flop_ms` from layer 1 to this one",
       ms<&T::total_flop>},
      {"forward_ms", "forward ms", "time of the forward pass by the cost model", ms<&T::forward>},
      {"total_forward_ms", "total forward ms", "sum of `forward_ms` from layer 1 to this one",
       ms<&T::total_forward>},
      {"backward_ms", "backward ms", "time of the backward pass by the cost model",
       ms<&T::backward>},
      {"total_backward_ms", "total backward ms", "sum of `backward_ms` from layer 1 to this one",
       ms<&T::total_backward>},
      {"copies_that_fit", "copies that fit",
       "how many copies of the output fit into the memory in addition to the weights up to this layer",
       copies},
  };
}

std::vector<ModelColumn> make_columns() {
  std::vector<ModelColumn> columns = columns_of_layers();
  for (ModelColumn& column : columns) column.words = column.key == "layer" || column.key == "type";
  for (ModelColumn column : columns_of_times()) {
    column.of_platform = true;
    columns.push_back(std::move(column));
  }
  return columns;
}

Value list_of(const Shape& shape) {
  Value list = Value::make_list();
  for (const std::int64_t extent : shape) list.items().push_back(Value::make(extent));
  return list;
}

}  // namespace

const std::vector<ModelColumn>& model_columns() {
  static const std::vector<ModelColumn> columns = make_columns();
  return columns;
}

std::string joined(const Shape& extents) {
  std::string text;
  for (const std::int64_t extent : extents)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

Value json_of(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return Value::make_null(); },
                               [](std::int64_t count) { return Value::make(count); },
                               [](double number) { return json_number(number); },
                               [](const std::string& word) { return json_text(word); },
                               [](const Shape& shape) { return list_of(shape); },
                               [](const ByAxis& axes) { return list_of(axes.numbers); }},
                    cell);
}

}  // namespace sluice
