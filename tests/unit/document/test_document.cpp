// Tests YAML and JSON: values, positions, refusals, and the conversion back to text.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "document/load.hpp"
#include "document/packed_value.hpp"
#include "document/record.hpp"
#include "support/bad_input.hpp"

using namespace sluice;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::error_of;
using Kind = Value::Kind;

namespace {

std::string where(const Value& value) {
  const Position at = value.position();
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string where(const Value::Entry& entry) {
  const Position at = entry.position();
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string refused(const std::string& text, const std::string& name = "t.yaml") {
  return error_of([&] { parse_text(text, name); });
}

bool same(const Value& a, const Value& b) {
  if (a.kind() != b.kind() || a.items().size() != b.items().size() ||
      a.entries().size() != b.entries().size())
    return false;
  if (a.kind() == Kind::string && a.text() != b.text()) return false;
  if (a.as_bool() != b.as_bool() || a.as_integer() != b.as_integer() ||
      a.as_number() != b.as_number())
    return false;
  for (std::size_t i = 0; i < a.items().size(); ++i)
    if (!same(a.items()[i], b.items()[i])) return false;
  for (std::size_t i = 0; i < a.entries().size(); ++i)
    if (a.entries()[i].key != b.entries()[i].key ||
        !same(a.entries()[i].value, b.entries()[i].value))
      return false;
  return true;
}

}  // namespace

TEST_CASE("a packed value keeps its content and the positions of all its parts") {
  const Value d = parse_text(
      "a: 1e3\nb: {c: [true, ~, '7', -1.50],\n    d: 61TFLOP/s}\ne: []\nf: {}\n", "t.yaml");
  const Value again = value_from(packed(d));
  CHECK(same(d, again));
  CHECK(to_json(d) == to_json(again));
  CHECK(again.find("a")->text() == "1e3");
  const std::function<void(const Value&, const Value&)> compare = [&](const Value& x,
                                                                      const Value& y) {
    CHECK(x.position().file == y.position().file);
    CHECK(x.position().source == y.position().source);
    CHECK(where(x) == where(y));
    for (std::size_t i = 0; i < x.items().size(); ++i) compare(x.items()[i], y.items()[i]);
    for (std::size_t i = 0; i < x.entries().size(); ++i) {
      CHECK(where(x.entries()[i]) == where(y.entries()[i]));
      compare(x.entries()[i].value, y.entries()[i].value);
    }
  };
  compare(d, again);
  CHECK(where(*again.find("b")->find("d")) == "3:8");
  const Value placeless = value_from(packed(Value::make(std::int64_t{3})));
  CHECK(placeless.as_integer() == 3);
  CHECK(placeless.position().line == 0);
}

TEST_CASE("plain scalars follow the core schema, and keep their text") {
  const Value d = parse_text(
      "a: 3\nb: -1.50\nc: true\nd: ~\ne: 61TFLOP/s\nf: '7'\ng: yes\nh:\ni: 1e3\nj: .5\nk: no\n",
      "t");
  CHECK(d.find("a")->kind() == Kind::integer);
  CHECK(d.find("a")->as_integer() == 3);
  CHECK(d.find("b")->kind() == Kind::number);
  CHECK(d.find("b")->as_number() == -1.5);
  CHECK(d.find("b")->text() == "-1.50");
  CHECK(d.find("c")->as_bool());
  CHECK(d.find("d")->kind() == Kind::null);
  CHECK(d.find("e")->kind() == Kind::string);
  CHECK(d.find("f")->kind() == Kind::string);
  CHECK(d.find("g")->kind() == Kind::string);
  CHECK(d.find("g")->text() == "yes");
  CHECK(d.find("h")->kind() == Kind::null);
  CHECK(d.find("i")->as_number() == 1000);
  CHECK(d.find("j")->as_number() == 0.5);
  CHECK(d.find("k")->kind() == Kind::string);
  CHECK(d.find("z") == nullptr);
}

TEST_CASE("keys and values have the same positions if a text is read as YAML and as JSON") {
  const std::string text =
      "{\n  \"é\": {\"b\": [1, -2.5e3,\n \"x\\\"\\\\\", true, null]},\n\"c\":12}";
  for (const char* name : {"t.json", "t.yaml"}) {
    INFO(name);
    const Value d = parse_text(text, name);
    CHECK(where(d) == "1:1");
    CHECK(where(d.entries()[0]) == "2:3");
    const Value& b = *d.find("é")->find("b");
    CHECK(where(*d.find("é")) == "2:8");
    CHECK(where(b) == "2:14");
    CHECK(where(b.items()[0]) == "2:15");
    CHECK(where(b.items()[1]) == "2:18");
    CHECK(where(b.items()[2]) == "3:2");
    CHECK(b.items()[2].text() == "x\"\\");
    CHECK(where(b.items()[3]) == "3:11");
    CHECK(where(b.items()[4]) == "3:17");
    CHECK(where(d.entries()[1]) == "4:1");
    CHECK(where(*d.find("c")) == "4:5");
    CHECK(d.find("c")->as_integer() == 12);
  }
}

TEST_CASE("a byte order mark and Windows line ends are ignored") {
  const Value d = parse_text(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: x\r\n",
      "t.yaml");
  CHECK(d.find("a")->as_integer() == 1);
  CHECK(d.find("b")->text() == "x");
  CHECK(where(*d.find("b")) == "2:4");
  CHECK(parse_text("\xEF\xBB\xBF{\"a\": 1}", "t.json").find("a")->as_integer() == 1);
}

TEST_CASE("YAML that does not mean what it seems to mean is refused") {
  CHECK_THAT(refused("a: &x 1"), StartsWith("3 t.yaml:1:4: error: anchors"));
  CHECK_THAT(refused("&x a: 1"), Contains("anchors"));
  CHECK_THAT(refused("a: *x"), StartsWith("3 t.yaml:1:4: error: aliases"));
  CHECK_THAT(refused("a: &x [*x]"), Contains("anchors"));
  CHECK_THAT(refused("a: !!python/object x"), Contains("tags ('"));
  CHECK_THAT(refused("a: !secret [1]"), Contains("tags ('"));
  CHECK_THAT(refused("<<: {a: 1}"), Contains("merge keys"));
  CHECK_THAT(refused("a: 1\n---\nb: 2"), StartsWith("3 t.yaml:2:1: error: a second document"));
  CHECK_THAT(refused("a: 1\nb: 2\na: 3"),
             StartsWith("3 t.yaml:3:1: error: duplicate key 'a' (first at line 1)"));
  CHECK_THAT(refused("a: 010"),
             StartsWith("3 t.yaml:1:4: error: '010' for 'a' has a leading zero"));
  CHECK_THAT(refused("a: -007"), Contains("leading zero"));
  CHECK_THAT(refused("a: 0x10"), Contains("another base"));
  CHECK_THAT(refused("a: 0o10"), Contains("another base"));
  CHECK_THAT(refused("a: .nan"), Contains("'.nan' for 'a' is not a finite number"));
  CHECK_THAT(refused("a: -.inf"), Contains("'-.inf' for 'a' is not a finite number"));
  CHECK_THAT(refused("a: 1e999"), Contains("the number '1e999' for 'a' is out of range"));
  CHECK_THAT(refused("a: 9223372036854775808"), Contains("does not fit in 64 bits"));
  CHECK_THAT(refused("? [a]\n: 1"), Contains("a key must be a word"));
  CHECK_THAT(refused("~: 1"), Contains("a key is missing"));
  CHECK_THAT(refused("a: [1, 2"), Contains("t.yaml:1:"));
  CHECK_THAT(refused("a: 1\n b: 2"), StartsWith("3 t.yaml:2:3: error: this is not YAML"));
  CHECK_THAT(refused("a: b: c"), StartsWith("3 t.yaml:1:5: error: this is not YAML"));
}

TEST_CASE("JSON that is not strict is refused") {
  const auto json = [](const std::string& text) { return refused(text, "t.json"); };
  CHECK_THAT(json("{\"a\": 1,\n \"a\": 2}"),
             StartsWith("3 t.json:2:2: error: duplicate key 'a' (first at line 1)"));
  CHECK_THAT(json("{\"a\": NaN}"), StartsWith("3 t.json:1:7: error: this is not JSON"));
  CHECK_THAT(json("{\"a\": 1e999}"), Contains("number overflow"));
  CHECK_THAT(
      json("{\"a\": 18446744073709551615}"),
      StartsWith("3 t.json:1:7: error: the integer '18446744073709551615' for 'a' does not fit"));
  CHECK_THAT(json("{\"a\": 99999999999999999999}"), Contains("does not fit in 64 bits"));
  CHECK_THAT(json("{\"a\": 01}"), Contains("leading zero"));
  CHECK_THAT(json("{\"a\": 1"), Contains("this is not JSON"));
  CHECK_THAT(json("{\"a\": 1} {}"), Contains("expected end of input"));
  CHECK_THAT(json("{\"a\": 1,}"), Contains("this is not JSON"));
  CHECK_THAT(json("{\"a\": \"\\ud800\"}"), Contains("surrogate"));
  CHECK_THAT(json("a: 1"), Contains("this is not JSON"));
}

TEST_CASE("empty, binary and broken text is refused as YAML and as JSON") {
  const std::string empty = "the document is empty; `sluice new` writes an example to begin with";
  for (const std::string name : {"t.yaml", "t.json", "t"}) {
    INFO(name);
    CHECK(refused("", name) == "3 " + name + ": error: " + empty);
    CHECK(refused(" \n", name) == "3 " + name + ": error: " + empty);
    CHECK_THAT(refused("null", name), Contains("the document is empty"));
    CHECK_THAT(refused(std::string("a: \0b", 5), name),
               Contains(":1:4: error: a control character"));
    CHECK_THAT(refused("a: \x7F", name), Contains("control character"));
    CHECK_THAT(refused("a:\n\xFF", name), Contains(":2:1: error: this is not UTF-8"));
    CHECK_THAT(refused("\xC0\x80", name), Contains("not UTF-8"));          // overlong
    CHECK_THAT(refused("\xED\xA0\x80", name), Contains("not UTF-8"));      // surrogate
    CHECK_THAT(refused("\xF4\x90\x80\x80", name), Contains("not UTF-8"));  // beyond U+10FFFF
    CHECK_THAT(refused("a\xE2\x82", name), Contains("not UTF-8"));         // cut off
  }
  CHECK_THAT(refused("# only a comment"), Contains("the document is empty"));
  CHECK_THAT(refused("---\n"), Contains("the document is empty"));
}

TEST_CASE("bytes that are not text are found at their position, anywhere in a long text") {
  const std::string line = "# \xC3\xA4 long comment of 40 characters, or so\n";
  for (const std::string& bad : {std::string("\0", 1), std::string("\x1F"), std::string("\x7F"),
                                 std::string("\xFF"), std::string("\xC3"), std::string("\xE2\x82")})
    for (std::size_t before = 0; before < 150; ++before) {
      const std::string front = line + line + std::string(before, 'x');
      INFO(before << " characters before byte " << static_cast<int>(bad[0]));
      CHECK_THAT(refused("# " + front + bad + "\n" + line, "t.yaml"),
                 StartsWith("3 t.yaml:3:" + std::to_string(before + 1) + ": error: "));
    }
  for (std::size_t before = 0; before < 150; ++before)
    CHECK(refused("a: 1 # " + std::string(before, 'x') + "\xE2\x82\xAC\t\r\n", "t.yaml") ==
          "nothing");
}

TEST_CASE(
    "64 nested levels are read, 65 levels are refused, and 100,000 levels do not crash the reader") {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  for (const char* name : {"t.yaml", "t.json"}) {
    INFO(name);
    CHECK(refused(nested(64), name) == "nothing");
    CHECK_THAT(refused(nested(65), name), Contains(":1:65: error: nested deeper than 64 levels"));
    CHECK_THAT(refused(nested(100'000), name), StartsWith("3 "));
    CHECK_THAT(refused(std::string(100'000, '['), name), StartsWith("3 "));
  }
}

TEST_CASE("a duplicate key is also found in a map with many keys") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  CHECK(parse_text(text, "t.yaml").entries().size() == 1000);
  CHECK_THAT(refused(text + "k3: 1\n"),
             Contains("1001:1: error: duplicate key 'k3' (first at line 4)"));
}

TEST_CASE("only regular files are opened, and a missing file is an I/O error") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("sluice_doc_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string pipe = (folder / "pipe").string(), link = (folder / "link.yaml").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::ofstream(folder / "a.yaml") << "a: 1\n";
  fs::create_symlink("a.yaml", link);
  CHECK_THAT(error_of([&] { load_file(pipe); }), StartsWith("5 ") && Contains("a pipe"));
  CHECK_THAT(error_of([&] { load_file(folder.string()); }),
             StartsWith("5 ") && Contains("a folder"));
  CHECK_THAT(error_of([] { load_file("/dev/zero"); }), StartsWith("5 ") && Contains("a device"));
  CHECK_THAT(error_of([&] { load_file((folder / "none.yaml").string()); }),
             StartsWith("5 ") && Contains("No such file"));
  CHECK(load_file(link).find("a")->as_integer() == 1);
  fs::remove_all(folder);
}

TEST_CASE("if a document is written as YAML and read back, the result is an equal document") {
  const Value d = parse_text(
      "a: '3'\nb: 3\nc: [1, 2.5, '2.5', x, {d: 1, e: [[], {}, [1, [2]]]}]\nq: 61TFLOP/s\n"
      "yes: 'no'\n'': ''\nn: ~\nt: 'true'\nm: \"l1\\nl2\\t\\\"\\\\ # x: é\\x01\"\n"
      "'- x': '- y'\n'a: b': '{'\nr: -1.50\nz: ' lead'\ny: 'trail '\nx: '~'\nw: 'null'\nv: '*a'\n",
      "t.yaml");
  CHECK(same(parse_text(to_yaml(d), "back"), d));
  CHECK(same(parse_text(to_yaml_with_provenance(d), "back"), d));
  CHECK(same(parse_text(to_json(d), "back.json"), d));
  CHECK(same(parse_text(to_json(d, 0), "back.json"), d));
}

namespace {

Value random_value(std::mt19937& random, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int kind = pick(depth > 0 ? 7 : 5);
  if (kind == 0) return Value::make_null();
  if (kind == 1) return Value::make(pick(2) == 0);
  if (kind == 2) return Value::make(static_cast<std::int64_t>(random()) - 2'000'000'000);
  if (kind == 3) return Value::make(static_cast<double>(random()) / 997.0 - 1e6);
  const auto word = [&] {
    static const std::vector<std::string> parts = {
        "a", "Z", "0", "1e3", " ", ":", "#", "-", "\n", "'", "\"",  "\\",   "é", "{",
        "]", ",", "&", "*",   "!", "%", "@", "|", ">",  "~", "yes", "null", "$"};
    std::string text;
    for (int n = pick(5); n > 0; --n) text += parts[random() % parts.size()];
    return text;
  };
  if (kind == 4) return Value::make(word());
  Value made = kind == 5 ? Value::make_list() : Value::make_map();
  for (int n = pick(4); n > 0; --n) {
    if (kind == 5)
      made.items().push_back(random_value(random, depth - 1));
    else
      made.set("k" + word(), random_value(random, depth - 1));
  }
  return made;
}

}  // namespace

TEST_CASE("2000 random documents are equal after they are written and read as YAML and JSON") {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    Value d = Value::make_map();
    d.set("root", random_value(random, 5));
    const std::string yaml = i % 2 == 0 ? to_yaml_with_provenance(d) : to_yaml(d);
    INFO(yaml);
    REQUIRE(same(parse_text(yaml, "t.yaml"), d));
    REQUIRE(same(parse_text(to_json(d, i % 3), "t.json"), d));
  }
}

TEST_CASE("4000 mutations of a document are read or refused, and none of them ends the process") {
  const std::string seed =
      "format: sluice-platform/1\nlinks:\n  host: {bandwidth: 30GB/s, l: [1, \"x\", 'y']}\n"
      "text: |\n  a\n  b\n? key\n: >-\n  c\n";
  std::mt19937 random(11);
  int read = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = seed;
    for (int n = 1 + static_cast<int>(random() % 4); n > 0; --n) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = static_cast<char>(random() % 256);
      else
        text.insert(at, 1, "{}[]:-#&*!|>'\"%@,? \n\t"[random() % 22]);
    }
    const std::string said = refused(text, i % 2 == 0 ? "t.yaml" : "t");
    if (said == "nothing")
      ++read;
    else
      REQUIRE_THAT(said, StartsWith("3 t"));
  }
  CHECK(read > 0);
}

TEST_CASE("the kind and the version in the line `format` are checked") {
  const auto check = [](const std::string& text) {
    const Value d = parse_text(text, "t.yaml");
    return error_of([&] { require_format(d, "model"); });
  };
  CHECK(check("format: sluice-model/1") == "nothing");
  CHECK_THAT(check("name: x"),
             Contains("the key 'format' is missing; expected 'format: sluice-model/1'"));
  CHECK_THAT(
      check("format: sluice-platform/1"),
      StartsWith(
          "3 t.yaml:1:9: error: 'sluice-platform/1' for 'format': expected 'sluice-model/1'"));
  CHECK_THAT(check("format: sluice-model/2"), Contains("newer than this program can read"));
  CHECK_THAT(check("format: 1"), Contains("expected 'sluice-model/1'"));
  CHECK_THAT(check("[1]"), Contains("expected a mapping"));
}
