// Tests records. A record lists the keys of a mapping. Messages, the schema for editors and the reader of documents all
// follow this list.
#include <catch2/catch.hpp>

#include "document/key.hpp"
#include "document/load.hpp"
#include "document/schema.hpp"
#include "support/bad_input.hpp"

using namespace sluice;
using Catch::Matchers::Contains;
using test::error_of;

namespace {

const Record inner = {.name = "port",
                      .summary = "one side",
                      .fields = {Key::integer("lanes", "lanes").between(1, 16)}};

const Record link_record = {
    .name = "link",
    .summary = "what joins two memories",
    .fields = {
        Key::quantity("bandwidth", Dimension::bytes_per_s, "bytes per second").more_than(0),
        Key::quantity("latency", Dimension::seconds, "propagation").by_default("0s"),
        Key::quantity("capacity", Dimension::bytes, "bytes").or_absent().or_words({"unlimited"}),
        Key::choice("duplex", {"full", "half"}, "directions").by_default("full"),
        Key::integer("count", "how many").by_default("1").or_words({"auto"}).between(1, 8),
        Key::number("efficiency", "share").by_default("100%").more_than(0).at_most(1),
        Key::boolean("enabled", "whether").by_default("true"),
        Key::text("label", "a word").or_absent(),
        Key::mapping("port", "a side").or_absent().with_keys(inner),
        Key::list("ports", "sides").or_absent().with_keys(inner),
        Key::mapping("by_name", "named sides").or_absent().with_entries(inner),
    }};

std::string refused(const std::string& text) {
  const Value d = parse_text(text, "t.yaml");
  return error_of([&] { Reader(d, link_record, "link 'host'"); });
}

}  // namespace

