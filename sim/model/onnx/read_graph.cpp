// Turns the bytes of an ONNX file into a graph. Node by node, libonnx infers the shapes, and the code here computes
// small constants. Only this file, proto.cpp and infer.cpp use libonnx and protobuf.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/quantity.hpp"
#include "model/layers/shape.hpp"
#include "model/onnx/dimensions.hpp"
#include "model/onnx/einsum.hpp"
#include "model/onnx/given_shapes.hpp"
#include "model/onnx/proto.hpp"
#include "model/onnx/rules.hpp"
#include "model/onnx/weight_origins.hpp"

namespace sluice::onnx_import {
namespace {

namespace pb = ::onnx;

class Loading {
 public:
  Loading(std::string_view bytes, const std::string& path, const Reader& keys)
      : given_(keys), dimensions_(keys) {
    graph_.name = std::filesystem::path(path).stem().string();
    graph_.listing = std::make_shared<const Source>(Source{path, ""});
    parse(bytes);
    list_nodes(path);
  }

  Graph run() {
    read_initialisers();
    read_inputs();
    read_declared();
    for (int i = 0; i < proto().node_size(); ++i) read_node(i);
    for (const pb::ValueInfoProto& output : proto().output()) {
      if (!graph_.find(output.name()))
        graph_.fail("no node makes the output '" + clean(output.name()) + "'");
      graph_.outputs.push_back(output.name());
    }
    if (graph_.outputs.empty())
      graph_.fail("the model has no outputs; export the model again with its outputs");
    given_.require_used();
    return std::move(graph_);
  }

 private:
  pb::GraphProto& proto() { return *model_.mutable_graph(); }

  void parse(std::string_view bytes) {
    parse_model(bytes, model_, graph_);
    for (const pb::OperatorSetIdProto& set : model_.opset_import())
      if (set.domain().empty() || set.domain() == "ai.onnx") graph_.opset = set.version();
    if (graph_.opset < 1 || graph_.opset > 1000)
      graph_.fail(
          "the model does not say which version of ONNX's operators it uses (opset_import)");
  }

  /// Writes a listing with one line per node. The position of an error is a line of this listing.
  void list_nodes(const std::string& path) {
    std::string text;
    for (const pb::NodeProto& node : proto().node()) {
      text += clean(node.name()) + (node.name().empty() ? "" : ": ") + clean(node.op_type()) + "(";
      for (int i = 0; i < std::min(node.input_size(), 8); ++i)
        text += (i ? ", " : "") + clean(node.input(i));
      text += ") -> " + (node.output_size() > 0 ? clean(node.output(0)) : "") + "\n";
    }
    graph_.listing = std::make_shared<const Source>(Source{path, std::move(text)});
  }

  void add(const std::string& name, Tensor tensor, pb::TypeProto type) {
    if (!graph_.tensors.emplace(name, std::move(tensor)).second)
      graph_.fail("the tensor '" + clean(name) + "' is made twice");
    pb::TypeProto& stored = types_storage_[name];
    stored = std::move(type);
    types_[name] = &stored;
  }

  static pb::TypeProto type_of(int element, const Shape& shape) {
    pb::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(element);
    pb::TensorShapeProto& dims = *type.mutable_tensor_type()->mutable_shape();
    for (const std::int64_t extent : shape) dims.add_dim()->set_dim_value(extent);
    return type;
  }

  void add_initialiser(const std::string& name, int element, const Shape& shape,
                       const pb::TensorProto* data) {
    Tensor tensor;
    tensor.shape = shape;
    tensor.constant = true;
    tensor.integral = is_integral(element);
    tensor.floating = is_floating(element);
    const std::int64_t elements = weights_.elements_of(shape);
    if (tensor.floating)
      tensor.weights = {
          weights_.add({.elements = elements, .initialiser = true, .vector = shape.size() < 2})};
    if (data) tensor.numbers = numbers_of(*data, elements);
    if (data && tensor.numbers) data_[name] = data;
    add(name, std::move(tensor), type_of(element, shape));
  }

  void read_initialisers() {
    for (const pb::TensorProto& tensor : proto().initializer())
      add_initialiser(tensor.name(), tensor.data_type(),
                      Shape(tensor.dims().begin(), tensor.dims().end()), &tensor);
    for (const pb::SparseTensorProto& tensor : proto().sparse_initializer())
      add_initialiser(tensor.values().name(), tensor.values().data_type(),
                      Shape(tensor.dims().begin(), tensor.dims().end()), nullptr);
  }

