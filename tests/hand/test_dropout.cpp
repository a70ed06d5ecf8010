// Tests dropout in the bundled transformers. The tests compute the bytes that training keeps, with and without dropout.
// They compare these bytes with formulas in section 4.1 of Korthikanti et al. (2022). Inference must have no dropout.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
#include "model/kept.hpp"
#include "scenario/scenario.hpp"
#include "support/models.hpp"

using namespace sluice;
using namespace sluice::test;

namespace {

std::int64_t kept_bytes(const Model& model, const std::string& first, const std::string& last) {
  const Kept kept =
      kept_for(model, model.layer_at(Value::make(first)), model.layer_at(Value::make(last)));
  return bytes_of(kept.in_all(model), DType::float16);
}

Model zoo_model(const std::string& name, const std::vector<std::string>& overrides,
                Purpose purpose = Purpose::training) {
  return read_model(load_model_use(zoo + name + ".yaml", overrides), purpose);
}

}  // namespace

TEST_CASE(
    "a block of BERT large keeps s h (34 + 5 a s / h) bytes per sample, and the model "
    "keeps 606 MB") {
  // There are s = 384 tokens, h = 1024 features and a = 16 heads: s h = 393,216 and a s s = 2,359,296. With dropout, a
  // block keeps 34 x 393,216 + 5 x 2,359,296 = 25,165,824 bytes. Dropout adds two masks of s h bytes each. For each of
  // the a s s scores, it also adds a mask of 1 byte and the score after dropout, which has 2 bytes. So without dropout,
  // a block keeps only 32 x 393,216 + 2 x 2,359,296 = 17,301,504 bytes.
  const Model with = zoo_model("bert_large", {"tokens=384"});
  const Model without = zoo_model("bert_large", {"tokens=384", "dropout=0"});
  for (const char* block : {"1", "24"}) {
    const std::string first = std::string("query.") + block, last = std::string("norm2.") + block;
    CHECK(kept_bytes(with, first, last) == 25'165'824);
    CHECK(kept_bytes(without, first, last) == 17'301'504);
  }
  // With dropout, the 24 blocks keep 604.0 MB, and the whole model keeps 605.9 MB. Without dropout, the blocks keep
  // 415.2 MB.
  CHECK(24 * 25'165'824LL == 603'979'776);
  CHECK(24 * 17'301'504LL == 415'236'096);
}

TEST_CASE("the bytes that a block of GPT-2 keeps are equal for all rates of dropout except 0") {
  // There are s = 1024 tokens, h = 768 features and a = 12 heads. A block keeps 34 x 786,432 + 5 x 12,582,912 =
  // 89,653,248 bytes.
  for (const char* rate : {"dropout=10", "dropout=50"})
    CHECK(kept_bytes(zoo_model("gpt2", {rate}), "norm1.3", "sum2.3") == 89'653'248);
  CHECK(kept_bytes(zoo_model("gpt2", {"dropout=0"}), "norm1.3", "sum2.3") ==
        32 * 786'432 + 2 * 12'582'912);
}

TEST_CASE("dropout with rate 0 is not a layer, and layers that name it read its input") {
  const Model model = read_model([&] {
    Value use = Value::make_map();
    use.set("definition",
            parse_text("format: sluice-model/1\nname: m\nparameters: {drop: {default: 0, "
                       "minimum: 0}}\nlayers:\n"
                       "  - {type: input, name: x, shape: [4]}\n"
                       "  - {type: dropout, name: d, rate: $drop%}\n"
                       "  - {type: relu, name: r}\n"
                       "  - {type: dropout, name: e, inputs: [x], rate: $drop * 2%}\n"
                       "  - {type: add, name: s, inputs: [e, r]}\n",
                       "m.yaml"));
    return use;
  }());
  REQUIRE(model.layers.size() == 3);
  CHECK(model.layers[1].inputs == std::vector<std::uint32_t>{0});
  CHECK(model.layers[2].inputs == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("in inference, the zoo's transformers have no dropout, whatever rate is given") {
  int models = 0;
  for (const char* name : {"bert_base", "gpt2", "gpt3", "opt", "t5_base"}) {
    CAPTURE(name);
    const Model none = zoo_model(name, {"blocks=2", "dropout=0"});
    const Model inference = zoo_model(name, {"blocks=2", "dropout=30"}, Purpose::inference);
    REQUIRE(inference.layers.size() == none.layers.size());
    for (std::size_t l = 0; l < none.layers.size(); ++l) {
      CHECK(inference.layers[l].name == none.layers[l].name);
      CHECK(inference.layers[l].inputs == none.layers[l].inputs);
      CHECK(inference.layers[l].config == none.layers[l].config);
    }
    const bool trains_with_it = std::string(name) != "gpt3";
    CHECK((zoo_model(name, {"blocks=2"}).layers.size() > none.layers.size()) == trains_with_it);
    ++models;
  }
  CHECK(models == 5);
}

TEST_CASE("the number of GPT-2's tokens is limited by the length of its context") {
  CHECK(zoo_model("gpt2", {"tokens=2048", "context=2048"}).layers.front().output == 2048);
  CHECK_THROWS_WITH(zoo_model("gpt2", {"tokens=1025"}),
                    Catch::Contains("'1025' for the parameter 'tokens': it must be at most 1024, "
                                    "$context"));
  CHECK_THROWS_WITH(zoo_model("gpt2", {"context=512"}), Catch::Contains("at most 512, $context"));
  CHECK_THROWS_WITH(zoo_model("gpt3", {"tokens=2049"}), Catch::Contains("at most 2048, $context"));
}
