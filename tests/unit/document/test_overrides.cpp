// Tests overrides (KEY=VALUE), documents that include other documents or build on them, and the origin that is recorded
// for each value.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "document/load.hpp"
#include "support/bad_input.hpp"
#include "support/source_folder.hpp"

using namespace sluice;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::error_of;

namespace {

namespace fs = std::filesystem;

/// A temporary folder that is removed when the test ends. It contains project/.sluice-root, project/a, project/b and
/// outside.yaml.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("sluice_over_" + std::to_string(getpid()));

  Folder() {
    fs::create_directories(path / "project/a");
    fs::create_directories(path / "project/b");
    write("project/.sluice-root", "");
    write("outside.yaml", "format: sluice-platform/1\n");
    write("project/b/base.yaml",
          "format: sluice-platform/1\nlinks:\n  host: {bandwidth: 30GB/s, latency: 5us}\n");
    write("project/b/model.yaml", "format: sluice-model/1\nlayers: []\n");
  }
  ~Folder() { fs::remove_all(path); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  std::string scenario(const std::string& text) const { return write("project/a/s.yaml", text); }
};

Value load(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return resolve_with_overrides(load_file(path), path, {"model*", "platform"}, overrides);
}

std::string at(const Value& document, std::initializer_list<const char*> keys) {
  const Value* value = &document;
  for (const char* key : keys) {
    value = value->find(key);
    if (!value) return "absent";
  }
  return value->text();
}

std::string overridden(const std::string& override, const std::string& text) {
  return error_of([&] {
    Value d = parse_text(text, "t.yaml");
    apply_overrides(d, {override});
  });
}

}  // namespace

TEST_CASE("an override replaces a value of any kind, and the new value names its override") {
  Value d = parse_text("a: {b: 1, c: [1, 2, {d: 3}]}\n", "t.yaml");
  apply_overrides(d, {"a.b=64GB/s", "a.c.2.d=[1, 2]", "a.new={x: 1}", "a.c.0=0.5", "a.b=65GB/s"});
  CHECK(at(d, {"a", "b"}) == "65GB/s");
  CHECK(d.find("a")->find("b")->position().file == "a.b=65GB/s");
  CHECK(d.find("a")->find("b")->position().column == 5);
  const auto& list = d.find("a")->find("c")->items();
  CHECK(list[0].as_number() == 0.5);
  CHECK(list[1].as_integer() == 2);
  CHECK(list[2].find("d")->items().size() == 2);
  CHECK(d.find("a")->find("new")->find("x")->as_integer() == 1);
  apply_overrides(d, {"a.empty="});
  CHECK(d.find("a")->find("empty")->kind() == Value::Kind::null);
  apply_overrides(d, {"a.text=x=y"});
  CHECK(at(d, {"a", "text"}) == "x=y");
}

TEST_CASE("an element of a list is addressed by its position or by its name") {
  const std::string text =
      "layers: [{name: a, x: 1}, {repeat: 2, layers: [{name: b, x: 1}]}, {name: c}, {name: c}]";
  Value d = parse_text(text, "t.yaml");
  apply_overrides(d, {"layers.a.x=2", "layers.b.x=3", "layers.1.repeat=4"});
  const auto& layers = d.find("layers")->items();
  CHECK(layers[0].find("x")->as_integer() == 2);
  CHECK(layers[1].find("layers")->items()[0].find("x")->as_integer() == 3);
  CHECK(layers[1].find("repeat")->as_integer() == 4);
  CHECK_THAT(
      overridden("layers.aaaa.x=2", text),
      Contains("'aaaa' is not an element of the list 'layers', whose length is 4; give the index "
               "of an element, counted from 0, or its name"));
  CHECK_THAT(overridden("layers.c.x=2", text),
             Contains("2 elements of the list 'layers' are called 'c'"));
}