  /// Returns all inputs that are not initialisers. Files up to IR version 3 also list their initialisers as inputs.
  std::vector<const pb::ValueInfoProto*> inputs() {
    std::vector<const pb::ValueInfoProto*> list;
    for (const pb::ValueInfoProto& input : proto().input())
      if (!graph_.find(input.name())) list.push_back(&input);
    return list;
  }

  std::vector<Extents> extents_of(const std::vector<const pb::ValueInfoProto*>& inputs) const {
    std::vector<Extents> list;
    for (const pb::ValueInfoProto* input : inputs) {
      if (!input->type().has_tensor_type() || !input->type().tensor_type().has_shape())
        graph_.fail("the input '" + clean(input->name()) +
                    "' is not a tensor with a known number of axes");
      list.push_back({clean(input->name()), {}});
      for (const auto& dim : input->type().tensor_type().shape().dim()) {
        list.back().axes.push_back({{}, dim.dim_param()});
        if (dim.dim_value() > 0) list.back().axes.back().extent = dim.dim_value();
      }
    }
    return list;
  }

  void read_inputs() {
    const std::vector<const pb::ValueInfoProto*> list = inputs();
    const std::vector<Extents> extents = extents_of(list);
    dimensions_.find_batch(extents);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const int element = list[i]->type().tensor_type().elem_type();
      Tensor tensor;
      tensor.shape = dimensions_.resolve(extents[i]);
      tensor.integral = is_integral(element);
      tensor.floating = is_floating(element);
      const Shape shape = *tensor.shape;
      add(list[i]->name(), std::move(tensor), type_of(element, shape));
      graph_.inputs.push_back(list[i]->name());
    }
    if (graph_.inputs.empty())
      graph_.fail(
          "the model has no inputs except its weights; export the model again with its inputs");
    dimensions_.finish(graph_);
    graph_.batch = dimensions_.batch();
    graph_.batch_axis = dimensions_.batch_axis();
  }

  void use_given(const std::string& tensor, pb::TypeProto& type) {
    if (shape_of(type)) return;
    const Shape* const shape = given_.use(clean(tensor));
    if (!shape) return;
    const int element = type.tensor_type().elem_type();
    type = type_of(element != 0 ? element : pb::TensorProto::FLOAT, *shape);
  }

  /// Reads the types that the file declares for outputs of nodes.
  void read_declared() {
    for (const auto* list : {&proto().value_info(), &proto().output()})
      for (const pb::ValueInfoProto& info : *list)
        if (info.type().has_tensor_type()) declared_[info.name()] = &info.type();
  }

  void read_node(int index) {
    pb::NodeProto& proto_node = *proto().mutable_node(index);
    Node node;
    node.line = index + 1;
    node.name = clean(proto_node.name());
    node.op = clean(proto_node.op_type());
    node.known = proto_node.domain().empty() || proto_node.domain() == "ai.onnx";
    if (!node.known) node.op = clean(proto_node.domain() + "." + proto_node.op_type());
    node.inputs.assign(proto_node.input().begin(), proto_node.input().end());
    node.outputs.assign(proto_node.output().begin(), proto_node.output().end());
    for (const pb::AttributeProto& attribute : proto_node.attribute()) {
      node.attributes[attribute.name()] = attribute_of(attribute);
      node.has_graphs = node.has_graphs || attribute.has_g() || attribute.graphs_size() > 0;
    }
    std::set<std::string> captured(node.inputs.begin(), node.inputs.end());
    if (node.has_graphs) add_captured(proto_node, captured, node);
    for (const std::string& input : node.inputs)
      if (!input.empty() && !graph_.find(input))
        graph_.fail(node,
                    "the node reads '" + clean(input) + "', but no earlier node makes this tensor");
    add_outputs(node, inferred(node, proto_node), proto_node);
    graph_.nodes.push_back(std::move(node));
  }

