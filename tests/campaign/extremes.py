#!/usr/bin/python3
"""Bundled scenarios with an extreme value in the place of one number.

A case takes one number of a resolved scenario, of its platform or of its model. It replaces the number by an extreme
value. The campaign draws from these cases. `extremes.py [PART] [OF]` runs the cases PART, PART + OF, PART + 2 OF and so
on, and prints the faults.
"""

import functools
import json
import pathlib
import re
import sys
import tempfile

from attacks import ROOT, sluice

# A refusal names the file, the line and the column, and shows the line with its key.
PLACE = re.compile(r"^extreme\.json:\d+:\d+: error: .+\n.+\n *\^", re.MULTILINE)
VALUES = ("1e-300", "1e300", "0", "-1", "9223372036854775807", "1e18", "0.5")
CPU_SECONDS = 20
QUANTITY = re.compile(r"(-?[0-9.]+(?:[eE][+-]?[0-9]+)?)( ?[A-Za-z/%]*)")


def numbers_of(node, path=()):
    """Yields the paths of all numbers and quantities below a node."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in entries:
        yield from numbers_of(child, (*path, key))
    is_number = isinstance(node, (int, float)) and not isinstance(node, bool)
    if is_number or isinstance(node, str) and QUANTITY.fullmatch(node):
        yield path


def changed(node, path, value):
    """Returns a copy of a document in which the number at the path has another value and the same unit."""
    if not path:
        return value + QUANTITY.fullmatch(node).group(2) if isinstance(node, str) else f"@{value}@"
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = changed(node[path[0]], path[1:], value)
    return copy


@functools.cache
def documents():
    """Returns the bundled scenarios by name, with their models and platforms."""
    found = {}
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        done = sluice(ROOT, "run", path, "--resolve", "--json")
        assert done.returncode == 0, done.stderr
        found[path.stem] = json.loads(done.stdout)
    return found


@functools.cache
def cases():
    """Returns a list of cases (name of a scenario, path of a number, value)."""
    return [(name, path, value) for name, document in documents().items() for path in numbers_of(document)
            for value in VALUES]


def run_case(folder, case):
    """Runs one case. The program must answer, refuse the value at its place, or say that the run does not fit."""
    name, path, value = case
    # The value is inserted as text. Python would write a number such as 1e300 in another way.
    text = json.dumps(changed(documents()[name], path, value), indent=1).replace(f'"@{value}@"', value)
    (pathlib.Path(folder) / "extreme.json").write_text(text)
    done = sluice(folder, "run", "extreme.json", "--executor", "replay", "--json",
                  limits={"AS": 6_000_000_000, "CPU": CPU_SECONDS})
    where = (*case, done.returncode, done.stderr.decode(errors="replace")[-400:])
    assert done.returncode in (0, 3, 4), where
    if done.returncode == 0:
        assert not re.search(rb": (nan|-?inf|NaN|Infinity)\b", done.stdout), where
    if done.returncode == 3:
        assert PLACE.search(done.stderr.decode()), where
    if done.returncode == 4:
        assert done.stderr, where


def one(folder, choice):
    run_case(folder, choice.choice(cases()))


def main():
    part, of = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (0, 1)
    faults = 0
    chosen = cases()[part::of]
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            try:
                run_case(folder, case)
            except AssertionError as fault:
                faults += 1
                print(fault, flush=True)
    print(f"{len(chosen)} cases, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