TEST_CASE("an override below a missing key is refused, and the message names the key") {
  const std::string text = "platform: {links: {host: {bandwidth: 1B/s}}}\nlist: [1, 2]\n";
  CHECK(overridden("platform.lnks.host.bandwidth=2B/s", text) ==
        "3 platform.lnks.host.bandwidth=2B/s:1:10: error: unknown key 'lnks' in 'platform' (did "
        "you mean 'links'?); it has: links\n    platform.lnks.host.bandwidth=2B/s\n             ^");
  CHECK_THAT(overridden("plat.x=1", text), Contains("unknown key 'plat' in the document"));
  CHECK_THAT(overridden("list.2=1", text),
             Contains(":1:6: error: '2' is not an element of the list 'list', whose length is 2"));
  CHECK_THAT(overridden("list.x=1", text), Contains("'x' is not an element of the list 'list'"));
  CHECK_THAT(overridden("list.0.y=1", text),
             Contains("'y' cannot be set in 'list.0', which is an integer"));
  CHECK_THAT(overridden("list.0.y.z=1", text), Contains("'y' cannot be found in 'list.0'"));
  CHECK_THAT(overridden("list.0=[1", text), StartsWith("3 list.0=[1:1:"));
  CHECK_THAT(overridden("list.0=010", text),
             StartsWith("3 list.0=010:1:8: error: '010' has a leading zero"));
  CHECK_THAT(overridden("list.0=&a 1", text), Contains("anchors"));
  CHECK_THAT(overridden("list", text),
             StartsWith("2 'list' is not an override; expected KEY=VALUE"));
  CHECK_THAT(overridden("=3", text), StartsWith("2 "));
  CHECK_THAT(overridden("a..b=3", text), StartsWith("2 'a..b=3' has an empty key"));
  CHECK_THAT(overridden(".a=3", text), StartsWith("2 "));
  CHECK_THAT(overridden("a.=3", text), StartsWith("2 "));
}

TEST_CASE(
    "the keys of an included platform are merged, and an included model becomes the "
    "definition") {
  const Folder folder;
  const Value d =
      load(folder.scenario("platform: {file: ../b/base.yaml, links: {host: {bandwidth: 64GB/s}}}\n"
                           "model: {file: ../b/model.yaml, layers: 3, scale: 200}\n"));
  CHECK(at(d, {"platform", "links", "host", "bandwidth"}) == "64GB/s");
  CHECK(at(d, {"platform", "links", "host", "latency"}) == "5us");
  CHECK(at(d, {"platform", "format"}) == "sluice-platform/1");
  CHECK(at(d, {"platform", "file"}) == "absent");
  CHECK(at(d, {"model", "layers"}) == "3");
  CHECK(at(d, {"model", "scale"}) == "200");
  CHECK(at(d, {"model", "file"}) == "absent");
  CHECK(at(d, {"model", "definition", "format"}) == "sluice-model/1");
  const Value& links = *d.find("platform")->find("links");
  CHECK_THAT(links.find("host")->find("latency")->position().file, Contains("project/b/base.yaml"));
  CHECK_THAT(links.find("host")->find("bandwidth")->position().file, Contains("project/a/s.yaml"));
}

TEST_CASE("overrides can change which file is included, and its contents") {
  const Folder folder;
  folder.write("project/b/other.yaml", "links: {host: {bandwidth: 1B/s}}\n");
  const std::string path = folder.scenario("platform: {file: ../b/base.yaml}\n");
  CHECK(at(load(path, {"platform.links.host.latency=7us", "platform.file=../b/other.yaml"}),
           {"platform", "links", "host", "latency"}) == "7us");
  CHECK(at(load(path, {"platform.file=../b/other.yaml"}),
           {"platform", "links", "host", "bandwidth"}) == "1B/s");
  CHECK(at(load(path, {"platform={file: ../b/other.yaml}"}),
           {"platform", "links", "host", "bandwidth"}) == "1B/s");
  CHECK_THAT(error_of([&] { load(path, {"platform.links.hots.latency=7us"}); }),
             Contains("unknown key 'hots' in 'platform.links' (did you mean 'host'?)"));
}

TEST_CASE("the keys of a variant replace the keys of its base") {
  const Folder folder;
  folder.write("project/b/variant.yaml", "file: base.yaml\nlinks: {host: {latency: 9us}}\n");
  const Value d = load(folder.scenario("platform: {file: ../b/variant.yaml}\n"));
  CHECK(at(d, {"platform", "links", "host", "latency"}) == "9us");
  CHECK(at(d, {"platform", "links", "host", "bandwidth"}) == "30GB/s");
  const Value alone = load_document((folder.path / "project/b/variant.yaml").string());
  CHECK(at(alone, {"links", "host", "latency"}) == "9us");
  CHECK(at(alone, {"format"}) == "sluice-platform/1");
}

