#!/usr/bin/python3
"""Tests that all files and names in the tables of docs/architecture.md exist. The page must have a row for each kind of
`./dev new`."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text()


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## )", PAGE, re.M | re.S)[1]


def rows(text):
    return [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("|---")][1:]


def is_path(word):
    return "/" in word and re.fullmatch(r"[\w./-]+", word) and not word.startswith("./")


class WhereIsWhat(unittest.TestCase):
    def test_every_path_exists(self):
        found = 0
        for row in rows(section("Where is what")):
            for word in filter(is_path, re.findall(r"`([^`]+)`", row)):
                with self.subTest(row=row[:60], path=word):
                    self.assertTrue((ROOT / word).exists())
                    found += 1
        self.assertGreater(found, 15)

    def test_every_function_stands_in_a_file_of_its_row(self):
        """If a row names a function, a type or a member, a file of this row must define it."""
        found = 0
        for row in rows(section("Where is what")):
            words = re.findall(r"`([^`]+)`", row)
            texts = [(ROOT / word).read_text() for word in words if is_path(word) and (ROOT / word).is_file()]
            for name in words:
                if not re.fullmatch(r"[A-Za-z]+(_[a-z]+)+|[A-Z]\w+(::\w+)?|describe", name):
                    continue
                with self.subTest(row=row[:60], name=name):
                    # A definition is recognised by the text behind the name: "(" behind a function, and " {" or " = "
                    # behind a type or a member.
                    self.assertTrue(any(re.search(rf"\b{re.escape(name)}(\(| = | \{{)", text) for text in texts))
                    found += 1
        self.assertGreater(found, 7)


class WhereEachKindGoes(unittest.TestCase):
    def test_every_path_exists(self):
        for row in rows(section("Where each kind of change goes")):
            for word in re.findall(r"`([^`]+)`", row):
                if is_path(word) and "*" not in word:
                    with self.subTest(row=row[:60], path=word):
                        self.assertTrue((ROOT / word).exists() or list(ROOT.glob(f"{word}.*")))

    def test_what_to_do_names_what_dev_new_names(self):
        """If `./dev new KIND` prints `./dev docs` or `./dev accept`, the row of this kind must name the command,
        too."""
        text = (ROOT / "cmake/new.py").read_text()
        kinds = re.findall(r'^    "(\w+)": Kind\((.*?)\),?\n(?=    "|\})', text, re.M | re.S)
        self.assertGreater(len(kinds), 9)
        for kind, record in kinds:
            row = next(row for row in rows(section("Where each kind of change goes"))
                       if re.match(rf"\| {kind}\b", row))
            with self.subTest(kind=kind):
                self.assertEqual("SCHEMAS" in record or "REFERENCE" in record, "`./dev docs`" in row)
                self.assertEqual("./dev accept" in record, "`./dev accept`" in row)


if __name__ == "__main__":
    unittest.main()
