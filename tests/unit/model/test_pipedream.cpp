// Tests layer graphs of PipeDream, layers with measured seconds, and the cost model that uses these seconds.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cost/cost.hpp"
#include "model/importer.hpp"
#include "study/layer_table/stage_table.hpp"
#include "support/models.hpp"
#include "support/source_folder.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

namespace fs = std::filesystem;

// A graph for two samples of 3 x 4 x 4 elements. Its two branches end in a sum. The text lists the nodes in no
// particular order.
const std::string graph =
    "node3 -- ReLU(inplace) -- forward_compute_time=0.5, backward_compute_time=0.25, "
    "activation_size=256.000, parameter_size=0.000\n"
    "node2 -- Conv2d(3, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1)) -- "
    "forward_compute_time=2.000, backward_compute_time=4.500, activation_size=256.000, "
    "parameter_size=224.000\n"
    "node1 -- Input -- forward_compute_time=90.000, backward_compute_time=0.000, "
    "activation_size=384.000, parameter_size=0.000\n"
    "node4 -- Size(0) -- forward_compute_time=0.000, backward_compute_time=0.000, "
    "activation_size=4.000, parameter_size=0.000\n"
    "node5 -- Add(inplace) -- forward_compute_time=0.125, backward_compute_time=0.000, "
    "activation_size=[128.0; 128.0], parameter_size=0.000\n"
    "node10 -- Linear(in_features=32, out_features=5, bias=False) -- forward_compute_time=1.000, "
    "backward_compute_time=3.000, activation_size=40.000, parameter_size=640.000\n"
    "\tnode1 -- node2\n\tnode2 -- node3\n\tnode3 -- node5\n\tnode2 -- node5\n"
    "\tnode3 -- node4\n\tnode4 -- node10\n\tnode5 -- node10\n";

Value imported(const std::string& text, const std::string& use) {
  const Value mapping = parse_text(use, "s.yaml");
  const Importer& importer = importer_for("g.graph.txt");
  const Record record{.name = "model", .fields = importer.parameters};
  Value whole = Value::make_map();
  whole.set("definition", importer.read(text, "g.graph.txt", Reader(mapping, record)).definition);
  return whole;
}

Model read(const std::string& text, const std::string& use = "{batch: 2}") {
  return read_model(imported(text, use));
}

// A graph with two inputs of unknown sizes, a node for a state, and a node that reads a part of the state. The node for
// the state has no inputs.
const std::string two_inputs =
    "node1 -- Input0 -- forward_compute_time=0.000, backward_compute_time=0.000, "
    "activation_size=0.0, parameter_size=0.000\n"
    "node2 -- Input1 -- forward_compute_time=0.000, backward_compute_time=0.000, "
    "activation_size=0.0, parameter_size=0.000\n"
    "node3 -- Embedding(10, 4) -- forward_compute_time=0.5, backward_compute_time=1.0, "
    "activation_size=96.0, parameter_size=160.000\n"
    "node4 -- hidden -- forward_compute_time=0.000, backward_compute_time=0.000, "
    "activation_size=0.0, parameter_size=0.000\n"
    "node5 -- __getitem__(0) -- forward_compute_time=0.000, backward_compute_time=0.000, "
    "activation_size=0.0, parameter_size=0.000\n"
    "node6 -- LSTM(4, 4) -- forward_compute_time=2.000, backward_compute_time=3.000, "
    "activation_size=[96.0; 32.0], parameter_size=640.000\n"
    "\tnode1 -- node3\n\tnode4 -- node5\n\tnode3 -- node6\n\tnode5 -- node6\n\tnode2 -- node6\n";

std::string refused_graph(const std::string& from, const std::string& to,
                          const std::string& use = "{batch: 2}") {
  std::string text = graph;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return error_of([&] { read(text.replace(at, from.size(), to), use); });
}

std::string names(const Model& model) {
  std::string text;
  for (const Layer& layer : model.layers) text += (text.empty() ? "" : " ") + layer.name;
  return text;
}

const Layer& layer(const Model& model, const std::string& name) {
  for (const Layer& one : model.layers)
    if (one.name == name) return one;
  throw std::logic_error("no layer " + name);
}

Device any_device() {
  Device device;
  device.name = "gpu";
  device.rate = {{DType::float32, 1e12}};
  return device;
}

}  // namespace

