// Tests faulty ONNX files, mutants of a file, and the counts of public files. Mutants are copies of a file with random
// faults.
#include <thread>

#include "support/onnx_case.hpp"
#include "support/source_folder.hpp"
using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using namespace sluice::onnx_case;

TEST_CASE("a small file is read within a short time", "[onnx]") {
  CHECK(reading_limits(4'000).cpu_s == 20);
  CHECK(reading_limits(1'000'000).cpu_s == 30);
  CHECK(reading_limits(10'000'000'000).cpu_s == 300);
  CHECK(reading_limits(0).more_bytes == std::int64_t{4} << 30);
}

TEST_CASE("a file that is not an ONNX model is refused with a reason", "[onnx]") {
  CHECK(refused_bytes("") == "3 m.onnx: error: the file is empty, expected an ONNX model");
  CHECK_THAT(refused_bytes("\x80\x04\x95"), Contains("a Python pickle, which is never read"));
  CHECK_THAT(refused_bytes("PK\x03\x04"), Contains("a zip archive"));
  CHECK_THAT(refused_bytes("format: sluice-model/1\n"),
             Contains("this is not a complete ONNX file"));
  CHECK_THAT(refused_bytes(OnnxBytes().opset(13).input("x", {1}).bytes()),
             Contains("the model has no nodes"));
  CHECK_THAT(refused_bytes(field(7, field(1, field(4, "Relu")))),
             Contains("does not say which version of ONNX's operators"));
  OnnxBytes loose;
  loose.input("x", {1, 2}).node("Relu", {"z"}, {"y"}, {}, "relu").output("y");
  CHECK_THAT(
      refused_bytes(loose.bytes()),
      StartsWith("3 m.onnx:1:1: error: the node reads 'z', but no earlier node makes this tensor\n"
                 "    relu: Relu(z) -> y\n    ^"));
  OnnxBytes twice;
  twice.input("x", {1, 2}).node("Relu", {"x"}, {"x"}).output("x");
  CHECK_THAT(refused_bytes(twice.bytes()), Contains("the tensor 'x' is made twice"));
  OnnxBytes idle;
  idle.input("x", {1, 2}).weight("w", {1, 2}).node("Relu", {"w"}, {"y"}).output("y");
  CHECK_THAT(refused_bytes(idle.bytes()), Contains("the outputs do not depend on the inputs"));
  OnnxBytes huge;
  huge.input("x", {1, 2000000000, 2000000000, 2000000000}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK_THAT(refused_bytes(huge.bytes()), Contains("elements"));
  OnnxBytes flat;  // libonnx alone would read more extents of the input than the input has
  flat.input("x", {1, 2, 4}).weight("w", {1, 2, 1, 1}).node("Conv", {"x", "w"}, {"y"}).output("y");
  CHECK_THAT(refused_bytes(flat.bytes()), Contains("the weights have 4 axes, and the input 3"));
  OnnxBytes still;  // libonnx alone would divide by this stride
  still.input("x", {1, 2, 4}).weight("w", {1, 2, 1});
  still.node("Conv", {"x", "w"}, {"y"}, {A::integers("strides", {0})}).output("y");
  CHECK_THAT(refused_bytes(still.bytes()), Contains("'strides' is not positive"));
  OnnxBytes dynamic;
  dynamic.input("x", {1, 6}).input("to", {2}, onnx_int64);
  dynamic.node("Reshape", {"x", "to"}, {"y"}, {}, "r").output("y");
  CHECK_THAT(refused_bytes(dynamic.bytes()),
             Contains("the shape of 'y' is not known: it is neither in the file nor can it be"));
}

TEST_CASE("beside other threads, a file is imported with the same result and the same errors",
          "[onnx]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "sluice_threads";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  write("cnn.onnx", small_cnn().bytes());
  write("zip.onnx", "PK\x03\x04");
  const auto imported = [&](const std::string& use) {
    std::string text;
    const std::string error = error_of([&] {
      const std::string path = (folder / "s.yaml").string();
      Value document = parse_text("model: " + use, path);
      resolve_includes(document, path, {"model*"});
      Value& model = *document.find("model");
      import_definition(model);
      text = to_json(model);
    });
    return text.empty() ? error : text;
  };
  const auto answers = [&] {
    std::vector<std::string> all;
    for (const char* use : {"{file: cnn.onnx, batch: 3}", "{file: cnn.onnx, batch: 0}",
                            "{file: cnn.onnx, batch: 2,\n  as_zero: [Gelu]}", "{file: zip.onnx}"})
      all.push_back(imported(use));
    return all;
  };
  const std::vector<std::string> alone = answers();
  CHECK_THAT(alone[0], Contains("\"conv\""));
  CHECK_THAT(alone[2], Contains("s.yaml:2:13: error: 'Gelu' in 'as_zero'"));
  CHECK_THAT(alone[3], Contains("a zip archive"));
  std::vector<std::string> beside;
  std::thread([&] { beside = answers(); }).join();
  CHECK(beside == alone);
}

TEST_CASE("a file that ends too early is refused, whatever its last byte is", "[onnx]") {
  const std::string whole = small_cnn().bytes();
  int refusals = 0;
  for (std::size_t size = 0; size < whole.size(); ++size)
    refusals += refused_bytes(whole.substr(0, size)).substr(0, 2) == "3 " ? 1 : 0;
  CHECK(refusals == static_cast<int>(whole.size()));
}

TEST_CASE("nested graphs are limited in depth", "[onnx]") {
  std::string graph;
  for (int i = 0; i < 100; ++i) graph = field(1, field(4, "If") + field(5, field(6, graph)));
  CHECK_THAT(refused_bytes(field(7, graph)),
             Contains("the nesting of graphs in graphs is deeper than"));
}

TEST_CASE("the data of weights are dropped before the file is parsed", "[onnx]") {
  const std::string data(1 << 20, 'w');
  OnnxBytes onnx;
  onnx.input("x", {1, 512})
      .weight("w", {512, 512}, field(9, data))
      .weight(
          "v", {512, 2},
          field(13, field(1, "location") + field(2, "/etc/passwd")) + field(14, std::int64_t{1}))
      .node("MatMul", {"x", "w"}, {"h"}, {}, "h")
      .node("MatMul", {"h", "v"}, {"y"}, {}, "y")
      .output("y");
  const std::string bytes = onnx.bytes(), skimmed = onnx_import::without_data(bytes);
  CHECK(bytes.size() > data.size());
  CHECK(skimmed.size() < 1000);
  CHECK(skimmed.find("passwd") == std::string::npos);
  const Model model = read(onnx).model;
  CHECK(model.parameters() == 512 * 512 + 1024);
  CHECK(types(model) == "input dense dense");
}

TEST_CASE("each mutant of a model is either read or refused", "[onnx][mutations]") {
  const std::string whole = small_cnn().bytes();
  std::uint64_t state = 88172645463325252u;  // Marsaglia, Xorshift RNGs (2003)
  const auto random = [&](std::size_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<std::size_t>(state % below);
  };
  int read_well = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string mutant = whole;
    for (std::size_t n = 1 + random(3); n > 0; --n)
      mutant[random(mutant.size())] = static_cast<char>(random(256));
    const std::string answer = refused_bytes(mutant);
    read_well += answer == "nothing" ? 1 : 0;
    if (answer != "nothing") CHECK(answer.substr(0, 2) == "3 ");
  }
  // Some mutants must be readable. If none were, the mutants would have too many faults to get far into the reader.
  CHECK(read_well > 50);
  CHECK(read_well < 3000);
}

namespace {

namespace fs = std::filesystem;

const fs::path reference = fs::path(test::source_folder()).parent_path() / "shared/data/models";

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

TEST_CASE("public ONNX files have exactly the parameters and MACs of their summary", "[onnx]") {
  std::ifstream table(reference / "onnx_light_summary.csv");
  if (!table) {
    WARN("skipped: there is no " << reference / "onnx_light_summary.csv");
    return;
  }
  std::string line;
  std::getline(table, line);
  int files = 0;
  while (std::getline(table, line)) {
    const std::vector<std::string> cells = split(line);
    INFO(cells[0]);
    std::ifstream in(reference / "onnx" / (cells[0] + ".onnx"), std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    const ReadOnnx got = read_bytes(bytes.str());
    // The table counts the elements of all initialisers and of all results of ConstantOfShape. Each of these elements
    // must be one of three things: a parameter, a part of a running mean or variance, or an element that no node uses.
    const std::int64_t weights = std::stoll(cells[4]) + std::stoll(cells[5]);
    CHECK(got.elements.learned + got.elements.statistics + got.elements.unused == weights);
    CHECK(got.model.parameters() == got.elements.learned);
    std::int64_t normalised = 0;
    for (const Layer& one : got.model.layers)
      if (one.type == "batch_norm") normalised += one.parameters;
    // A channel of a batch norm has two statistics, its mean and its variance. It also has two parameters, its scale
    // and its shift. So there are as many statistics as parameters.
    CHECK(got.elements.statistics == normalised);
    CHECK(got.elements.unused <= 1);  // ResNet-50 has one element that no node reads
    CHECK(got.model.macs() == std::stoll(cells[6]));
    CHECK(got.model.activations() - got.model.layers[0].output == std::stoll(cells[7]));
    ++files;
  }
  CHECK(files == 4);
}
