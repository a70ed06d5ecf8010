#!/usr/bin/python3
"""Tests the command `model`. The tests compare the tables of the command with hand calculations and published
figures."""

import csv
import io
import itertools
import json

from cli_case import Cli, ROOT, main


class Model(Cli):
    """The command prints the numbers of 'AlexNet on one card' with the digits that the document has."""
    TABLE = ["model", "models/alexnet_data_island.json", "--platform",
             "platforms/rx7900xtx_as_written.yaml"]

    def test_as_it_is(self):
        whole = self.answers_json(*self.TABLE)["platform"]
        self.assertEqual(whole["parameter_bytes"], 188_459_392)
        self.assertEqual(f"{whole['load_ms']:.5f}", "6.28198")
        self.assertEqual(f"{whole['fill_ms']:.0f}", "800")
        self.assertEqual(f"{whole['copies_that_fit']:.2f}", "127.35")
        self.assertEqual(f"{whole['state_ms']:.6f}", "0.196929")
        self.assertEqual(f"{whole['load_and_state_ms']:.5f}", "6.47891")
        self.assertEqual(f"{whole['load_and_input_ms']:.5f}", "6.30205")
        self.assertEqual(f"{whole['inferences_per_load']:.3f}", "2.192")

    def test_the_text_shows_the_same_digits(self):
        text = self.answers(*self.TABLE)
        for number in ("6.28198 ms (188 459 392 B)", " 800 ms", " 127.35\n", " 0.196929 ms",
                       " 6.47891 ms", " 6.30205 ms", " 2.192\n"):
            self.assertIn(number, text)
        text = self.answers(*self.TABLE, "scale=200")
        for number in (" 573.144 ms", " 1256.396 ms", " 699.777 ", " 0.109227 ", " 917\n"):
            self.assertIn(number, text)

    def test_two_hundred_times_as_large(self):
        table = self.answers_json(*self.TABLE, "scale=200")
        self.assertEqual(f"{table['platform']['flop_ms']:.3f}", "573.144")
        self.assertEqual(f"{table['platform']['load_ms']:.3f}", "1256.396")
        row = table["layers"][15]
        self.assertEqual(row["step"], 16)
        self.assertEqual(f"{row['total_parameters_ms']:.3f}", "699.777")
        self.assertEqual(f"{row['state_ms']:.6f}", "0.109227")
        self.assertEqual(row["copies_that_fit"], 917)

    def test_other_link_rate_and_scale_against_arithmetic(self):
        """The link has 0.7 times the bandwidth of the platform rx7900xtx_pcie4, and the card has 1.3 times its rate.
        The model is 50 times as large (`scale=50`). The expected numbers are computed from the rows of the document."""
        path = self.folder / "platform.yaml"
        base = (ROOT / "platforms" / "rx7900xtx_pcie4.yaml").read_text()
        path.write_text(base.replace("bandwidth: 30GB/s", "bandwidth: 21GB/s")
                        .replace("float32: 61TFLOP/s", "float32: 79.3TFLOP/s"))
        document = json.loads((ROOT / "models" / "alexnet_data_island.json").read_text())
        rows = document["data"][1:]
        table = self.answers_json("model", "alexnet_data_island", "scale=50", "--platform", path)
        for row, (_, _, state, total_state, parameters, flop) in zip(table["layers"], rows):
            expected = {
                "state_ms": 1e3 * 50 * 4 * state / 21e9,
                "total_state_ms": 1e3 * 50 * 4 * total_state / 21e9,
                "total_parameters_ms": 1e3 * 50 * 4 * parameters / 21e9,
                "total_flop_ms": 1e3 * 50 * flop / 79.3e12,
            }
            for key, value in expected.items():
                self.assertAlmostEqual(row[key], value, delta=1e-12 * max(1, value))
            self.assertEqual(row["copies_that_fit"],
                             (24 * 10**9 - 200 * parameters) // (200 * state))

    def test_memory_and_computation_of_networks_and_what_training_keeps_of_it(self):
        table = self.answers_json("model", "cnn_mnist")
        column = lambda key: [row[key] for row in table["layers"]]
        self.assertEqual(column("parameters"), [0, 320, 9248, 0, 802_944, 1290])
        self.assertEqual(column("state"), [784, 25_088, 25_088, 6272, 128, 10])
        self.assertEqual(column("receptive_field"), [[1, 1], [3, 3], [5, 5], [6, 6], None, None])
        self.assertEqual(column("jump"), [[1, 1], [1, 1], [1, 1], [2, 2], None, None])
        # The backward pass reads the inputs of the products, with 4 bytes per element. It also reads the positions of
        # the pooling's maxima, with 8 bytes per position. These tensors are kept.
        self.assertEqual(column("kept_bytes"),
                         [0, 4 * 784, 4 * 25_088, 8 * 6272, 4 * 6272, 4 * 128])
        # Computing a gradient of a product takes as many FLOP as computing the product. The image needs no gradient.
        macs = column("macs")
        self.assertEqual(macs, [0, 784 * 32 * 9, 784 * 32 * 9 * 32, 0, 6272 * 128, 1280])
        self.assertEqual(column("flop"), [0, 2 * macs[1] + 25_088, 2 * macs[2] + 25_088,
                                          4 * 6272, 2 * macs[4] + 128, 2 * macs[5] + 10])
        self.assertEqual(column("backward_flop"), [0, 2 * macs[1] + 25_088, 4 * macs[2] + 25_088,
                                                   6272, 4 * macs[4] + 128, 4 * macs[5] + 10])
        # The forward pass of conv2 reads input and weights, and writes the output. The backward pass of conv2 reads
        # input, weights and the output's gradient. It writes the gradients of input and weights.
        self.assertEqual(column("read_bytes")[2], 4 * (25_088 + 9248))
        self.assertEqual(column("written_bytes")[2], 4 * 25_088)
        self.assertEqual(column("backward_read_bytes")[2], 4 * (25_088 + 9248 + 25_088))
        self.assertEqual(column("backward_written_bytes")[2], 4 * (25_088 + 9248))
        self.assertEqual(column("backward_written_bytes")[1], 4 * 320)
        self.assertEqual(table["totals"]["parameters"], 813_802)
        self.assertEqual(table["totals"]["macs"], 8_255_232)
        self.assertIsNone(table["platform"])
        text = self.answers("model", "cnn_mnist")
        for words in ("813 802 (3 255 208 B, 3.1044 MiB as float32)", " 8 255 232\n"):
            self.assertIn(words, text)

    TOTALS = ["state", "parameters", "kept_bytes", "macs", "flop", "backward_flop", "read_bytes",
              "written_bytes"]

    def test_totals_are_running_sums_of_the_rows(self):
        for model in ("resnet18", "unet", "gpt2", "densenet121"):
            table = self.answers_json("model", model, "--platform", "rx7900xtx_pcie4")
            for key in self.TOTALS:
                sums = list(itertools.accumulate(row[key] for row in table["layers"]))
                self.assertEqual(sums[-1], table["totals"][key])
                self.assertEqual(sums, [row["total_" + key] for row in table["layers"]])
            for key in ("backward_read_bytes", "backward_written_bytes"):
                self.assertEqual(sum(row[key] for row in table["layers"]), table["totals"][key])
            for key in ("forward_ms", "backward_ms"):
                self.assertAlmostEqual(sum(row[key] for row in table["layers"]),
                                       table["platform"][key], delta=1e-9)

    def test_a_dtype_makes_elements_bytes_but_not_masks(self):
        half, single = (self.answers_json("model", "megatron_22b", "blocks=1", "--dtype", dtype)
                        for dtype in ("float16", "float32"))
        self.assertEqual((half["dtype"], single["dtype"]), ("float16", "float32"))
        rows = {row["layer"]: row for row in half["layers"]}
        # The block from norm1 to sum2 keeps s h (34 + 5 a s / h) bytes (Korthikanti et al. 2022). Here s = 2048 tokens,
        # h = 6144 features and a = 64 heads.
        block = rows["sum2.1"]["total_kept_bytes"] - rows["dropout"]["total_kept_bytes"]
        self.assertEqual(block, 2048 * 6144 * 34 + 5 * 64 * 2048 ** 2)
        masks = 64 * 2048 ** 2 + 3 * 2048 * 6144
        self.assertEqual(single["totals"]["kept_bytes"],
                         2 * half["totals"]["kept_bytes"] - masks)

    def test_milliseconds_by_a_cost_model(self):
        arguments = ["model", "resnet18", "--platform", "rx7900xtx_pcie4"]
        # The roofline model is the default if the memory bandwidth of the card is known.
        table = self.answers_json(*arguments)
        self.assertEqual(table["platform"]["cost"], "roofline")
        rate, bandwidth = 0.7 * 61e12, 0.7 * 960e9  # The platform says which shares of its peak rates the card reaches.
        for row in table["layers"]:
            forward = max(row["flop"] / rate, (row["read_bytes"] + row["written_bytes"]) / bandwidth)
            backward = max(row["backward_flop"] / rate,
                           (row["backward_read_bytes"] + row["backward_written_bytes"]) / bandwidth)
            self.assertAlmostEqual(row["forward_ms"], 1e3 * forward, delta=1e-12)
            self.assertAlmostEqual(row["backward_ms"], 1e3 * backward, delta=1e-12)
        peak = self.answers_json(*arguments, "--cost", "peak")
        self.assertEqual([row["forward_ms"] for row in peak["layers"]],
                         [row["flop_ms"] for row in peak["layers"]])

    def test_every_form_has_the_requested_columns(self):
        arguments = ["model", "cnn_mnist", "--columns", "layer,receptive_field,total_flop"]
        lines = self.answers(*arguments).splitlines()
        self.assertEqual(lines[0].split(), ["layer", "field", "total", "FLOP"])
        self.assertEqual(lines[4].split(), ["pool", "6", "14", "977", "536"])
        rows = list(csv.reader(io.StringIO(self.answers(*arguments, "--csv"))))
        self.assertEqual(rows[0], ["layer", "field", "total FLOP"])
        self.assertEqual(rows[4], ["pool", "6x6", "14977536"])
        self.assertEqual(rows[5][1], "")
        island = json.loads(self.answers(*arguments, "--data-island"))
        self.assertEqual(island["data"][4], ["pool", "6x6", 14977536])
        self.assertIsNone(island["data"][5][1])
        whole = self.answers("model", "cnn_mnist", "--columns", "all", "--platform", "k40", "--csv")
        table = self.answers_json("model", "cnn_mnist", "--platform", "k40")
        self.assertEqual(len(whole.splitlines()[0].split(",")), len(table["layers"][0]))

    def test_the_data_island_is_a_model_that_is_read_again(self):
        path = self.folder / "resnet.json"
        path.write_text(self.answers("model", "resnet18", "--data-island"))
        once, again = self.answers_json("model", "resnet18"), self.answers_json("model", path)
        for key in ("state", "parameters", "flop"):
            self.assertEqual(again["totals"][key], once["totals"][key])
        self.assertEqual([row["type"] for row in again["layers"]],
                         [row["type"] for row in once["layers"]])

    def test_the_table_of_every_model_of_the_zoo_fits_into_120_columns(self):
        for path in (ROOT / "models").glob("*.yaml"):
            for more in ([], ["--platform", "rx7900xtx_pcie4"]):
                lines = self.answers("model", path, *more).splitlines()[2:]
                self.assertLessEqual(max(map(len, lines)), 120, path)
        # A line below the table names the columns that do not fit.
        wide = self.answers("model", "gpt2", "width=6144000", "blocks=1").splitlines()
        self.assertLessEqual(max(map(len, wide[2:])), 120)
        self.assertIn("Columns left out (--columns): backward_flop", "\n".join(wide))

    def test_csv_holds_the_table(self):
        rows = list(csv.DictReader(io.StringIO(self.answers(*self.TABLE, "--csv"))))
        self.assertEqual(len(rows), 19)
        self.assertEqual(rows[15]["layer"], "16-ReLu")
        self.assertEqual(rows[15]["total parameters"], "26241632")
        self.assertEqual(rows[15]["MACs"], "")  # A model that is a stage table has no MACs.

    def test_device_and_dtype(self):
        whole = self.answers_json("model", "matmul_chain", "--platform", "ipu_pair_gc200",
                                  "--device", "ipu1", "--dtype", "float16")["platform"]
        self.assertEqual((whole["device"], whole["dtype"]), ("ipu1", "float16"))
        self.fails(3, "model", "matmul_chain", "--platform", "k40", "--dtype", "int8",
                   says=["no rate for int8", "float32"])
        self.fails(3, "model", "matmul_chain", "--platform", "k40", "--device", "gpu7",
                   says=["no device 'gpu7'"])


if __name__ == "__main__":
    main()