TEST_CASE("several inputs and sizes of 0 are read") {
  // The graph is for two samples in float32. So 96 B are 96 / 4 / 2 = 12 elements of one sample, and 128 B are 16
  // elements of one sample.
  const Model model = read(two_inputs);
  std::vector<std::string> names;
  for (const Layer& layer : model.layers) names.push_back(layer.name);
  CHECK(names ==
        std::vector<std::string>{"node1-Input", "node2-Input", "node3-Embedding", "node6-LSTM"});
  CHECK(model.layers[0].type == "input");
  CHECK(model.layers[0].output == 1);  // an output of unknown size counts as one element
  CHECK(model.layers[2].output == 12);
  CHECK(model.layers[2].parameters == 40);
  CHECK(model.layers[3].output == 16);
  CHECK(model.layers[3].inputs == std::vector<std::uint32_t>{2, 1});
  CHECK(model.layers[3].forward_s == Approx(2e-3));
  const Importer& importer = importer_for("g.graph.txt");
  const Record record{.name = "model", .fields = importer.parameters};
  const Value use = parse_text("{batch: 2}", "s.yaml");
  const Imported made = importer.read(two_inputs, "g.graph.txt", Reader(use, record));
  REQUIRE(made.notes.size() == 2);
  CHECK_THAT(made.notes[0], Contains("a size of 0 for 'node1'"));
}

TEST_CASE("a layer graph becomes layers in a valid order, with sizes and seconds", "[pipedream]") {
  const Model model = read(graph);
  CHECK(names(model) == "node1-Input node2-Conv2d node3-ReLU node5-Add node10-Linear");
  CHECK(model.measured_batch == 2);
  const Layer& conv = layer(model, "node2-Conv2d");
  CHECK(conv.output == 32);                 // 256 B / 4 B / 2 samples
  CHECK(conv.parameters == 2 * 3 * 9 + 2);  // 224 B / 4 B
  CHECK(conv.macs == 16 * 2 * 3 * 9);       // 32 elements in 2 channels are 16 pixels
  CHECK(conv.forward_s == 2e-3);
  CHECK(conv.backward_s == 4.5e-3);
  CHECK(layer(model, "node5-Add").output == 32);
  CHECK(layer(model, "node5-Add").inputs == std::vector<std::uint32_t>{2, 1});
  CHECK(layer(model, "node10-Linear").macs == 160);  // no bias
  CHECK(layer(model, "node10-Linear").inputs == std::vector<std::uint32_t>{3});
  CHECK_FALSE(layer(model, "node1-Input").forward_s);
}

TEST_CASE("the loading of data is left out with a note, or counted on request", "[pipedream]") {
  CHECK_THAT(read(graph).summary,
             Contains("the 90.000 ms of 'node1' for loading data are left out"));
  const Model model = read(graph, "{batch: 2, loading: counted}");
  CHECK(layer(model, "node1-loading").forward_s == 90e-3);
  CHECK(layer(model, "node1-loading").output == 48);
  CHECK(layer(model, "node2-Conv2d").inputs == std::vector<std::uint32_t>{1});
}

TEST_CASE("if a layer graph is imported, written and read back, the result is an equal model",
          "[pipedream]") {
  const Value use = imported(graph, "{batch: 2}");
  Value again = Value::make_map();
  again.set("definition", parse_text(to_yaml(*use.find("definition")), "again.yaml"));
  const Model a = read_model(use), b = read_model(again);
  REQUIRE(names(a) == names(b));
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    CHECK(a.layers[i].forward_s == b.layers[i].forward_s);
    CHECK(a.layers[i].backward_s == b.layers[i].backward_s);
    CHECK(a.layers[i].parameters == b.layers[i].parameters);
    CHECK(a.layers[i].macs == b.layers[i].macs);
  }
}