  /// Adds the inputs that a node's bodies read. The bodies of a condition or a loop may read tensors of the surrounding
  /// graph. Each of these tensors becomes an input of the node.
  void add_captured(const pb::NodeProto& outer, std::set<std::string>& known, Node& node) const {
    for (const pb::AttributeProto& attribute : outer.attribute()) {
      std::vector<const pb::GraphProto*> bodies;
      if (attribute.has_g()) bodies.push_back(&attribute.g());
      for (const pb::GraphProto& body : attribute.graphs()) bodies.push_back(&body);
      for (const pb::GraphProto* body : bodies)
        for (const pb::NodeProto& inner : body->node()) {
          for (const std::string& input : inner.input())
            if (graph_.find(input) && known.insert(input).second) node.inputs.push_back(input);
          add_captured(inner, known, node);
        }
    }
  }

  /// Returns whether the operator's first output always has the shape of its first input. This shape is used if neither
  /// libonnx nor the file gives a shape.
  static bool keeps_shape(const Node& node) {
    const OpRule* rule = rule_of(node);
    return rule && node.has_input(0) && (rule->draft == as_type || rule->draft == group_norm);
  }

  /// Returns the outputs' types as libonnx infers them, or else as the file declares them.
  std::vector<pb::TypeProto> inferred(Node& node, pb::NodeProto& proto_node) {
    std::vector<pb::TypeProto> types(node.outputs.size());
    if (node.known && !node.has_graphs) {
      try {
        types = infer_types(proto_node, graph_, types_, data_);
        require_extents(types);
        if (node.op == "Einsum" && has_shapes(node)) infer_einsum(node, types);
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const NotKnown& reason) {
        node.fault = reason.what();
      } catch (const std::exception& error) {
        node.fault = error.what();
        if (has_shapes(node)) graph_.fail(node, node.op + " is not possible: " + clean(node.fault));
      }
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const auto found = declared_.find(node.outputs[i]);
      if (found == declared_.end()) continue;
      if (const std::optional<Shape> shape = shape_of(types[i]))
        require_declared(node, node.outputs[i], *shape, *found->second);
      else
        types[i] = *found->second;
    }
    if (keeps_shape(node) && !types.empty() && !shape_of(types[0]) && types_.count(node.inputs[0]))
      types[0] = *types_.at(node.inputs[0]);
    for (std::size_t i = 0; i < types.size(); ++i) use_given(node.outputs[i], types[i]);
    return types;
  }

  /// Infers the shape of Einsum's output. libonnx infers only the number of its axes.
  void infer_einsum(const Node& node, std::vector<pb::TypeProto>& types) const {
    std::vector<Shape> shapes;
    for (const std::string& input : node.inputs)
      if (!input.empty()) shapes.push_back(*graph_.find(input)->shape);
    if (shapes.empty() || types.empty()) return;
    const int element = types_.at(node.inputs.front())->tensor_type().elem_type();
    types.front() = type_of(element, einsum_of(node.text("equation", ""), shapes).shape());
  }

  /// Throws an error for a negative extent. libonnx infers such an extent if a window is larger than the image.
  static void require_extents(const std::vector<pb::TypeProto>& types) {
    for (const pb::TypeProto& type : types)
      for (const auto& dim : type.tensor_type().shape().dim())
        if (dim.dim_value() < 0)
          throw std::runtime_error("its output would have an extent of " +
                                   std::to_string(dim.dim_value()));
  }

