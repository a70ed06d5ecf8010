#!/usr/bin/python3
"""Tests the messages with which `sluice placement` refuses questions. Also tests which sizes of fast memory are marked
in the table that the command prints."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))
ROOFLINE = "cost.model=roofline"


def placement(*words):
    done = subprocess.run([PROGRAM, "placement", *words], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Placement(unittest.TestCase):
    def refused(self, words, code, *parts):
        found, out, err = placement(*words)
        self.assertEqual((found, out), (code, ""))
        for part in parts:
            self.assertIn(part, err)

    def test_a_cost_model_without_bandwidths_is_refused_at_its_key(self):
        self.refused(["alexnet_x200"], 3, "alexnet_x200.yaml:13:15: error", "'peak'", ROOFLINE)
        self.refused(["alexnet_resident", "cost=peak"], 3, "cost=peak:1:6: error", "'peak'", ROOFLINE)

    def test_a_memory_without_a_rate_is_refused_at_its_place_in_the_platform(self):
        memories = "[{capacity: 24GB, bandwidth: 960GB/s}, {name: ddr, capacity: 64GB}]"
        memory = f"platform.devices.gpu.memory={memories}"
        scenario = "analysis/validation/alexnet_hbm_ddr.yaml"
        parts = [f"{memory}:1:68: error", "layer 'conv1'", "in 'gpu_ddr'", "device 'gpu'", "such as read: 30GB/s"]
        self.refused([scenario, memory, "--fast", "50%"], 3, *parts)
        for policy in ("resident", "streamed"):
            words = ["run", scenario, memory, f"policy={{name: {policy}, placement: static}}"]
            done = subprocess.run([PROGRAM, *words], cwd=ROOT, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn(parts[0], done.stderr)

    def test_an_unknown_way_or_size_is_refused_with_its_option(self):
        self.refused(["alexnet_resident", ROOFLINE, "--ways", "statik"], 2, "'--ways'", "did you mean 'static'?")
        for size, why in {"50": "is not a size of fast memory", "30%..10%": "ends before it begins",
                          "1:0": "no fast or no slow memory", "0:8": "no fast or no slow memory",
                          "150%": "at most 100%", "10%..120%": "at most 100%"}.items():
            with self.subTest(size=size):
                self.refused(["alexnet_resident", ROOFLINE, "--fast", size], 2, f"'{size}' for '--fast'", why)

    def test_rates_in_place_price_slow_memory_for_any_cost_model(self):
        words = ["alexnet_resident", "cost=peak", "--ways", "all_slow", "--fast", "100%"]
        code, out, _ = placement(*words, "--in-place", "20GB/s:4.4GB/s", "--json")
        document = json.loads(out)
        self.assertEqual((code, document["cost_model"], document["in_place"]),
                         (0, "peak", {"read_bytes_per_s": 20e9, "write_bytes_per_s": 4.4e9}))
        self.assertGreater(document["results"][0]["slowdown"], 1)
        _, out, _ = placement(*words, "--in-place", "20GB/s:4.4GB/s")
        self.assertIn("(cost model peak; in addition, slow memory is read at 20 GB/s and written at 4.4 GB/s)", out)
        for text in ("20GB/s", "20GB/s:0GB/s", "20GB/s:fast", "20GB:4GB", ":"):
            with self.subTest(text=text):
                self.refused([*words, "--in-place", text], 2, f"'{text}' for '--in-place'", "(20GB/s:4.4GB/s)")

    def test_the_table_marks_the_size_that_the_device_has_and_larger_ones(self):
        code, out, _ = placement("alexnet_x200", ROOFLINE, "--ways", "all_slow")
        self.assertEqual(code, 0)
        lines = out.splitlines()
        self.assertIn("cost model roofline", lines[0])
        own = [line for line in lines if "the device's" in line]
        self.assertEqual([line.split()[:2] for line in own], [["24", "GB"]])
        self.assertEqual([line.split()[2] for line in lines if line.split()[4:5] == ["beyond"]],
                         ["60", "70", "80", "90", "100"])

    def test_a_refusal_names_kernel_memory_and_the_largest_tensors(self):
        code, out, _ = placement("alexnet_x200", ROOFLINE, "--fast", "50%", "--ways", "all_fast", "--json")
        self.assertEqual(code, 4)
        document = json.loads(out)
        self.assertEqual((document["cost_model"], document["fast_capacity_bytes"]), ("roofline", 24000000000))
        self.assertIn("the kernel needs 41.11 GB there, and the memory has 20.56 GB; the largest tensors are weights of full6 (20.97 GB)",
                      document["results"][0]["refused"])

    def test_a_profile_of_kernels_by_placement_gives_each_kernel_its_row(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario, profile = measured_scenario(pathlib.Path(folder))
            code, out, _ = placement(str(scenario), "--fast", "120B,940B,100%", "--ways", "all_slow,static", "--json")
            self.assertEqual(code, 0)
            document = json.loads(out)
            seconds = {(row["way"], row["fast_bytes"]): row["simulated_s"] for row in document["results"]}
            # Each of the two kernels reads two operands. A kernel takes 1 ms if all its tensors are in DRAM. Each
            # operand in PMEM adds 0.1 ms, and a result in PMEM adds 3 ms. If all tensors are in PMEM, a kernel takes
            # 1 + 2 x 0.1 + 3 = 4.2 ms.
            self.assertAlmostEqual(document["all_fast_s"], 2e-3)
            self.assertAlmostEqual(seconds["all_slow", 940], 2e-3 * 4.2)
            # Fast memory of 120 bytes has room for the image and the results of the two products. Fast memory of 940
            # bytes has room for all tensors except the weights of one product.
            self.assertAlmostEqual(seconds["static", 120], 2.2e-3)
            self.assertAlmostEqual(seconds["static", 940], 2.1e-3)
            names = [tensor["name"] for tensor in document["worth"]["tensors"]]
            # A result in fast memory saves the most seconds, so the results of the two products come first.
            self.assertEqual(names[:2], ["one", "two"])
            lines = profile.read_text().splitlines()
            profile.write_text("\n".join(lines[:-1]) + "\n")
            self.refused([str(scenario)], 3, "layer 'two'", "was not measured", "pmem;pmem and", "cost.outside=roofline")


def measured_scenario(folder):
    """Returns a scenario with two products whose kernels were measured in all placements, with known seconds."""
    (folder / "model.yaml").write_text("""format: sluice-model/1