TEST_CASE("a bad layer graph is refused at its line", "[pipedream]") {
  CHECK(error_of([] { read(""); }) ==
        "3 g.graph.txt: error: the layer graph is empty, expected lines like 'node1 -- Input -- "
        "forward_compute_time=...'");
  CHECK_THAT(error_of([] { read(graph, "{}"); }), Contains("the key 'batch' is missing"));
  CHECK_THAT(error_of([] { read(graph, "{batch: 2, load: no}"); }), Contains("unknown key 'load'"));
  CHECK_THAT(
      error_of([] { read(graph, "{batch: 3}"); }),
      StartsWith("3 g.graph.txt:2:1: error: activation_size of 256 bytes is not a whole number "
                 "of float32 elements for each of 3 samples; check the value of batch"));
  CHECK_THAT(error_of([] { read(graph, "{batch: 4}"); }),
             StartsWith("3 g.graph.txt:6:1: error: activation_size of 40 bytes is not a whole"));
  CHECK_THAT(refused_graph("node1 -- node2", "node1 -- node7"),
             StartsWith("3 g.graph.txt:7:1: error: no node is called 'node7'"));
  CHECK_THAT(refused_graph("node1 -- node2", "node1 node2"), Contains("expected an edge"));
  CHECK_THAT(refused_graph("node1 -- node2", "node5 -- node2"), Contains("the edges form a cycle"));
  CHECK_THAT(refused_graph("node3 -- ReLU", "node2 -- ReLU"),
             StartsWith("3 g.graph.txt:2:1: error: a second node 'node2'"));
  CHECK_THAT(refused_graph("2.000, back", "nan, back"), Contains("'nan': expected a number of"));
  CHECK_THAT(refused_graph("2.000, back", "-2, back"), Contains("'-2': expected a number of"));
  CHECK_THAT(refused_graph("2.000, back", "2 s, back"), Contains("'2 s': expected a number of"));
  CHECK_THAT(refused_graph("forward_compute_time=2.000, ", ""),
             Contains("g.graph.txt:2:1: error: 'forward_compute_time' is missing"));
  CHECK_THAT(refused_graph("=256.000", "=256.5"), Contains("expected a whole number of bytes"));
  CHECK_THAT(refused_graph("=224.000", "=226.000"), Contains("not a whole number of float32"));
  CHECK_THAT(refused_graph("=224.000", "=4.000"),
             Contains("32 elements per sample and 1 parameters do not make 2 output channels"));
  CHECK_THAT(refused_graph("node1 -- Input", "node1 -- Output"),
             Contains("'node1' reads no node and is not an Input"));
  CHECK_THAT(refused_graph("\tnode1 -- node2\n", ""),
             Contains("'node2' reads no node and is not an Input"));
}

TEST_CASE("a measured layer takes its measured seconds, and its keys are checked", "[pipedream]") {
  const std::string input = "- {type: input, name: x, shape: [10]}\n";
  const Model model =
      model_of(input +
                   "- {type: measured, name: a, shape: [20], forward: 7.7ms, backward: 11.9ms, "
                   "parameters: 30, kept: 5, kept_bytes: 6B, macs: 40}\n",
               "", "measured_batch: 4\n");
  const Layer& a = model.layers[1];
  CHECK(model.measured_batch == 4);
  CHECK(a.shape == Shape{20});
  CHECK(a.parameters == 30);
  CHECK(a.flop == 80);
  CHECK(a.forward_s == 7.7e-3);
  CHECK(a.backward_s == 11.9e-3);
  CHECK(a.backward.kept == 5);
  CHECK(a.backward.kept_bytes == 6);
  CHECK(a.backward.reads_inputs);
  CHECK_THAT(refused(input + "- {type: measured, backward: 1ms}\n"),
             Contains("m.yaml:5:10: error: the key 'forward' is missing in layer type measured"));
  CHECK_THAT(refused(input + "- {type: measured, forward: 1}\n"), Contains("the unit is missing"));
  CHECK_THAT(refused(input + "- {type: measured, forward: -1ms}\n"), Contains("negative"));
  CHECK_THAT(refused(input + "- {type: measured, forward: 1ms, macs: 5, flop: 9}\n"),
             Contains("'9' for 'flop': 5 multiply-accumulates are at least 10 FLOP"));
  CHECK_THAT(refused(input + "- {type: measured, forward: 1ms, shape: [0]}\n"),
             Contains("'0' in 'shape': expected an integer of at least 1"));
  CHECK_THAT(refused("- {type: input, shape: [10], forward: 1ms}\n"),
             Contains("input computes nothing: expected no 'forward' seconds"));
  CHECK_THAT(refused(input + "- {type: relu}\n", "", "measured_batch: 2\n"),
             Contains("'measured_batch' is given, but no layer has"));
  CHECK_THAT(refused(input + "- {type: measured, forward: 1ms}\n", "{scale: 2}"),
             Contains("a model with measured seconds cannot be scaled"));
}