TEST_CASE("included files must be inside the root, even if symbolic links lead out of the root") {
  const Folder folder;
  const auto refused = [&](const std::string& file) {
    const std::string path = folder.scenario("platform: {file: " + file + "}\n");
    return error_of([&] { load(path); });
  };
  CHECK_THAT(
      refused("../../outside.yaml"),
      StartsWith("3 ") && Contains("a/s.yaml:1:18: error: '../../outside.yaml' leads out of"));
  CHECK_THAT(refused((folder.path / "outside.yaml").string()), Contains("leads out of"));
  CHECK_THAT(refused("/etc/passwd"), Contains("leads out of"));
  fs::create_symlink("../../outside.yaml", folder.path / "project/a/link.yaml");
  CHECK_THAT(refused("link.yaml"), Contains("leads out of"));
  CHECK_THAT(refused("/dev/zero"), Contains("leads out of"));
  CHECK_THAT(refused("../b"), StartsWith("3 ") && Contains("a folder, not a regular file"));
  CHECK_THAT(refused("none.yaml"), StartsWith("3 ") && Contains("s.yaml:1:18: error: cannot read"));
  CHECK_THAT(refused("3"), Contains("expected a path for 'file', got an integer"));
  CHECK_THAT(refused("''"), Contains("expected a path for 'file'"));
  folder.write("project/b/list.yaml", "[1]\n");
  CHECK_THAT(refused("../b/list.yaml"),
             Contains("'../b/list.yaml' holds a list, expected a mapping"));
}

TEST_CASE(
    "without a root file, the root is the parent of the folder that holds the including file") {
  const Folder folder;
  fs::remove(folder.path / "project/.sluice-root");
  // If the temporary folder is inside a repository, the root of this repository may be found instead, and then the test
  // fails.
  const std::string path = folder.scenario("platform: {file: ../b/base.yaml}\n");
  CHECK(error_of([&] { load(path); }) == "nothing");
  const std::string out = folder.scenario("platform: {file: ../../outside.yaml}\n");
  CHECK_THAT(error_of([&] { load(out); }), Contains("leads out of"));
}

TEST_CASE(
    "files that include each other, and chains that are too long, are refused, and the message names the files") {
  const Folder folder;
  folder.write("project/b/one.yaml", "file: two.yaml\n");
  folder.write("project/b/two.yaml", "file: one.yaml\n");
  folder.write("project/b/self.yaml", "file: self.yaml\n");
  const auto refused = [&](const std::string& file) {
    const std::string path = folder.scenario("platform: {file: " + file + "}\n");
    return error_of([&] { load(path); });
  };
  CHECK_THAT(refused("../b/one.yaml"),
             StartsWith("3 ") && Contains("the files include each other: ") &&
                 Contains("b/one.yaml -> ") && Contains("b/two.yaml -> "));
  CHECK_THAT(refused("../b/self.yaml"), Contains("the files include each other"));
  CHECK_THAT(refused("s.yaml"), Contains("the files include each other"));
  for (int i = 0; i < 20; ++i)
    folder.write("project/b/c" + std::to_string(i) + ".yaml",
                 "file: c" + std::to_string(i + 1) + ".yaml\n");
  folder.write("project/b/c20.yaml", "links: {}\n");
  CHECK_THAT(refused("../b/c0.yaml"), Contains("more than 16 files include one another"));
  CHECK(refused("../b/c8.yaml") == "nothing");
}

TEST_CASE("a model has either a file or a definition") {
  const Folder folder;
  const std::string path =
      folder.scenario("model: {file: ../b/model.yaml, definition: {layers: []}}\n");
  CHECK_THAT(error_of([&] { load(path); }), Contains("both 'file' and 'definition' are given"));
}

TEST_CASE("the resolved document says where each value came from") {
  const Folder folder;
  const std::string path = folder.scenario("platform: {file: ../b/base.yaml}\nseed: 3\n");
  const std::string text = to_yaml_with_provenance(load(path, {"platform.links.host.latency=7us"}));
  CHECK_THAT(text, Contains("latency: \"7us\"  # platform.links.host.latency=7us\n"));
  CHECK_THAT(text, Contains("bandwidth: \"30GB/s\"  # ") && Contains("b/base.yaml:3\n"));
  CHECK_THAT(text, Contains("seed: 3  # ") && Contains("s.yaml:2\n"));
}