name: two
layers:
- {type: input, name: image, shape: [10]}
- {type: dense, name: one, features: 20, bias: false}
- {type: dense, name: two, features: 5, bias: false}
""")
    profile = folder / "measured.csv"
    subprocess.run([PROGRAM, "profile", "plan", str(folder / "model.yaml"), "--pools", "dram,pmem", "--batch", "1",
                    "-o", str(profile)], check=True, capture_output=True)
    lines = profile.read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    for row in rows:
        reads, writes = row["input_pools"].split(";"), row["output_pools"]
        row["seconds_median"] = 1e-3 * (1 + 0.1 * reads.count("pmem") + 3 * (writes == "pmem"))
        row["processed"] = "yes"
    with open(profile, "w", newline="") as out:
        out.write("".join(line + "\n" for line in lines if line.startswith("#")))
        table = csv.DictWriter(out, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    scenario = folder / "scenario.yaml"
    scenario.write_text(SERVER + """model: {file: model.yaml}
policy: {name: resident}
workload: {batch: 1}
cost: {model: measured, profile: measured.csv}
""")
    return scenario, profile


SERVER = """format: sluice-scenario/1
platform:
  format: sluice-platform/1
  name: server
  devices:
    cpu: {rate: {float32: 1000TFLOP/s}, memory: [dram, pmem]}
  memories:
    dram: {capacity: 1000B, bandwidth: 100GB/s}
    pmem: {capacity: 40000B, bandwidth: 10GB/s}
  links:
    copy: {joins: [dram, pmem], bandwidth: 2GB/s}
