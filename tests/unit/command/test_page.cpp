// Tests how text is wrapped to the width of a page. Also tests how equal rows of several devices become one row.
#include <catch2/catch.hpp>

#include "command/groups.hpp"
#include "command/page.hpp"
#include "command/table.hpp"

using namespace sluice;

TEST_CASE("Text is broken at blanks, and a word that is too long gets its own line") {
  CHECK(broken("a bc def", 4) == std::vector<std::string>{"a bc", "def"});
  CHECK(broken("a bc def", 0) == std::vector<std::string>{"a bc def"});
  CHECK(broken("abcdefgh i", 4) == std::vector<std::string>{"abcdefgh", "i"});
  CHECK(broken("", 4) == std::vector<std::string>{""});
  CHECK(broken("äöü äöü", 3) == std::vector<std::string>{"äöü", "äöü"});
}

TEST_CASE(
    "The continuation of a line is indented to the column where the text of the line begins") {
  CHECK(folded("label  one two three\n", 14) == "label  one two\n       three\n");
  CHECK(folded("  indented words here\n", 12) == "  indented\n  words here\n");
  CHECK(folded("short\n", 80) == "short\n");
  CHECK(folded("no limit at all\n", 0) == "no limit at all\n");
  CHECK(folded("\x1b[1mbold\x1b[0m word\n", 9) == "\x1b[1mbold\x1b[0m word\n");
}

TEST_CASE("Paragraphs are wrapped to the width of the page, but lists keep their lines") {
  CHECK(reflowed("one two\nthree\n\nx  y\n  z\n", 40) == "one two three\n\nx  y\n  z\n");
}

TEST_CASE(
    "A table is fitted into the page: first the texts in its cells are wrapped, and then its columns are continued "
    "below each other") {
  const TextTable table{.columns = {left("name"), right("number"), left("what it is")},
                        .rows = {{"a", "1", "a sentence of quite a few words"}}};
  CHECK(table.aligned(0) ==
        "name  number  what it is\na          1  a sentence of quite a few words\n");
  CHECK(table.aligned(40) ==
        "name  number  what it is\na          1  a sentence of quite a few\n              words\n");
  const TextTable wide{.columns = {left("name"), right("first"), right("second")},
                       .rows = {{"a", "1", "2"}}};
  CHECK(wide.aligned(14) == "name  first\na         1\n\nname  second\na          2\n");
}

TEST_CASE("Rows that differ only in their device become one row") {
  const std::vector<std::string> devices = {"", "gpu0", "gpu1", "gpu2", "gpu10"};
  CHECK(grouped_by_device({{"transfers", "gpu0.down: 2 GB"},
                           {"", "gpu0.up: 1 GB"},
                           {"", "gpu1.down: 2 GB"},
                           {"", "gpu1.up: 1 GB"},
                           {"", "gpu2.down: 3 GB"},
                           {"", "host: 9 GB"}},
                          devices) == LabelledRows{{"transfers", "gpu0..gpu1.down: 2 GB"},
                                                   {"", "gpu0..gpu1.up: 1 GB"},
                                                   {"", "gpu2.down: 3 GB"},
                                                   {"", "host: 9 GB"}});
  // The row `gpu10.bytes` belongs to gpu10, and not to gpu1, although "gpu10" begins with "gpu1". In the list of
  // devices, gpu10 comes after gpu2, so the three devices are a range.
  CHECK(grouped_by_device({{"gpu1.bytes", "5"}, {"gpu2.bytes", "5"}, {"gpu10.bytes", "5"}},
                          devices) == LabelledRows{{"gpu1..gpu10.bytes", "5"}});
  CHECK(grouped_by_device({{"gpu0.bytes", "5"}, {"gpu2.bytes", "5"}}, devices) ==
        LabelledRows{{"gpu0.bytes", "5"}, {"gpu2.bytes", "5"}});
  CHECK(grouped_by_device({{"way", "gpu0 to gpu1"}, {"way", "gpu1 to gpu2"}}, devices) ==
        LabelledRows{{"way", "gpu0 to gpu1"}, {"way", "gpu1 to gpu2"}});
}