  bool has_shapes(const Node& node) const {
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
      return input.empty() || graph_.find(input)->shape;
    });
  }

  /// Checks that the inferred shapes agree with the shapes in the file. A file with symbolic dimensions is not checked:
  /// its exporter may have written the shapes for an example input. Extents in the file that are not positive are
  /// ignored.
  void require_declared(const Node& node, const std::string& tensor, const Shape& shape,
                        const pb::TypeProto& declared) const {
    const pb::TensorShapeProto& dims = declared.tensor_type().shape();
    if (dimensions_.has_symbols() || dims.dim_size() == 0) return;
    bool same = dims.dim_size() == static_cast<int>(shape.size());
    for (int i = 0; same && i < dims.dim_size(); ++i)
      same = dims.dim(i).dim_value() < 1 ||
             dims.dim(i).dim_value() == shape[static_cast<std::size_t>(i)];
    if (same) return;
    Shape written;
    for (const auto& dim : dims.dim()) written.push_back(dim.dim_value());
    graph_.fail(node, "the file says that '" + clean(tensor) + "' is of the shape " +
                          text_of(written) + ", but " + node.op + " makes " + text_of(shape));
  }

  std::optional<Shape> shape_of(const pb::TypeProto& type) const {
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
    Shape shape;
    for (const auto& dim : type.tensor_type().shape().dim()) {
      std::optional<std::int64_t> extent;
      if (dim.has_dim_value()) extent = dim.dim_value();
      if (dim.has_dim_param()) extent = dimensions_.value_of(dim.dim_param());
      if (!extent || *extent < 0) return std::nullopt;
      shape.push_back(*extent);
    }
    return shape;
  }

  void add_outputs(const Node& node, const std::vector<pb::TypeProto>& types,
                   const pb::NodeProto& proto_node) {
    bool constant = !node.has_graphs;
    for (const std::string& input : node.inputs)
      constant = constant && (input.empty() || !graph_.is_data(input));
    std::vector<Tensor> outputs(node.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].shape = shape_of(types[i]);
      const int element = types[i].tensor_type().elem_type();
      outputs[i].integral = is_integral(element);
      outputs[i].floating = is_floating(element);
      outputs[i].constant = constant;
    }
    set_numbers(node, outputs, proto_node);
    if (constant) weights_.set(node, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = node.outputs[i];
      if (name.empty()) continue;
      pb::TypeProto type = types[i];
      if (outputs[i].shape) type = type_of(types[i].tensor_type().elem_type(), *outputs[i].shape);
      if (outputs[i].numbers) keep_numbers(name, type, outputs[i]);
      add(name, std::move(outputs[i]), std::move(type));
    }
  }

  void set_numbers(const Node& node, std::vector<Tensor>& outputs,
                   const pb::NodeProto& proto_node) {
    if (node.op == "Constant" && outputs.size() == 1) {
      for (const pb::AttributeProto& attribute : proto_node.attribute()) {
        Tensor& output = outputs.front();
        if (attribute.name() == "value" && output.shape)
          output.numbers = numbers_of(attribute.t(), weights_.elements_of(*output.shape));
        if (attribute.name() == "value_int") output.numbers = Numbers{double(attribute.i())};
        if (attribute.name() == "value_float") output.numbers = Numbers{double(attribute.f())};
        if (attribute.name() == "value_ints" && attribute.ints_size() <= most_numbers)
          output.numbers = Numbers(attribute.ints().begin(), attribute.ints().end());
      }
      return;
    }
    std::vector<Numbers> folded = fold(graph_, node, outputs);
    for (std::size_t i = 0; i < folded.size(); ++i) outputs[i].numbers = std::move(folded[i]);
  }

  /// Keeps the known elements of a small tensor for libonnx, if their number matches the shape.
  void keep_numbers(const std::string& name, const pb::TypeProto& type, const Tensor& tensor) {
    const int element = type.tensor_type().elem_type();
    if (!tensor.shape ||
        weights_.elements_of(*tensor.shape) != static_cast<std::int64_t>(tensor.numbers->size()))
      return;
    pb::TensorProto& data = data_storage_[name];
    data.set_data_type(element);
    for (const std::int64_t extent : *tensor.shape) data.add_dims(extent);
    constexpr double limit = 9.2e18;
    for (const double number : *tensor.numbers) {
      const double clamped = std::clamp(number, -limit, limit);
      if (element == pb::TensorProto::INT64)
        data.add_int64_data(static_cast<std::int64_t>(clamped));
      if (element == pb::TensorProto::FLOAT) data.add_float_data(static_cast<float>(number));
      if (element == pb::TensorProto::INT32)
        data.add_int32_data(
            static_cast<std::int32_t>(std::clamp(number, -2147483648.0, 2147483647.0)));
    }
    if (tensor.integral || element == pb::TensorProto::FLOAT) data_[name] = &data;
  }

  GivenShapes given_;
  Graph graph_;
  WeightOrigins weights_{graph_};
  Dimensions dimensions_;
  pb::ModelProto model_;
  std::unordered_map<std::string, pb::TypeProto> types_storage_;
  Types types_;
  std::unordered_map<std::string, const pb::TypeProto*> declared_;
  std::unordered_map<std::string, pb::TensorProto> data_storage_;
  Data data_;
};

}  // namespace

Graph read_graph(std::string_view bytes, const std::string& path, const Reader& keys) {
  return Loading(bytes, path, keys).run();
}

}  // namespace sluice::onnx_import