TEST_CASE(
    "the cost model `measured` gives the measured seconds, but only for the batch that was measured",
    "[pipedream]") {
  const Model model = model_of(
      "- {type: input, name: x, shape: [10]}\n"
      "- {type: relu, name: a, forward: 2ms, backward: 3ms}\n"
      "- {type: relu, name: b, forward: 2ms}\n",
      "", "measured_batch: 4\n");
  const Device device = any_device();
  const auto seconds = [&](const Model& of, std::size_t i, Pass pass, std::int64_t samples) {
    const Query query = query_of(of, of.layers[i], pass, samples, DType::float32, device);
    return plain_cost("measured")->of(query).seconds;
  };
  const auto forward = [&](std::size_t i, std::int64_t samples) {
    return seconds(model, i, Pass::forward, samples);
  };
  const auto backward = [&](std::size_t i, std::int64_t samples) {
    return seconds(model, i, Pass::backward, samples);
  };
  CHECK(forward(0, 4) == 0);
  CHECK(forward(1, 4) == 2e-3);
  CHECK(backward(1, 4) == 3e-3);
  CHECK_THROWS_WITH(
      forward(1, 8),
      Contains("layer 'a' was measured for 4 samples, but the micro-batch has 8 samples; measured "
               "seconds are not interpolated"));
  CHECK_THROWS_WITH(backward(2, 4),
                    Contains("layer 'b' has no measured seconds of the backward pass for 4"));
  const Model none = model_of("- {type: input, shape: [10]}\n- {type: relu, name: a}\n");
  CHECK_THROWS_WITH(seconds(none, 1, Pass::forward, 1),
                    Contains("the model does not give them: layer 'a' has no 'forward'"));
}

TEST_CASE(
    "an update of weights belongs to no layer, and takes as long under `measured` as under `peak`") {
  const Device device = any_device();
  const Query update{.device = device, .pass = Pass::update, .work = {.flop = 4e6, .bytes = 1e6}};
  CHECK(plain_cost("measured")->of(update).seconds == 4e-6);
}

TEST_CASE("PipeDream's bytes of parameters are 4 times torchvision's parameters", "[pipedream]") {
  const fs::path data = fs::path(test::source_folder()).parent_path() / "shared/data";
  std::ifstream table(data / "models/torchvision_counts.csv");
  if (!table) {
    WARN("skipped: there is no " << data);
    return;
  }
  std::ostringstream all;
  all << table.rdbuf();
  // The files do not give the number of their samples, but it follows from the bytes of the layers. For example,
  // AlexNet's first output has 198,246,400 B = 256 x 64 x 55 x 55 x 4 B, where 64 x 55 x 55 is the output for one
  // sample. So the file is for 256 samples.
  struct Case {
    const char *file, *weights;
    std::int64_t batch;
  };
  for (const Case& one :
       {Case{"alexnet", "AlexNet_Weights", 256}, Case{"densenet121", "DenseNet121_Weights", 64},
        Case{"resnet18", "ResNet18_Weights", 256},
        Case{"squeezenet1_0", "SqueezeNet1_0_Weights", 256}, Case{"vgg16", "VGG16_Weights", 128}}) {
    INFO(one.file);
    std::ifstream in(data / "operators/pipedream" / (std::string(one.file) + ".graph.txt"));
    std::ostringstream text;
    text << in.rdbuf();
    const Model model = read(text.str(), "{batch: " + std::to_string(one.batch) + "}");
    const std::string row = std::string("\n") + one.weights + ",IMAGENET1K_V1,";
    const std::size_t at = all.str().find(row);
    // The table of torchvision's weights lacks DenseNet-121. The number of parameters of DenseNet-121 comes from
    // torchvision 0.14.1, as `num_params` of its weights.
    const std::int64_t expected =
        at == std::string::npos
            ? 7'978'856
            : std::stoll(all.str().substr(all.str().find(',', at + row.size()) + 1));
    CHECK(model.parameters() == expected);
    CHECK(model.layers[0].output == 3 * 224 * 224);
  }
}

TEST_CASE("the stage table shows measured seconds of one sample", "[pipedream]") {
  const Model model = read(graph);  // for two samples, node2 takes 2 ms forward and 4.5 ms backward
  const Platform platform = read_platform(parse_text(
      "format: sluice-platform/1\nname: p\ndevices: {gpu: {rate: {float32: 1GFLOP/s}, memory: "
      "{capacity: 1GB}}}\nmemories: {host: {capacity: unlimited}}\nlinks: {host: {joins: [host, "
      "gpu], bandwidth: 1GB/s}}\n",
      "p.yaml"));
  const Target target(platform, platform.devices.front(), DType::float32, plain_cost("measured"));
  const std::vector<TableRow> rows = stage_table(model, DType::float32, &target);
  CHECK(rows[0].times->forward == 0);
  CHECK(rows[1].times->forward == 1e-3);
  CHECK(rows[1].times->backward == 2.25e-3);
  // For two samples, all layers together take 2 + 0.5 + 0.125 + 1 ms forward and 4.5 + 0.25 + 0 + 3 ms backward.
  CHECK(rows.back().times->total_forward == Approx(3.625e-3 / 2).epsilon(1e-12));
  CHECK(rows.back().times->total_backward == Approx(7.75e-3 / 2).epsilon(1e-12));
}
