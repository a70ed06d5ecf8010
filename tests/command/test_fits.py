#!/usr/bin/python3
"""Tests `sluice fits` on the command line. A run with the largest batch that the command prints must fit. With one more
sample, the exit code must be 4. The command must print the numbers of
analysis/validation/memory_and_computation_of_networks.md."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("SLUICE_PROGRAM")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "analysis/validation/memory_and_computation_of_networks.md").read_text(encoding="utf-8")
CARDS = ["gtx980", "k40", "k20"]


def sluice(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=ROOT, timeout=300)


def answer(*words):
    done = sluice(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Fits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "scenarios"

    def runs_and_one_more_does_not(self, *words):
        report = answer("fits", *words, "--write", self.folder)
        self.assertEqual(report["format"], "sluice-fits/1")
        for card in report["cards"]:
            with self.subTest(card=card["platform"]):
                file, largest = card["scenario"], card["largest"]
                result = answer("run", file)
                metrics = result["metrics"]
                self.assertEqual(metrics["samples"], 5 * largest)
                self.assertAlmostEqual(metrics["step_s"] / card["step_s"], 1, delta=1e-9)
                self.assertLessEqual(metrics["peak_bytes"][card["device"]], card["capacity_bytes"])
                self.assertGreaterEqual(metrics["peak_bytes"][card["device"]], card["most"]["bytes"])
                for part in ("one", "most", "next"):
                    self.assertEqual(sum(card[part]["by_class"].values()), card[part]["bytes"])
                self.assertEqual(card["missing_bytes"], card["next"]["bytes"] - card["capacity_bytes"])
                self.assertGreater(card["missing_bytes"], 0)
                more = sluice("run", file, f"workload.batch={largest + 1}")
                self.assertEqual((more.returncode, more.stdout), (4, ""), more.stderr)
                first = f"sluice: {card['refusal']}".split("\n", maxsplit=1)[0].rstrip(":")
                self.assertTrue(more.stderr.startswith(first), more.stderr)
                self.accumulates(card)
        return report["cards"]

    def accumulates(self, card):
        made = card["accumulation"]
        if not made:
            return
        batch = [f"workload.batch={made['batch']}", f"workload.micro_batch={made['micro_batch']}"]
        self.assertAlmostEqual(answer("run", card["scenario"], *batch)["metrics"]["step_s"] / made["step_s"], 1, delta=1e-9)

    def row(self, name):
        found = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE, re.M)
        self.assertIsNotNone(found, name)
        return [int(cell.strip()) for cell in found.group(1).split("|")]

    def test_memory_and_computation_of_networks_inference(self):
        cards = self.runs_and_one_more_does_not("cnn_mnist", "--platform", ",".join(CARDS), "--mode", "inference")
        self.assertEqual(self.row("inference"), [3255208, 200704, *(card["largest"] for card in cards)])

    def test_memory_and_computation_of_networks_training(self):
        for optimizer, copies in (("sgd", 2), ("momentum", 3), ("adam", 4)):
            self.folder = self.folder.parent / optimizer
            cards = self.runs_and_one_more_does_not("cnn_mnist", "--platform", ",".join(CARDS), "--optimizer", optimizer)
            largest = [card["largest"] for card in cards]
            self.assertEqual(self.row(f"training with {optimizer}"), [copies * 3255208, 304192, *largest])
            for card in cards:
                self.assertEqual(card["largest"], (card["capacity_bytes"] - copies * 3255208) // 304192)

    def test_gpt2_and_resnet50(self):
        self.runs_and_one_more_does_not("gpt2", "--platform", "a100_pcie", "--dtype", "float16", "--optimizer", "adam",
                                        "--batch", "512", "workload.master_weights=true")
        self.folder = self.folder.parent / "more"
        self.runs_and_one_more_does_not("resnet50", "--platform", "a100_pcie,gtx980", "--fates", "sqrt")
        self.folder = self.folder.parent / "streamed"
        self.runs_and_one_more_does_not("gpt2_xl", "--platform", "a100_pcie", "--policy", "streamed")

    def test_the_peak_and_the_refusal_name_the_same_stage(self):
        card = answer("fits", "gpt2", "--platform", "k20")["cards"][0]
        self.assertEqual(card["next"]["doing"], "backward of logits")
        self.assertIn("in the backward of logits:", card["refusal"])

    def test_if_nothing_fits_there_is_still_an_answer_and_the_exit_code_is_4(self):
        done = sluice("fits", "llama2_7b", "--platform", "k20,gtx980", "--json")
        self.assertEqual((done.returncode, done.stderr), (4, ""))
        for card in json.loads(done.stdout)["cards"]:
            self.assertEqual(card["largest"], 0)
            self.assertGreater(card["missing_bytes"], 0)
        mixed = sluice("fits", "gpt2_large", "--platform", "a100_pcie,gtx980", "--optimizer", "adam")
        self.assertEqual(mixed.returncode, 0)
        self.assertRegex(mixed.stdout, r"(?m)^gtx980 .* 0 ")

    def test_a_card_without_the_dtype_is_a_row_that_says_so(self):
        words = ["fits", "cnn_mnist", "--platform", "k40,t4", "--dtype", "float16"]
        done = sluice(*words, "--write", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^k40 +- +- +- +-  device 'gpu' has no rate for float16; it has float32$")
        self.assertRegex(done.stdout, r"(?m)^t4 +16 GB +\d")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["cnn_mnist_t4.yaml"])
        cards = answer(*words)["cards"]
        self.assertIn("no rate for float16", cards[0]["error"])
        self.assertEqual((cards[0]["largest"], cards[1]["error"]), (None, None))

    def test_every_strategy_in_one_table_and_several_memories_of_one_card(self):
        words = ["fits", "gpt2", "tokens=256", "--platform", "a100_pcie", "--memory", "4GB,8GB", "--optimizer", "adam",
                 "--dtype", "float16"]
        report = answer(*words, "--fates", "all")
        self.assertEqual((report["fates"], "cards" in report), ("all", False))
        strategies = {entry["fates"]: entry["cards"] for entry in report["strategies"]}
        self.assertEqual(list(strategies), ["keep_all", "recompute_all", "offload_all", "sqrt", "checkpoint",
                                            "selective", "optimal"])
        for name, cards in strategies.items():
            self.assertEqual([card["platform"] for card in cards], ["a100_pcie_4GB", "a100_pcie_8GB"])
            self.assertEqual([card["capacity_bytes"] for card in cards], [4e9, 8e9])
            for card, other in zip(cards, strategies["optimal"], strict=True):
                self.assertLessEqual(card["largest"], other["largest"], name)
        table = sluice(*words, "--fates", "all").stdout
        for name, cards in strategies.items():
            self.assertRegex(table, rf"(?m)^{name} +{cards[0]['largest']} \(.*\) +{cards[1]['largest']} \(.*\)$")
        alone = answer(*words, "--fates", "selective")["cards"]
        self.assertEqual(alone, strategies["selective"])

    def test_the_reason_why_the_next_one_does_not_fit_is_short(self):
        for fates in ("keep_all", "optimal"):
            for row in sluice("fits", "gpt2", "--platform", "t4,a100_pcie", "--dtype", "float16", "--fates",
                              fates).stdout.splitlines()[1:]:
                self.assertLessEqual(len(row), 80, row)

    def test_its_output_never_overwrites_a_file(self):
        words = ["fits", "cnn_mnist", "--platform", "k20", "--write", self.folder]
        self.assertEqual(sluice(*words).returncode, 0)
        again = sluice(*words)
        self.assertEqual(again.returncode, 2)
        self.assertIn("exists already", again.stderr)

    def test_decoding_has_a_cache_for_each_sequence(self):
        # The cache of a sequence has 12 blocks x 1023 tokens x (768 + 768) elements x 2 B
        # (tests/hand/test_kv_cache.cpp).
        cards = self.runs_and_one_more_does_not("gpt2", "tokens=1", "model.cached=1023", "--mode", "inference",
                                                "--dtype", "float16", "--platform", "a100_pcie")
        self.assertEqual(cards[0]["most"]["by_class"]["kv_cache"], 1051 * 12 * 1023 * 1536 * 2)
        table = sluice("fits", "gpt2", "tokens=1", "cached=1023", "--mode", "inference", "--dtype", "float16",
                       "--platform", "a100_pcie", "--batch", "1200").stdout
        self.assertRegex(table, r"a100_pcie +1 200 +none fit")

    def test_a_layer_graph_fits_by_its_sizes_and_has_the_step_that_was_measured(self):
        # The layer was measured for two samples. The input and the output of a sample have 100 x 4 B each. The weights
        # have 10,000 x 4 B. The forward pass takes 2 ms, and the backward pass takes 4 ms.
        graph = self.folder.parent / "small.graph.txt"
        graph.write_text("node1 -- Input -- forward_compute_time=0.0, backward_compute_time=0.0, "
                         "activation_size=800.0, parameter_size=0.0\n"
                         "node2 -- Linear(in_features=100, out_features=100, bias=False) -- "
                         "forward_compute_time=2.0, backward_compute_time=4.0, activation_size=800.0, "
                         "parameter_size=40000.0\n\tnode1 -- node2\n")
        table = answer("model", graph, "batch=2", "--platform", "k40", "--cost", "measured")["platform"]
        self.assertAlmostEqual(table["forward_ms"], 1, delta=1e-9)
        self.assertAlmostEqual(table["backward_ms"], 2, delta=1e-9)
        asked = ["fits", graph, "batch=2", "--platform", "k40", "cost.model=measured",
                 "workload.backward=per_layer", "platform.devices.gpu.memory.capacity=90kB"]
        report = answer(*asked)
        # The weights and their gradients have 2 x 40,000 B. The input, the output and the gradient of the output have 3
        # x 400 B per sample.
        self.assertEqual((report["measured_batch"], report["cards"][0]["largest"]), (2, 8))
        self.assertIsNone(report["cards"][0]["step_s"])
        self.assertIn("measured for a micro-batch of 2", sluice(*asked).stdout)
        made = answer(*asked, "--batch", "2")["cards"][0]["accumulation"]
        self.assertEqual(made["micro_batch"], 2)
        self.assertGreater(made["step_s"], 6e-3)

    def test_samples_that_were_not_measured_are_an_error_and_not_samples_that_do_not_fit(self):
        folder = self.folder.parent
        (folder / "four.yaml").write_text(
            "format: sluice-model/1\nname: four\nlayers:\n- {type: input, name: x, shape: [100]}\n"
            + "".join(f"- {{type: dense, name: {name}, features: 100}}\n" for name in "abcd"))
        (folder / "p.yaml").write_text(
            "format: sluice-platform/1\nname: p\n"
            "devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 20kB}}}\n"
            "memories: {host: {capacity: unlimited}}\nlinks: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n")
        rows = [f"dense,dense bias=true features=100 sparsity=0,{batch}x100,{batch}x100,{batch},float32,{way},0.001\n"
                for batch in (1, 2) for way in ("forward", "backward")]
        (folder / "measured.csv").write_text(
            "# format: sluice-profile/1\n# device: gpu\n"
            "operator,config,inputs,outputs,batch,dtype,pass,seconds_median\n" + "".join(rows))
        done = sluice("fits", folder / "four.yaml", "--platform", folder / "p.yaml", "--memory", "327500B", "--policy",
                      "resident", "--fates", "optimal", "--optimizer", "sgd", "--mode", "training",
                      "cost.model=measured", f"cost.profile={folder / 'measured.csv'}")
        # The memory has room for 2 samples. To try 3 samples, the search needs the seconds of a layer for 3 samples.
        # These seconds were not measured.
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn("inputs 3x100, float32, forward) was not measured", done.stderr)


if __name__ == "__main__":
    if not PROGRAM:
        print("skipped: SLUICE_PROGRAM does not name the program")
        sys.exit(77)
    unittest.main()