TEST_CASE("a reader returns typed values, whether they are written or defaults") {
  const Value d = parse_text(
      "bandwidth: 30GB/s\nlatency: 5us\ncapacity: 16GiB\nduplex: half\ncount: 3\nefficiency: 70%\n"
      "enabled: false\nlabel: 7\nport: {lanes: 4}\n",
      "t.yaml");
  const Reader r(d, link_record);
  CHECK(r.quantity("bandwidth") == 30e9);
  CHECK(r.quantity("latency") == 5e-6);
  CHECK(r.bytes("capacity") == 17'179'869'184);
  CHECK(r.text("duplex") == "half");
  CHECK(r.integer("count") == 3);
  CHECK(r.number("efficiency") == 0.7);
  CHECK_FALSE(r.boolean("enabled"));
  CHECK(r.text("label") == "7");
  CHECK(r.value("port")->find("lanes")->as_integer() == 4);

  const Value minimal = parse_text("bandwidth: 1B/s", "t.yaml");
  const Reader m(minimal, link_record);
  CHECK_FALSE(m.has("latency"));
  CHECK(m.quantity("latency") == 0);
  CHECK(m.text("duplex") == "full");
  CHECK(m.integer("count") == 1);
  CHECK(m.number("efficiency") == 1);
  CHECK(m.boolean("enabled"));
  CHECK_FALSE(m.has("capacity"));
  CHECK(m.value("port") == nullptr);
  CHECK_THAT(error_of([&] { (void)m.bytes("capacity"); }), Contains("70 "));
  CHECK_THAT(error_of([&] { (void)m.text("no such field"); }), Contains("70 "));
}

TEST_CASE("a field accepts the words that its declaration allows") {
  const Value d = parse_text("bandwidth: 1B/s\ncapacity: unlimited\ncount: auto\n", "t.yaml");
  const Reader r(d, link_record);
  CHECK(r.is_word("capacity", "unlimited"));
  CHECK(r.is_word("count", "auto"));
  CHECK_FALSE(r.is_word("count", "unlimited"));
  CHECK_FALSE(r.is_word("latency", "auto"));
}

TEST_CASE(
    "an unknown key is refused, and the message has its position, a suggestion and all allowed keys") {
  CHECK(refused("bandwidth: 1B/s\nlatencey: 5us") ==
        "3 t.yaml:2:1: error: unknown key 'latencey' in link 'host' (did you mean 'latency'?); "
        "allowed: bandwidth, latency, capacity, duplex, count, efficiency, enabled, label, port, "
        "ports, by_name\n    latencey: 5us\n    ^");
}

TEST_CASE("each value is checked for type, unit and range, and errors have its position") {
  const std::string b = "bandwidth: 1B/s\n";
  CHECK(
      refused("bandwidth: -3GB/s") ==
      "3 t.yaml:1:12: error: '-3GB/s' for 'bandwidth': the number may not be negative, expected bytes "
      "per second like \"30GB/s\"\n    bandwidth: -3GB/s\n               ^");
  CHECK_THAT(refused("{}"), Contains("t.yaml:1:1: error: the key 'bandwidth' is missing in link "
                                     "'host' (bytes per second); expected bytes per second like"));
  CHECK_THAT(refused("[1]"), Contains("expected a mapping for link 'host', got a list"));
  CHECK_THAT(refused("bandwidth: 30"), Contains("'30' for 'bandwidth': the unit is missing"));
  CHECK_THAT(refused("bandwidth: -30"),
             Contains("'-30' for 'bandwidth': the number may not be negative"));
  CHECK_THAT(refused("bandwidth: 30GB"), Contains("unknown unit 'GB'"));
  CHECK_THAT(refused("bandwidth: 0B/s"), Contains("it must be more than 0 B/s"));
  CHECK_THAT(refused("bandwidth: [1]"),
             Contains("a list for 'bandwidth': expected bytes per second"));
  CHECK_THAT(refused("bandwidth:"), Contains("'null' for 'bandwidth': expected bytes per second"));
  CHECK_THAT(refused("bandwidth: true"), Contains("'true' for 'bandwidth': expected bytes"));
  CHECK_THAT(
      refused(b + "capacity: 1.5B"),
      Contains("2:11: error: '1.5B' for 'capacity': the amount is not a whole number of bytes"));
  CHECK_THAT(refused(b + "capacity: none"),
             Contains("'none' for 'capacity': the text does not start"));
  CHECK_THAT(refused(b + "duplex: hlaf"),
             Contains("'hlaf' for 'duplex': expected one of: full, half (did you mean 'half'?)"));
  CHECK_THAT(refused(b + "count: 3.0"),
             Contains("'3.0' for 'count': expected an integer, or: auto"));
  CHECK_THAT(refused(b + "count: '3'"), Contains("'3' for 'count': expected an integer"));
  CHECK_THAT(refused(b + "count: 0"), Contains("'0' for 'count': it must be at least 1"));
  CHECK_THAT(refused(b + "count: -5"), Contains("'-5' for 'count': it must be at least 1"));
  CHECK_THAT(refused(b + "count: 9"), Contains("'9' for 'count': it must be at most 8"));
  CHECK_THAT(refused(b + "efficiency: 0"), Contains("it must be more than 0"));
  CHECK_THAT(refused(b + "efficiency: 1.1"), Contains("it must be at most 1"));
  CHECK_THAT(refused(b + "efficiency: 101%"),
             Contains("'101%' for 'efficiency': it must be at most 1"));
  CHECK_THAT(refused(b + "efficiency: half"), Contains("expected a number or a percentage"));
  CHECK_THAT(refused(b + "enabled: maybe"),
             Contains("'maybe' for 'enabled': expected true or false"));
  CHECK_THAT(refused(b + "enabled: 1"),
             Contains("'1' for 'enabled': expected true or false (did you mean 'true'?)"));
  CHECK_THAT(refused(b + "enabled: 0"), Contains("(did you mean 'false'?)"));
  CHECK_THAT(refused("bandwidth: 64e99GB/s"),
             Contains("it must be at most 1 EB/s: no machine has more"));
  CHECK_THAT(refused(b + "label: {}"), Contains("a mapping for 'label': expected a text"));
  CHECK_THAT(refused(b + "label: ~"), Contains("'null' for 'label': expected a text"));
  CHECK_THAT(refused(b + "port: 3"), Contains("'3' for 'port': expected a mapping"));
  CHECK_THAT(refused(b + "ports: {}"), Contains("a mapping for 'ports': expected a list"));
}

TEST_CASE("an open record accepts unknown keys, which other code reads") {
  const Record open = {.name = "model", .summary = "", .fields = {}, .open = true};
  const Value d = parse_text("layers: 3", "t.yaml");
  CHECK(error_of([&] { Reader(d, open); }) == "nothing");
}

TEST_CASE(
    "located() adds a position to an error without a position, and keeps the position of any other error") {
  const Value d = parse_text("a: 1\nb: 2", "t.yaml");
  CHECK_THAT(error_of([&] { located(*d.find("b"), []() { throw InputError("m"); }); }),
             Contains("3 t.yaml:2:4: error: m"));
  CHECK_THAT(error_of([&] { located(*d.find("b"), [&]() { fail_at(*d.find("a"), "m"); }); }),
             Contains("3 t.yaml:1:4: error: m"));
}

TEST_CASE("the schema for editors accepts the keys and values that the record declares") {
  const Value schema = parse_text(json_schema(link_record, "A link", "link"), "schema.json");
  CHECK(schema.find("$schema")->text() == "http://json-schema.org/draft-07/schema#");
  CHECK(schema.find("title")->text() == "A link");
  CHECK_FALSE(schema.find("additionalProperties")->as_bool());
  REQUIRE(schema.find("required")->items().size() == 2);
  CHECK(schema.find("required")->items()[0].text() == "format");
  CHECK(schema.find("required")->items()[1].text() == "bandwidth");
  const Value& p = *schema.find("properties");
  CHECK(p.find("format")->find("const")->text() == "sluice-link/1");
  CHECK(p.find("latency")->find("default")->text() == "0s");
  CHECK(p.find("latency")->find("description")->text() == "propagation");
  CHECK_THAT(p.find("bandwidth")->find("pattern")->text(),
             Contains("|GB/s|") && Contains("|GiB/s"));
  CHECK(p.find("duplex")->find("enum")->items().size() == 2);
  const Value& count = p.find("count")->find("anyOf")->items()[0];
  CHECK(count.find("minimum")->as_integer() == 1);
  CHECK(count.find("maximum")->as_integer() == 8);
  CHECK(p.find("count")->find("anyOf")->items()[1].find("enum")->items()[0].text() == "auto");
  CHECK(p.find("enabled")->find("default")->as_bool());
  CHECK(p.find("port")->find("properties")->find("lanes")->find("type")->text() == "integer");
  CHECK(p.find("ports")->find("items")->find("additionalProperties")->as_bool() == false);
  CHECK(p.find("by_name")->find("additionalProperties")->find("properties")->find("lanes") !=
        nullptr);
}

TEST_CASE(
    "in the schema, a document that names a base needs no other key, and each of its keys is checked") {
  const Value schema = parse_text(
      json_schema(link_record, "A link", "link", {.may_have_base = true}), "schema.json");
  CHECK(schema.find("required") == nullptr);
  CHECK(schema.find("if")->find("required")->items()[0].text() == "file");
  const Value &variant = *schema.find("then"), &whole = *schema.find("else");
  CHECK(variant.find("required") == nullptr);
  CHECK(variant.find("properties")->find("file")->find("type")->text() == "string");
  CHECK(whole.find("required")->items().size() == 2);
  CHECK(whole.find("properties")->find("file") == nullptr);
  for (const Value* one : {&variant, &whole})
    CHECK(one->find("additionalProperties")->as_bool() == false);
}

TEST_CASE(
    "in the schema, the allowed keys of a mapping depend on the value of the key that selects its variant") {
  const Record pump = {"pump",
                       "",
                       {{.name = "kind", .type = Type::choice, .choices = {"slow"}},
                        {.name = "litres", .type = Type::integer}}};
  const Record sieve = {
      "sieve",
      "",
      {{.name = "kind", .type = Type::choice, .default_text = "fine", .choices = {"fine"}},
       {.name = "holes", .type = Type::integer}}};
  const Record any = {
      "any", "", {{.name = "kind", .type = Type::choice, .choices = {"slow", "fine"}}}, true};
  const Record top = {"top", "", {{.name = "part", .type = Type::mapping, .record = &any}}};
  const Value schema = parse_text(
      json_schema(
          top, "A top", "top",
          {.variants = {{"part", {{{{"kind", "slow"}}, pump}, {{{"kind", "fine"}}, sieve}}}}}),
      "schema.json");
  const auto& rules = schema.find("properties")->find("part")->find("allOf")->items();
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].find("if")->find("properties")->find("kind")->find("const")->text() == "slow");
  CHECK(rules[0].find("if")->find("required")->items().size() == 1);
  CHECK(rules[0].find("then")->find("properties")->find("litres") != nullptr);
  CHECK(rules[0].find("then")->find("properties")->find("holes") == nullptr);
  CHECK(rules[0].find("then")->find("additionalProperties")->as_bool() == false);
  // "fine" is the default of `kind`. So its rule must also apply to a mapping without the key `kind`.
  CHECK(rules[1].find("if")->find("required")->items().empty());
}

