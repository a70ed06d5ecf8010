#!/usr/bin/python3
"""Tests that the networks of the zoo have their published counts. The FLOP and bytes of each run must add up to the
FLOP and bytes of the network."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM", str(ROOT / "build/release/sluice"))

# Parameters and GMACs (10^9 multiply-accumulates per image, as printed) from torchvision 0.14.1. The numbers are
# num_params and _ops in the meta data of the weights in torchvision/models/*.py. For RegNet, the weights are
# IMAGENET1K_V2, and for ViT-H/14, they are IMAGENET1K_SWAG_LINEAR_V1. For all other networks, they are IMAGENET1K_V1.
# Like `macs`, _ops counts only convolutions and matrix products.
TORCHVISION = {
    "alexnet_torchvision": (61_100_840, "0.714"),
    "convnext_large": (197_767_336, "34.361"),
    "convnext_tiny": (28_589_128, "4.456"),
    "densenet121": (7_978_856, "2.834"),
    "densenet161": (28_681_000, "7.728"),
    "densenet201": (20_013_928, "4.291"),
    "efficientnet_b1": (7_794_184, "0.687"),
    "efficientnet_b2": (9_109_994, "1.088"),
    "efficientnet_b4": (19_341_616, "4.394"),
    "efficientnet_b6": (43_040_704, "19.068"),
    "efficientnet_v2_l": (118_515_272, "56.08"),
    "efficientnet_v2_s": (21_458_488, "8.366"),
    "googlenet": (6_624_904, "1.498"),
    "inception_v3": (27_161_264, "5.713"),
    "mnasnet0_75": (3_170_208, "0.215"),
    "mnasnet1_3": (6_282_256, "0.526"),
    "mobilenet_v2": (3_504_872, "0.301"),
    "mobilenet_v3_large": (5_483_032, "0.217"),
    "mobilenet_v3_small": (2_542_856, "0.057"),
    "regnet_x_16gf": (54_278_536, "15.941"),
    "regnet_x_1_6gf": (9_190_136, "1.603"),
    "regnet_x_32gf": (107_811_560, "31.736"),
    "regnet_x_3_2gf": (15_296_552, "3.177"),
    "regnet_x_400mf": (5_495_976, "0.414"),
    "regnet_x_800mf": (7_259_656, "0.8"),
    "regnet_x_8gf": (39_572_648, "7.995"),
    "regnet_y_128gf": (644_812_894, "127.518"),
    "regnet_y_16gf": (83_590_140, "15.912"),
    "regnet_y_1_6gf": (11_202_430, "1.612"),
    "regnet_y_32gf": (145_046_770, "32.28"),
    "regnet_y_3_2gf": (19_436_338, "3.176"),
    "regnet_y_400mf": (4_344_144, "0.402"),
    "regnet_y_800mf": (6_432_512, "0.834"),
    "regnet_y_8gf": (39_381_472, "8.473"),
    "resnet101": (44_549_160, "7.801"),
    "resnet152": (60_192_808, "11.514"),
    "resnet18": (11_689_512, "1.814"),
    "resnet50": (25_557_032, "4.089"),
    "resnext101_32x8d": (88_791_336, "16.414"),
    "resnext50_32x4d": (25_028_904, "4.23"),
    "shufflenet_v2_x0_5": (1_366_792, "0.04"),
    "shufflenet_v2_x1_5": (3_503_624, "0.296"),
    "squeezenet1_0": (1_248_424, "0.819"),
    "swin_b": (87_768_224, "15.431"),
    "swin_t": (28_288_354, "4.491"),
    "swin_v2_s": (49_737_442, "11.546"),
    "vgg11_bn": (132_868_840, "7.609"),
    "vgg13_bn": (133_053_736, "11.308"),
    "vgg16": (138_357_544, "15.47"),
    "vgg16_bn": (138_365_992, "15.47"),
    "vgg19": (143_667_240, "19.632"),
    "vit_b_16": (86_567_656, "17.564"),
    "vit_b_32": (88_224_232, "4.409"),
    "vit_h_14": (632_045_800, "167.295"),
    "vit_l_16": (304_326_632, "61.555"),
    "vit_l_32": (306_535_400, "15.378"),
    "wide_resnet101_2": (126_886_696, "22.753"),
    "wide_resnet50_2": (68_883_240, "11.398"),
}

# Inception has an auxiliary classifier, which inference does not compute. torchvision's number of parameters includes
# this classifier, and its GMACs do not. The zoo leaves the classifier out. It consists of a 1 x 1 and a 5 x 5
# convolution with their norms, and a dense layer from 768 to 1,000 features with a bias.
LEFT_OUT = {"inception_v3": 768 * 128 + 2 * 128 + 25 * 128 * 768 + 2 * 768 + 1000 * (768 + 1)}

# The number of parameters of each model: the elements of all tensors of its released weights. The sources are:
# - GPT-2: openai/gpt-2, 124M, 355M, 774M and 1558M.
# - BERT: google-research/bert, uncased_L-12_H-768_A-12 and _L-24_H-1024_A-16, without the heads of the pre-training.
# - OPT: facebook/opt-1.3b. Llama 3: Meta-Llama-3-8B and -70B. Qwen2.5: Qwen/Qwen2.5-7B.
# - T5: t5-base, less 2 x 32 x 12 learned biases of distances, which the zoo leaves out.
# - Llama 2: Touvron et al. (2023), the sizes of table 1 and of the released params.json.
# - Megatron 22B, whose weights were not released: Narayanan et al. (2021), equation 2, plus the last norm.
# - GPT-3: Brown et al. (2020), table 2.1, which rounds the number to 175B. Mixtral: mistralai/Mixtral-8x7B-v0.1.
LANGUAGE = {
    "bert_base": 109_482_240,
    "bert_large": 335_141_888,
    "gpt2": 124_439_808,
    "gpt2_large": 774_030_080,
    "gpt2_medium": 354_823_168,
    "gpt2_xl": 1_557_611_200,
    "gpt3": 174_604_259_328,
    "llama2_70b": 68_976_648_192,
    "llama2_7b": 6_738_415_616,
    "llama3_70b": 70_553_706_496,
    "llama3_8b": 8_030_261_248,
    "megatron_22b": 22_074_273_792,
    "mixtral_8x7b": 46_702_792_704,
    "opt": 1_315_758_080,
    "qwen2_5_7b": 7_615_616_512,
    "t5_base": 222_902_784,
}

# The parameters of U-Net are the elements of all weight tensors in mateuszbuda/brain-segmentation-pytorch. The LSTM is
# the large model of Zaremba et al. (2014), with the biases of torch.nn.LSTM. Press and Wolf (2017) give 66M parameters
# for this model.
OTHERS = {"unet": 7_763_041, "lstm_ptb": 66_034_000}

# Other tests count these models by hand: tests/validation/test_korthikanti.py counts megatron_rank, and
# tests/unit/model/test_model.cpp counts the others.
ELSEWHERE = {"alexnet", "cnn_mnist", "matmul_chain", "megatron_rank"}

SCENARIO = """
format: sluice-scenario/1
question: Does it run?
model: {{file: ../models/{model}.yaml}}
platform: {{file: ../platforms/{platform}.yaml}}
workload: {{mode: inference, dtype: {dtype}, batch: 2, batches_per_step: 3, steps: 2}}
{keys}
"""
SAMPLES = 2 * 3 * 2


def sluice(*words):
    done = subprocess.run([PROGRAM, *map(str, words), "--json"], capture_output=True, text=True,
                          timeout=300)
    if done.returncode:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def totals(model, *keys):
    return sluice("model", ROOT / "models" / f"{model}.yaml", *keys)["totals"]


class Counts(unittest.TestCase):
    def test_every_model_of_the_zoo_is_counted(self):
        zoo = {path.stem for path in (ROOT / "models").glob("*.yaml")}
        self.assertEqual(zoo, TORCHVISION.keys() | LANGUAGE.keys() | OTHERS.keys()
                         | ELSEWHERE)

    def test_parameters_and_multiply_accumulates_equal_torchvisions(self):
        for model, (parameters, gmacs) in TORCHVISION.items():
            with self.subTest(model=model):
                counted = totals(model)
                self.assertEqual(counted["parameters"], parameters - LEFT_OUT.get(model, 0))
                digits = len(gmacs.split(".")[1])
                self.assertEqual(f"{counted['macs'] / 1e9:.{digits}f}", gmacs)


    def test_parameters_of_all_other_models_equal_those_of_the_released_weights(self):
        for model, parameters in {**LANGUAGE, **OTHERS}.items():
            with self.subTest(model=model):
                self.assertEqual(totals(model)["parameters"], parameters)

    def test_a_transformers_parameters_follow_from_its_sizes(self):
        # In GPT-2, a block has 12 x width^2 weights, 9 x width biases, and two norms with 4 x width parameters.
        block = 12 * 768 ** 2 + 13 * 768
        self.assertEqual(totals("gpt2")["parameters"],
                         50257 * 768 + 1024 * 768 + 12 * block + 2 * 768)
        # Megatron 22B has L blocks, h features, v words and s tokens. Without the last norm, it has 12 L h^2 (1 + 13 /
        # (12 h) + (v + s) / (12 L h)) parameters. The last norm has 2 h parameters.
        self.assertEqual(totals("megatron_22b")["parameters"],
                         48 * (12 * 6144 ** 2 + 13 * 6144) + (51200 + 2048) * 6144 + 2 * 6144)
        # GPT-3 has the same layers as GPT-2, but it has more blocks, and they are wider.
        block = 12 * 12288 ** 2 + 13 * 12288
        self.assertEqual(totals("gpt3")["parameters"], 96 * block + (50257 + 2048 + 2) * 12288)
        # In a block of Mixtral, keys and values have a quarter of the width. The block has a router and 8 experts. An
        # expert has three products, each with 4,096 x 14,336 weights.
        block = 2 * 4096 ** 2 + 2 * 4096 * 1024 + 8 * 4096 + 8 * 3 * 4096 * 14336 + 2 * 4096
        self.assertEqual(totals("mixtral_8x7b")["parameters"], 2 * 32000 * 4096 + 32 * block + 4096)
        # In OPT, a block has 12 x width^2 weights, 9 x width biases, and two norms with 4 x width parameters. The table
        # of positions of OPT has two rows more than there are tokens.
        for blocks, width, heads, parameters in ((12, 768, 12, 125_239_296),
                                                 (32, 4096, 32, 6_658_473_984)):
            self.assertEqual(parameters, 50272 * width + 2050 * width
                             + blocks * (12 * width ** 2 + 13 * width) + 2 * width)
            self.assertEqual(totals("opt", f"blocks={blocks}", f"width={width}",
                                    f"heads={heads}")["parameters"], parameters)
        # In a block of Llama 3 8B, keys and values have a quarter of the width. Three products have 4,096 x 14,336
        # weights each. The model has two tables of 128,256 words: one for the tokens and one for the logits.
        block = 2 * 4096 ** 2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096
        self.assertEqual(totals("llama3_8b")["parameters"], 2 * 128256 * 4096 + 32 * block + 4096)
        # The LSTM has two layers. A layer has 4 gates of 1,500 values, which read 1,500 inputs and 1,500 hidden values.
        # Each value of a gate has two biases.
        self.assertEqual(totals("lstm_ptb")["parameters"],
                         10000 * 1500 + 2 * (4 * 1500 * 3000 + 2 * 4 * 1500) + 1501 * 10000)
        # In a block of Llama 2 70B, queries and output have the full width, and keys and values have an eighth of it.
        # Three products have 8,192 x 28,672 weights each.
        block = 2 * 8192 ** 2 + 2 * 8192 * 1024 + 3 * 8192 * 28672 + 2 * 8192
        self.assertEqual(totals("llama2_70b")["parameters"], 2 * 32000 * 8192 + 80 * block + 8192)
        # For each token, each weight takes one multiply-accumulate, except the weights of the embedding table and of
        # the norms. Besides, the attention of each block has two products. For each token, a product takes 4,096 x
        # 8,192 multiply-accumulates: 4,096 tokens of context times 8,192 features.
        used = 32000 * 8192 + 80 * (block - 2 * 8192)
        self.assertEqual(totals("llama2_70b")["macs"], 4096 * (used + 80 * 2 * 4096 * 8192))

    def test_a_decoded_token_meets_each_weight_once_and_all_earlier_keys(self):
        block = 4 * 4096 ** 2 + 3 * 4096 * 11008
        self.assertEqual(totals("llama2_7b", "tokens=1", "cached=4095")["macs"],
                         32000 * 4096 + 32 * (block + 2 * 4096 * 4096))
        self.assertEqual(totals("gpt2", "tokens=1", "cached=1023")["macs"],
                         50257 * 768 + 12 * (12 * 768 ** 2 + 2 * 1024 * 768))


def passes_of(result):
    """Returns how often the weights of group 0 were loaded. In these runs, the weights of all groups are loaded equally
    often."""
    return int(result["plan"]["facts"]["weight_passes"]["0"])


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for zoo in ("models", "platforms"):  # a scenario finds its files next to its folder
            shutil.copytree(ROOT / zoo, self.folder / zoo)
        (self.folder / "scenarios").mkdir()

    def run_model(self, model, keys, platform="k40", dtype="float32", words=()):
        path = self.folder / "scenarios" / f"{model}.yaml"
        path.write_text(SCENARIO.format(model=model, keys=keys, platform=platform,
                                        dtype=dtype))
        return sluice("run", path, *words)

    def check_sums(self, model, result, passes=1, element=4, keys=()):
        counted, metrics = totals(model, *keys), result["metrics"]
        stages = result["stages"]
        self.assertEqual(metrics["samples"], SAMPLES)
        self.assertEqual(metrics["flop"], SAMPLES * counted["flop"])
        self.assertEqual(sum(stage["flop"] for stage in stages), counted["flop"])
        self.assertEqual(sum(stage["macs"] for stage in stages), counted["macs"])
        self.assertEqual(sum(stage["weight_bytes"] for stage in stages), element * counted["parameters"])
        moved = metrics["transferred_bytes_by_class"]
        self.assertEqual(moved["weight"], passes * element * counted["parameters"])
        self.assertEqual(moved["input"], SAMPLES * stages[0]["input_bytes"])
        self.assertEqual(moved["output"], SAMPLES * stages[-1]["output_bytes"])

    def test_each_model_runs_resident_and_its_bytes_and_flop_add_up(self):
        for model in [*TORCHVISION, *OTHERS, "bert_base", "bert_large", "gpt2", "gpt2_xl",
                      "opt", "t5_base"]:
            with self.subTest(model=model):
                result = self.run_model(model, "policy: {name: resident}\nstages: {cut: whole}\ncost: {model: roofline}")
                self.check_sums(model, result)

    def test_llama_runs_resident_and_grouped_streamed_in_half_precision(self):
        result = self.run_model("llama2_7b", "policy: {name: resident}", "a100_pcie", "float16")
        self.check_sums("llama2_7b", result, element=2)
        result = self.run_model("llama2_70b", "stages: {cut: balanced, count: 40}\n"
                                "policy: {name: streamed, resident: none}", "a100_pcie", "float16")
        self.check_sums("llama2_70b", result, passes=passes_of(result), element=2)

    def test_mixtral_runs_streamed_with_all_its_experts(self):
        result = self.run_model("mixtral_8x7b", "stages: {cut: balanced, count: 40}\n"
                                "policy: {name: streamed, resident: none}", "a100_pcie", "float16",
                                ["model.tokens=64"])
        self.check_sums("mixtral_8x7b", result, passes=passes_of(result), element=2,
                        keys=["tokens=64"])

    def test_decoding_holds_the_caches_of_keys_and_values(self):
        keys = ["tokens=1", "cached=1000"]
        result = self.run_model("llama2_7b", "policy: {name: resident}", "a100_pcie", "float16",
                                [f"model.{key}" for key in keys])
        self.check_sums("llama2_7b", result, element=2, keys=keys)
        # The cache of a sample has 32 blocks x 1000 tokens x 2 (keys and values) x 4096 features x 2 bytes.
        cache = 32 * 1000 * 2 * 4096 * 2
        without = self.run_model("llama2_7b", "policy: {name: resident}", "a100_pcie", "float16",
                                 ["model.tokens=1"])
        self.assertEqual(result["stages"][0]["cache_bytes"], cache)
        self.assertEqual(result["stages"][0]["workspace_bytes"],
                         without["stages"][0]["workspace_bytes"])
        # A step has three batches of two samples, so it has six caches.
        by_class = result["metrics"]["peak_bytes_by_class"]["gpu"]
        self.assertEqual(by_class["kv_cache"], 3 * 2 * cache)
        self.assertEqual(by_class["workspace"],
                         without["metrics"]["peak_bytes_by_class"]["gpu"]["workspace"])

    def test_residual_and_dense_networks_run_streamed_with_cuts_through_their_blocks(self):
        for model, count in (("resnet50", 7), ("densenet121", 11), ("squeezenet1_0", 5),
                             ("unet", 6)):
            with self.subTest(model=model):
                result = self.run_model(
                    model, f"stages: {{cut: balanced, count: {count}}}\npolicy: {{name: streamed, resident: none}}")
                self.assertEqual(len(result["stages"]), count)
                self.check_sums(model, result, passes=passes_of(result))


if __name__ == "__main__":
    unittest.main(verbosity=2)