TEST_CASE(
    "a name with neither a folder nor an ending means a file beside the document or, if there is none, a bundled "
    "document") {
  const Folder folder;  // this folder contains no folder `platforms`
  const std::string name = folder.scenario("platform: {file: k40}\n");
  CHECK(at(load(name), {"platform", "name"}) == "k40");
  CHECK_THAT(
      error_of([&] { load(folder.scenario("platform: {file: k04}\n")); }),
      Contains("s.yaml:1:18: error: there is no file 'k04' beside this document, and none of "
               "Sluice's platforms has that name (did you mean 'k40'?)") &&
          Contains("`sluice list platforms` lists all"));
  CHECK_THAT(error_of([&] { load(folder.scenario("platform: {file: gpt2}\n")); }),
             Contains("it is a model: `sluice model gpt2` lists the model's layers"));
  folder.write("project/a/k40", "name: mine\n");
  CHECK(at(load(folder.scenario("platform: {file: k40}\n")), {"platform", "name"}) == "mine");
  folder.write("project/a/own.yaml", "name: own\n");
  CHECK(at(load(folder.scenario("platform: {file: own.yaml}\n")), {"platform", "name"}) == "own");
  CHECK_THAT(error_of([&] { load(folder.scenario("platform: {file: own}\n")); }),
             Contains("for the file beside this document, write 'own.yaml'"));
}

TEST_CASE("a document in any folder may name bundled documents by their path, also as a base") {
  const Folder folder;
  const std::string k40 = test::source_folder() + "/platforms/k40.yaml";
  CHECK(at(load(folder.scenario("platform: {file: " + k40 + "}\n")), {"platform", "name"}) ==
        "k40");
  folder.write("project/b/variant.yaml", "file: k40\nsummary: a variant\n");
  const Value d = load(folder.scenario("platform: {file: ../b/variant.yaml}\n"));
  CHECK(at(d, {"platform", "name"}) == "k40");
  CHECK(at(d, {"platform", "summary"}) == "a variant");
}

TEST_CASE("a path in an override may name a file in any folder") {
  const Folder folder;
  const std::string path = folder.scenario("platform: {file: ../b/base.yaml}\n");
  const std::string outside = (folder.path / "outside.yaml").string();
  CHECK(at(load(path, {"platform.file=" + outside}), {"platform", "format"}) ==
        "sluice-platform/1");
  CHECK(at(load(path, {"platform={file: " + outside + "}"}), {"platform", "links"}) == "absent");
  // The override may name link.yaml, but link.yaml itself may not include a file outside of its root.
  const std::string link = folder.write("link.yaml", "file: ../../../../../../etc/passwd\n");
  CHECK_THAT(error_of([&] { load(path, {"platform.file=" + link}); }), Contains("leads out of"));
}

TEST_CASE("a word in the place of a mapping means a mapping with one key") {
  const Folder folder;
  const Layout layout{{"cost"}, {{"platform", "file"}, {"policy", "name"}, {"cost", "model"}}};
  const std::string path = folder.scenario("platform: ../b/base.yaml\npolicy: resident\n");
  const auto resolved = [&](const std::vector<std::string>& overrides) {
    return resolve_with_overrides(load_file(path), path, {"model*", "platform"}, overrides, layout);
  };
  const Value d = resolved({});
  CHECK(at(d, {"platform", "links", "host", "latency"}) == "5us");
  CHECK(at(d, {"policy", "name"}) == "resident");
  CHECK(d.find("policy")->find("name")->position().line == 2);
  CHECK(d.find("policy")->position().line == 2);
  // An override may change a key of a mapping that is written as a word. The word becomes a mapping first.
  const Value changed = resolved({"policy.buffers=2", "cost=roofline", "cost.share=1",
                                  "platform=k40", "platform.links.host.latency=7us"});
  CHECK(at(changed, {"policy", "name"}) == "resident");
  CHECK(at(changed, {"policy", "buffers"}) == "2");
  CHECK(at(changed, {"cost", "model"}) == "roofline");
  CHECK(at(changed, {"cost", "share"}) == "1");
  CHECK(at(changed, {"platform", "links", "host", "latency"}) == "7us");
  CHECK(at(resolved({"policy=streamed"}), {"policy", "name"}) == "streamed");
}