TEST_CASE(
    "the schema defines a mapping only once, even if the mapping occurs in several places or inside itself") {
  Record item = {"item",
                 "",
                 {{.name = "kind", .type = Type::choice, .optional = true, .choices = {"leaf"}},
                  {.name = "items", .type = Type::list, .optional = true, .record = nullptr}},
                 true};
  const Record branch = {"branch", "", {{.name = "items", .type = Type::list, .record = &item}}};
  const Record leaf = {"leaf",
                       "",
                       {{.name = "kind", .type = Type::text},
                        {.name = "size", .type = Type::integer, .minimum = 1},
                        {.name = "sides", .type = Type::any}}};
  const Record knob = {"knob", "", {{.name = "default", .type = Type::integer}}};
  const Record top = {"top",
                      "",
                      {{.name = "items", .type = Type::list, .record = &item},
                       {.name = "knobs", .type = Type::mapping, .record = &knob, .map_of = true}}};
  const Value schema = parse_text(
      json_schema(top, "A top", "top",
                  {.shared = {{"item",
                               {.variants = {{{{"kind", "leaf"}}, leaf, {"size", "sides"}},
                                             {{{"items", ""}}, branch}}}},
                              {"knob", {.alone = "default"}}}}),
      "schema.json");
  const Value& properties = *schema.find("properties");
  CHECK(properties.find("items")->find("items")->find("$ref")->text() == "#/definitions/item");
  const Value& defined = *schema.find("definitions")->find("item");
  CHECK(defined.find("anyOf")->items().size() == 2);  // one for a mapping with `kind`, one for a mapping with `items`
  const auto& rules = defined.find("allOf")->items();
  REQUIRE(rules.size() == 2);
  const Value& keys = *rules[0].find("then")->find("properties");
  const auto& sizes = keys.find("size")->find("anyOf")->items();
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[0].find("minimum")->as_integer() == 1);
  CHECK(sizes[1].find("pattern")->text() == "[$+*/()]");
  CHECK(keys.find("sides")->find("anyOf")->items().size() == 3);  // an integer, an expression or a list
  // The second variant of `item` applies to every mapping with the key `items`, whatever the value of this key is.
  CHECK(rules[1].find("if")->find("properties") == nullptr);
  CHECK(rules[1].find("if")->find("required")->items()[0].text() == "items");
  const Value& within = *rules[1].find("then")->find("properties")->find("items");
  CHECK(within.find("items")->find("$ref")->text() == "#/definitions/item");
  const auto& alone = schema.find("definitions")->find("knob")->find("anyOf")->items();
  REQUIRE(alone.size() == 2);
  CHECK(alone[0].find("type")->text() == "integer");
  CHECK(alone[1].find("type")->text() == "object");
}
