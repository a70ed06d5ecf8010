#!/usr/bin/python3
"""Compares the tables of the pages with the records of the program: keys, defaults, options and names."""

import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))


def printed(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True, cwd="/",
                          env={"COLUMNS": "0", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}).stdout


def listed(kind):
    return {entry["name"]: entry for entry in json.loads(printed("list", kind, "--json"))}


def table(page, head):
    """Finds the table that begins with `head` on a page. Returns the cells of each of its rows."""
    text = (ROOT / page).read_text()
    begin = text.index(head)
    lines = text[begin:].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


class Tables(unittest.TestCase):
    def defaults_agree(self, said, parameter):
        """Compares the default in the table with the default of the record, if both are given."""
        if said is not None and parameter["default"] is not None:
            self.assertEqual(said, parameter["default"], parameter["name"])

    def test_the_keys_of_layers(self):
        records = listed("layers")
        rows = table("models/FORMAT.md", "| type | keys | output | parameters | FLOP |")
        seen = []
        for types, keys, *_ in rows:
            first = names(types)[0]
            every = [name if not name.startswith("…") else re.sub(r"\dd$", name[1:], first) for name in names(types)]
            seen += every
            wanted = set(names(keys)) - {"inputs", "forward", "backward"}  # every type of layer may have these keys
            if "as `conv2d`" in keys:
                wanted |= {parameter["name"] for parameter in records["conv2d"]["parameters"]} - {"conv2d"}
                wanted.discard("conv2d")
            for name in every:
                parameters = records[name]["parameters"]
                of_this = wanted if len(every) == 1 or not self.is_shared(keys) else wanted & {
                    parameter["name"] for parameter in parameters}
                with self.subTest(layer=name):
                    self.assertEqual({parameter["name"] for parameter in parameters}, of_this)
                    for parameter in parameters:
                        said = re.search(rf"`{parameter['name']}` ([\w.-]+)(?=[,;]|$)", keys)
                        self.defaults_agree(said and said[1], parameter)
        self.assertEqual(sorted(seen), sorted(records))

    @staticmethod
    def is_shared(keys):
        """A row may be for several types of layers. Returns whether it says to which type a key belongs, as in "`shape`
        of `reshape`"."""
        return re.search(r"` of `", keys)

    def test_the_keys_of_a_scenario(self):
        rows = table("scenarios/FORMAT.md", "| key | what | default |\n|---|---|---|\n| `format`")
        keys = [names(row[0])[0] for row in rows]
        self.assertEqual(keys, list(json.loads(printed("schema", "scenario"))["properties"]))

    def test_the_keys_of_phases(self):
        record = json.loads(printed("schema", "scenario"))["properties"]["phases"]
        rows = table("scenarios/FORMAT.md", "| key | values | default |\n|---|---|---|\n| `activations`")
        self.assertEqual([names(row[0])[0] for row in rows], list(record["properties"]))
        for key, _, default in rows:
            wanted = record["properties"][names(key)[0]].get("default")
            if wanted is not None:
                self.assertEqual(default, str(wanted), key)

    def test_the_keys_of_the_cost_model_measured(self):
        parameters = {parameter["name"]: parameter for parameter in listed("costs")["measured"]["parameters"]}
        rows = table("scenarios/FORMAT.md", "| key | what | default |\n|---|---|---|\n| `profile`")
        keys = [names(row[0])[0] for row in rows]
        self.assertLessEqual(set(parameters) - set(keys), {"memory_power"})  # this key has its own paragraph
        for key, _, default in rows:
            parameter = parameters[names(key)[0]]
            self.defaults_agree(default if re.fullmatch(r"\w+", default) else None, parameter)

    def test_the_scenarios(self):
        rows = table("scenarios/FORMAT.md", "| scenario | what it is for |")
        self.assertEqual(sorted(names(row[0])[0] for row in rows), sorted(listed("scenarios")))

    def test_the_options_and_ways_of_placement(self):
        text = printed("help", "placement")
        for option, *_ in table("docs/placement.md", "| option | meaning |"):
            with self.subTest(option=option):
                self.assertRegex(text, rf"(?m)^ .*{names(option)[0].split()[0]}\b")
        ways = [row[0] for row in table("docs/placement.md", "| way | meaning |")]
        answer = json.loads(printed("placement", "alexnet_x200", "cost.model=roofline", "--fast", "50%", "--json"))
        self.assertEqual(ways, list(dict.fromkeys(point["way"] for point in answer["results"])))


if __name__ == "__main__":
    unittest.main()