"""
OPTANE = ["platform.memories.dram.capacity=300MB", "--json", "--executor", "both"]


class InRuns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scenario = pathlib.Path(folder.name, "vgg16.yaml")
        self.scenario.write_text("format: sluice-scenario/1\nmodel: vgg16\nplatform: optane_server\npolicy: streamed\n"
                                 "workload: {mode: inference, batch: 8, steps: 4}\ncost: roofline\n")

    def run_(self, *words):
        done = subprocess.run([PROGRAM, "run", str(self.scenario), *words], cwd=ROOT, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_reading_weights_in_place_is_faster_than_streaming_them_and_a_note_says_so(self):
        _, out, err = self.run_(*OPTANE)
        streamed = json.loads(out)
        told = {note["name"]: note["text"] for note in streamed["notes"]}
        self.assertIn("Weights come from 'pmem' over a copy engine at 2 GB/s, but cpu can read them in place at "
                      "38.2 GB/s, and its compute units can copy them at 29 GB/s", told["second_memory"], err)
        _, out, err = self.run_("policy={name: resident, placement: static}", *OPTANE)
        placed = json.loads(out)
        self.assertNotIn("second_memory", {note["name"] for note in placed["notes"]}, err)
        metrics = [run["metrics"]["makespan_s"] for run in (streamed, placed)]
        self.assertGreater(metrics[0], 2 * metrics[1])
        _, out, _ = self.run_("policy={name: resident, placement: auto}", *OPTANE)
        self.assertLessEqual(json.loads(out)["metrics"]["makespan_s"], metrics[1])

    def test_the_note_of_an_empty_memory_advises_what_is_possible(self):
        platform = pathlib.Path(self.scenario.parent, "card.yaml")
        for link, words in (("", "no link joins the two memories. A link between 'gpu' and 'gpu_ddr'"),
                            ("    far: {joins: [gpu, gpu_ddr], bandwidth: 100GB/s}\n",
                             "policy={name: resident, placement: auto} cost=roofline places tensors in both memories")):
            platform.write_text("format: sluice-platform/1\nname: card\ndevices:\n  gpu:\n"
                                "    rate: {float32: 1TFLOP/s}\n    memory:\n    - {capacity: 8GB, bandwidth: 1TB/s}\n"
                                "    - {name: ddr, capacity: 64GB, bandwidth: 100GB/s}\n"
                                "memories: {host: {capacity: 64GB}}\n"
                                "links:\n    host: {joins: [host, gpu], bandwidth: 10GB/s}\n" + link)
            code, out, err = self.run_(f"platform={{file: {platform}}}", "cost=peak",
                                       "policy={name: resident, placement: none}", "--json")
            self.assertEqual(code, 0, err)
            told = {note["name"]: note["text"] for note in json.loads(out)["notes"]}
            self.assertIn(words, told["second_memory"])
        for cost, advice in (("peak", "policy.placement=auto cost=roofline also compares plans that use both memories"),
                             ("roofline", "policy.placement=auto also compares plans that use both memories")):
            for placement in ("none", "auto"):
                code, out, err = self.run_(f"platform={{file: {platform}}}", "cost=" + cost,
                                           "policy.placement=" + placement, "--json")
                self.assertEqual(code, 0, err)
                told = {note["name"]: note["text"] for note in json.loads(out)["notes"]}
                self.assertEqual(placement == "none", "second_memory" in told)
                self.assertIn(advice, told.get("second_memory", advice))
        code, _, err = self.run_(f"platform={{file: {platform}}}", "policy={name: resident, placement: auto}",
                                 "cost=roofline")
        self.assertEqual(code, 0, err)

    def test_a_second_memory_without_a_bandwidth_is_named(self):
        platform = pathlib.Path(self.scenario.parent, "card.yaml")
        platform.write_text("format: sluice-platform/1\nname: card\ndevices:\n  gpu:\n"
                            "    rate: {float32: 1TFLOP/s}\n    memory:\n    - {capacity: 100MB, bandwidth: 1TB/s}\n"
                            "    - {name: ddr, capacity: 64GB}\n"
                            "memories: {host: {capacity: 64GB}}\n"
                            "links:\n    host: {joins: [host, gpu], bandwidth: 10GB/s}\n"
                            "    far: {joins: [gpu, gpu_ddr], bandwidth: 100GB/s}\n")
        words = [f"platform={{file: {platform}}}", "model=alexnet", "cost=roofline"]
        code, _, err = self.run_(*words, "policy=resident")
        self.assertEqual(code, 4)
        self.assertIn("a bandwidth of memory 'gpu_ddr' in the platform (without it, no tensors are placed there)", err)
        code, out, err = self.run_(*words, "policy=streamed", "--json")
        self.assertEqual(code, 0, err)
        answer = json.loads(out)
        self.assertEqual(answer["plan"]["facts"]["placements_compared"], "none, backing")
        told = {note["name"]: note["text"] for note in answer["notes"]}
        self.assertIn("the platform gives no bandwidth for this memory of gpu", told["second_memory"])
        _, out, _ = self.run_(*words, "policy={name: streamed, placement: none}", "--json")
        self.assertNotIn("No plan was compared", out)

    def test_weights_take_turns_from_a_second_memory_as_the_page_says(self):
        seconds = {}
        for placement in ("none", "backing", "static", "auto"):
            done = subprocess.run([PROGRAM, "run", "analysis/validation/alexnet_hbm_ddr.yaml",
                                   "policy.placement=" + placement, "--json"],
                                  cwd=ROOT, capture_output=True, text=True, check=True)
            seconds[placement] = json.loads(done.stdout)["metrics"]["step_s"]
        self.assertAlmostEqual(seconds["none"], 0.682, delta=0.001)
        self.assertAlmostEqual(seconds["backing"], 0.136, delta=0.001)
        self.assertAlmostEqual(seconds["static"], 0.117, delta=0.001)
        self.assertEqual(seconds["auto"], seconds["static"])

    def test_a_refusal_says_how_many_bytes_both_memories_lack(self):
        sizes = ["platform.devices.gpu.memory.0.capacity=3MB", "platform.devices.gpu.memory.1.capacity=2MB"]
        for policy in ("streamed", "phased"):
            done = subprocess.run([PROGRAM, "run", "analysis/validation/alexnet_hbm_ddr.yaml", "model=alexnet",
                                   f"policy={{name: {policy}, placement: static}}", "stages=whole", *sizes, "--json"],
                                  cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(done.returncode, 4, done.stderr)
            why = json.loads(done.stdout)["infeasible"]
            self.assertEqual((why["pool"], why["available_bytes"]), ("gpu and gpu_ddr", 5_000_000), policy)
            self.assertGreater(why["needed_bytes"], 5_000_000)

    def test_replicas_that_sum_gradients_have_placements_if_each_has_a_second_memory(self):
        second = ["platform.devices.ipu.memory=[{capacity: 900MB, bandwidth: 45TB/s}, "
                  "{name: ddr, capacity: 64GB, bandwidth: 20GB/s}]",
                  "platform.links.far={joins: [ipu, ipu_ddr], bandwidth: 20GB/s, sharing: private}"]
        for memories, placement, expected in ((second, "static", 0), (second, "auto", 0), ([], "static", 3),
                                              ([], "auto", 0), ([], "none", 0)):
            done = subprocess.run(
                [PROGRAM, "run", "alexnet_resident", "platform=ipu_m2000", "fates=keep_all", "cost=roofline",
                 "workload={mode: training, batch: 8, micro_batch: 1, dtype: float16}", *memories,
                 f"policy={{name: data_parallel, replica: resident, placement: {placement}}}"],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, expected, done.stderr)
            if expected:
                self.assertIn(f"'placement: {placement}' needs a device with a second memory of its own", done.stderr)
                self.assertIn("use placement none", done.stderr)

    def test_training_with_dram_as_a_hardware_cache_takes_the_time_of_the_page(self):
        done = subprocess.run([PROGRAM, "run", "analysis/validation/vgg416_optane.yaml", "policy.placement=cached",
                               "fates=keep_all", "--json"], cwd=ROOT, capture_output=True, text=True)
        answer = json.loads(done.stdout)
        self.assertAlmostEqual(answer["metrics"]["makespan_s"] / 310.4, 1.054, delta=0.001)
        facts = answer["plan"]["facts"]
        self.assertEqual(facts["placement"], "cached")
        self.assertLess(facts["cache_bytes"], 192e9)
        self.assertAlmostEqual(facts["cache_miss_bytes"] / 297e9, 1, delta=0.01)

    def test_the_header_names_both_rates_of_a_memory(self):
        _, out, _ = self.run_("platform.memories.dram.capacity=300MB")
        self.assertIn("100 % of 107.3 GB/s (written: 78.6 GB/s)", "\n".join(out.splitlines()[:2]))

    def test_a_request_without_a_placement_is_refused_at_its_key(self):
        for words, says in ((["policy.placement=static"], "needs a device with a second memory of its own"),
                            (["policy.placement=backing"], "the second memory of 'cpu' is host memory"),
                            (["policy={name: resident, placement: fastest}"], "expected one of: none, auto, static"),
                            (["policy={name: resident, placement: static}", "cost=peak"],
                             "a placement needs a cost model that counts the bandwidths of memories, but 'peak' does not")):
            code, _, err = self.run_(*words)
            self.assertEqual(code, 3)
            self.assertIn(says, err)


if __name__ == "__main__":
    unittest.main()
