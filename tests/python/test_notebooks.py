#!/usr/bin/python3
"""The notebooks run from the first cell to the last, show as many pictures as are committed, and what their
texts say is so."""

import pathlib
import sys
import unittest

from sluice_package import need

need("nbclient", "ipykernel", "matplotlib", "pandas")
import nbformat  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis/notebooks"))
import execute  # noqa: E402


# What their texts and titles say.
CLAIMS = {
    "1_first_run": """
assert result.metrics.bound_by == "dependencies"
assert spans["micro_batch"][(spans["stream"] == "gpu.compute") & (spans["end"] < 4)].max() + 1 == 590
assert abs(result.metrics.peak_bytes["gpu"] / 24e9 - 1) < 1e-4
link = spans[(spans["stream"] == "gpu.host.down") & (spans["start"] > 0.2) & (spans["end"] < 3.8)]
assert abs((link["end"] - link["start"]).sum() / 3.6 - 2 / 3) < 0.05
assert 0.55 < waits["waited"].nlargest(4).min() < waits["waited"].max() < 0.7
""",
    "2_what_if_pcie": """
time = table["makespan (s)"]
assert abs(time["PCIe 2.0"] / time["PCIe 3.0"] - 2) < 0.1
assert list(table["what binds"]) == 2 * ["gpu.host.down"] + 3 * ["dependencies"]
assert round(100 * (1 - time["PCIe 6.0"] / time["PCIe 4.0"])) == 22
assert round(100 * (time["PCIe 6.0"] / table["computing (s)"]["PCIe 6.0"] - 1)) == 11
assert ax.get_ylim()[1] > 1.1 * time.max()
""",
    "3_phased_ipu_pair": """
assert round(ridge) == 7133 and round(base.platform.flop_per_s("ipu0", "float16") / 1e11) == 2283
hidden = table["loaded a phase ahead"] < 1.01
assert list(hidden) == [intensity > ridge for intensity in table.index]
assert (table["loaded when it begins"] > 1.4).all()
""",
    "4_keep_recompute_offload": """
refused = {(2, "keep_all"), (2, "recompute_all"), (4, "keep_all"), (4, "selective"), (4, "recompute_all")}
assert set(table.index[table["peak (GB)"].isna()]) == refused
assert abs(table["recomputed (%)"][2, "selective"] - 4.5) < 0.05
lines = {line.get_label(): line.get_ydata() for line in ax.lines}
assert [a < b for a, b in zip(lines["offload_all"], lines["sqrt"])] == [link >= 16 for link in links]
assert all(min(line[i] for line in lines.values()) == lines["optimal"][i] for i in range(len(links)))
""",
    "5_your_own_policy": """
assert [round(m.peak_bytes["ipu0"] / 1e6) for m in runs] == [80, 88, 88, 88, 88, 88]
assert len({m.makespan_s for m in runs[2:]}) == 1 and runs[1].makespan_s > runs[2].makespan_s
assert runs[2].bound_by == "ipu0.compute"
assert right.get_ylim()[1] > 90
""",
}


def pictures(notebook):
    return [len([1 for output in cell.get("outputs", []) if "image/png" in output.get("data", {})])
            for cell in notebook.cells]


def errors(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])
            if output.output_type == "error" or output.get("name") == "stderr"]


class Notebooks(unittest.TestCase):
    def test_each_runs_and_shows_its_pictures(self):
        paths = execute.notebooks()
        self.assertEqual([path.name[0] for path in paths], ["1", "2", "3", "4", "5"])
        for path in paths:
            with self.subTest(notebook=path.name):
                committed = nbformat.read(path, as_version=4)
                run = execute.execute(path, CLAIMS[path.stem])
                self.assertGreater(sum(pictures(committed)), 1)
                self.assertEqual(pictures(run), pictures(committed))
                self.assertEqual(errors(run) + errors(committed), [])


if __name__ == "__main__":
    unittest.main()
