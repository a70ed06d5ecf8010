#!/usr/bin/python3
"""Compares published measurements with the answers that Sluice gives by default. The page
analysis/validation/published_rates.md must have these answers. If a ratio of the two numbers is below 0.5 or above 2,
the page must name an effect that explains it. With --write, the script writes the page."""

import functools
import json
import subprocess
import sys
import unittest

import yaml

from validation import ENVIRONMENT, PROGRAM, ROOT

FOLDER = ROOT / "analysis/validation"
DATA, PAGE = FOLDER / "published_rates.yaml", FOLDER / "published_rates.md"
SCENARIO = "analysis/validation/one_card.yaml"

# Maps each key of a run in published_rates.yaml to the key of a scenario that gets its value. The keys `model` and
# `platform` are not here, because overrides() handles them.
PATHS = {
    "mode": "workload.mode", "dtype": "workload.dtype", "batch": "workload.batch",
    "micro_batch": "workload.micro_batch", "optimizer": "workload.optimizer",
    "master_weights": "workload.master_weights", "gradient_dtype": "workload.gradient_dtype",
    "capacity": "platform.devices.gpu.memory.capacity",
    "cut": "stages.cut", "fates": "fates.strategy", "policy": "policy.name", "resident": "policy.resident",
    "overlap": "policy.overlap"}

TOP = """# Published measurements compared with the default answer

Other people measured the models below, each on one card. The table compares each measurement with Sluice's answer to
the same question. No number is fitted: the cost model and all other choices are the defaults. For most cards, the
default shares are 0.7 of the peak rate and 0.7 of the memory bandwidth. The sources are named below, with the page and
table of each figure. Runs that compute on the host or read from a disk are left out.

Rates are for the steady state. The ratio is the number of Sluice divided by the published number. Above 1, the
simulated run is faster than the measured run, or, in a row in GB, takes more memory. The median of the {count} ratios
is {median}, and {within} ratios lie between 0.7 and 1.4. If a ratio is below 0.5 or above 2, the last column names in
bold an effect that Sluice leaves out.

`tests/validation/test_published_rates.py` runs every row of [published_rates.yaml](published_rates.yaml) and compares
this page with the answers. With `--write`, it writes the page.
"""


@functools.lru_cache(maxsize=None)
def data():
    return yaml.safe_load(DATA.read_text())


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def overrides(run):
    """Returns the overrides that turn the scenario into the run, as words of a command line."""
    model, *parameters = run["model"].split()
    words = [f"model={model}", *(f"model.{word}" for word in parameters), f"platform={run['platform']}"]
    words += [f"{PATHS[key]}={text_of(value)}" for key, value in run.items()
              if key not in ("model", "platform", "times")]
    return words


@functools.lru_cache(maxsize=None)
def metrics(*words):
    done = subprocess.run([PROGRAM, "run", SCENARIO, *words, "--json", "--executor", "replay"],
                          capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["metrics"]


def answer(row):
    """Returns the number that Sluice gives for the row, in the unit of the row."""
    if row["unit"] == "GB":
        (run,) = row["runs"]
        return metrics(*overrides(run))["peak_bytes"]["gpu"] / 1e9
    seconds = sum(run.get("times", 1) * metrics(*overrides(run))["step_s"] for run in row["runs"])
    return row["counted"] / seconds


def rounded(value):
    """Returns the value as text, with at most four digits, so that differences between machines do not show."""
    return f"{value:.4g}" if value < 10000 else f"{value:.0f}"


def ratio(row):
    return answer(row) / row["figure"]


def table():
    lines = ["| | what | published | Sluice | ratio | why they differ |", "|---|---|---|---|---|---|"]
    for number, row in enumerate(data()["rows"], 1):
        effect = data()["effects"][row["missing"]].split(".")[0] if "missing" in row else ""
        bold = f"**{effect}**: " if effect else ""
        lines.append(f"| {number} | {row['what']} | {row['figure']} {row['unit']} | "
                     f"{rounded(answer(row))} | {ratio(row):.2f} | {bold}{row.get('why', '')} |")
    return lines


def sources():
    lines = ["## Where the figures come from", "",
             "Each entry names a source, the numbers of the rows with figures from it, and the place of each figure in the",
             "source.", ""]
    for key, source in data()["sources"].items():
        places = [f"number {number}: {row['where']}" for number, row in enumerate(data()["rows"], 1)
                  if row["source"] == key]
        lines.append(f"- {source}. {'; '.join(places)}.")
    return lines


def commands():
    lines = ["## How Sluice was asked", "",
             "Each line begins with the number of a row of the table. The rest of the line completes the command",
             f"`sluice run {SCENARIO}` in the repository's folder. If a row has several lines, the seconds",
             "of the row are the sum over these lines. A line with `(31 times)` counts 31 times in this sum.",
             "", "```"]
    for number, row in enumerate(data()["rows"], 1):
        for run in row["runs"]:
            times = f"   ({run['times']} times)" if "times" in run else ""
            lines.append(f"{number:2}  {' '.join(overrides(run))}{times}")
    return lines + ["```"]


def page():
    ratios = sorted(ratio(row) for row in data()["rows"])
    top = TOP.format(count=len(ratios), median=f"{ratios[len(ratios) // 2]:.2f}",
                     within=sum(0.7 <= value <= 1.4 for value in ratios))
    effects = ["## What Sluice leaves out", ""] + [f"- {text}" for text in data()["effects"].values()]
    parts = [table(), effects, sources(), commands()]
    return top + "".join("\n" + "\n".join(part) + "\n" for part in parts)


class PublishedRates(unittest.TestCase):
    maxDiff = None

    def test_the_page_holds_what_the_program_says(self):
        self.assertEqual(page(), PAGE.read_text(), "write the page again with --write")

    def test_every_ratio_beyond_a_factor_of_two_names_the_missing_effect(self):
        for row in data()["rows"]:
            with self.subTest(row["what"]):
                if not 0.5 <= ratio(row) <= 2:
                    self.assertIn(row.get("missing"), data()["effects"])
                if not 0.85 <= ratio(row) <= 1.18:
                    self.assertTrue("missing" in row or len(row.get("why", "")) > 20)

    def test_most_rows_are_close(self):
        ratios = sorted(ratio(row) for row in data()["rows"])
        self.assertEqual(len(ratios), 45)
        self.assertTrue(0.8 <= ratios[len(ratios) // 2] <= 1.25, ratios)

    def test_every_source_is_used_and_every_row_names_its_source(self):
        self.assertEqual({row["source"] for row in data()["rows"]}, set(data()["sources"]))
        self.assertEqual({row["missing"] for row in data()["rows"] if "missing" in row}, set(data()["effects"]))
        for row in data()["rows"]:
            self.assertGreater(len(row["where"]), 5)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
    else:
        unittest.main(verbosity=2)
