#!/usr/bin/python3
"""Tests profiles of torch modules: counts, times and joules. Instead of a real clock and a real meter, the tests use
stand-ins whose seconds and joules are known."""

import json
import unittest

from profile_case import Clock, Folder, Works
from sluice_package import sluice
import torch
from torch import nn
from sluice import _measuring


def network():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
        nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
        nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 16, 10))


class Operators(Folder):
    def test_leaves_are_grouped_by_configuration_and_shapes(self):
        self.profile(network(), torch.zeros(4, 3, 8, 8), name="net")
        # One conv2d reads 3 channels, and two conv2d read 8 channels, so conv2d has two rows. All inputs of the two
        # batch norms and the three ReLUs have the shape 4x8x8x8. So batch_norm and relu have one row each.
        counts = [(row["operator"], row["inputs"], row["occurrences"]) for row in self.rows(level="leaf")]
        self.assertEqual(counts, [
            ("conv2d", "4x8x8x3", "1"), ("batch_norm", "4x8x8x8", "2"), ("relu", "4x8x8x8", "3"),
            ("conv2d", "4x8x8x8", "2"), ("max_pool", "4x8x8x8", "1"), ("flatten", "4x4x4x8", "1"),
            ("dense", "4x128", "1")])
        whole = self.rows(level="whole")
        self.assertEqual([(row["operator"], row["inputs"], row["outputs"], row["model"]) for row in whole],
                         [("Sequential", "4x3x8x8", "4x10", "net")])

    def test_the_command_reads_the_profile_and_the_profile_prices_the_model_of_the_same_module(self):
        self.profile(network(), torch.zeros(4, 3, 8, 8), name="net", passes=("forward", "backward"))
        shown = self.asked("show", self.file)
        self.assertEqual((shown["rows"], shown["measured"], shown["failed"]), (16, 16, 0))
        model = self.folder / "net.json"
        document = sluice.from_torch(network(), torch.zeros(4, 3, 8, 8), "net").document
        model.write_text(json.dumps(document.get("definition", document)))
        covered = self.asked("cover", model, self.file, "--batch", 4, "--mode", "training", "--target", 0)
        # The layer `flatten` does no work, so it is not counted. The other layers are six different operators. Each of
        # them has a row for the forward pass and a row for the backward pass.
        self.assertEqual((covered["operators"], covered["measured"]), (12, 12))

    def test_functions_between_modules_are_operators_that_price_their_layers(self):
        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.conv = nn.Conv2d(width, width, 3, padding=1)

            def forward(self, x):
                y = self.conv(x)
                y += x
                return torch.nn.functional.relu(y, inplace=True)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.Sequential(Block(8), Block(8))
                self.end = nn.Linear(16, 10)

            def forward(self, x):
                y = torch.cat([self.blocks(x), x], 1)
                return self.end(torch.flatten(y.mean((2, 3)), 1))

        self.profile(Net().eval(), torch.ones(4, 8, 6, 6))
        counts = [(row["operator"], row["inputs"], row["outputs"], row["occurrences"])
                  for row in self.rows(level="leaf")]
        self.assertEqual(counts, [
            ("conv2d", "4x6x6x8", "4x6x6x8", "2"), ("add", "4x6x6x8;4x6x6x8", "4x6x6x8", "2"),
            ("relu", "4x6x6x8", "4x6x6x8", "2"), ("concat", "4x6x6x8;4x6x6x8", "4x6x6x16", "1"),
            ("global_avg_pool", "4x6x6x16", "4x1x1x16", "1"), ("dense", "4x16", "4x10", "1")])
        self.prices_all(Net().eval(), torch.ones(4, 8, 6, 6))

    def prices_all(self, module, inputs):
        """Checks that the profile has a row for each layer that computes."""
        model = self.folder / "net.json"
        document = sluice.from_torch(module, inputs, "net").document
        model.write_text(json.dumps(document.get("definition", document)))
        covered = self.asked("cover", model, self.file, "--target", 0)
        self.assertEqual(covered["measured"], covered["operators"])

    def test_a_function_that_is_not_a_layer_has_its_own_name_and_the_next_ones_are_layers_again(self):
        class Net(nn.Module):
            def forward(self, x):
                # The tensor is already contiguous, so `contiguous()` does nothing.
                return torch.relu(torch.sort(x, 1)[0].contiguous())

        self.profile(Net(), torch.ones(2, 5))
        self.assertEqual([(row["operator"], row["config"], row["inputs"]) for row in self.rows(level="leaf")],
                         [("sort", "sort 1", "2x5"), ("relu", "relu", "2x5")])

    def test_attention_is_measured_as_a_whole_and_as_its_layers(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.words = nn.Embedding(11, 8)
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, tokens):
                x = self.words(tokens)
                return self.attention(x, x, x, need_weights=False)[0]

        self.profile(Net(), torch.full((2, 5), 10), passes=("forward", "backward"), caches=("hot", "cold"),
                     cache_bytes=4096)
        rows = self.rows(level="leaf", cache="cold", processed="yes")
        self.assertEqual([(row["operator"], row["inputs"], row["occurrences"]) for row in rows[::2]], [
            ("embedding", "2x5", "1"), ("matmul", "2x5x8", "4"), ("attention", "2x5x8;2x5x8;2x5x8", "1")])
        self.assertEqual([row["pass"] for row in rows], ["forward", "backward"] * 3)
        inner = self.rows(level="inner", cache="cold", processed="yes")
        self.assertEqual([row["inputs"] for row in inner], ["2x5x8;2x5x8;2x5x8"] * 2)
        self.assertIn("need_weights=False", inner[-1]["config"])
        self.assertEqual(self.asked("show", self.file)["measured"], 20)

    def test_the_parts_of_an_attention_give_the_same_result(self):
        from sluice._torch_operators import operators_of
        from sluice._torch_parts import Attention

        torch.manual_seed(1)
        whole = nn.MultiheadAttention(12, 3, batch_first=True).eval()
        x = torch.randn(2, 5, 12)
        query, key, value = torch.nn.functional.linear(x, whole.in_proj_weight, whole.in_proj_bias).chunk(3, -1)
        ours = whole.out_proj(Attention(3)(query, key, value))
        self.assertTrue(torch.allclose(ours, whole(x, x, x, need_weights=False)[0], atol=1e-6))
        self.assertEqual(len(operators_of(nn.Sequential(nn.Linear(12, 12)), (x,))[0]), 1)

    def test_measuring_does_not_change_the_module(self):
        module = network().eval()
        before = {key: value.clone() for key, value in module.state_dict().items()}
        self.profile(module, torch.ones(4, 3, 8, 8), passes=("forward", "backward"))
        self.assertTrue(all(torch.equal(before[key], value) for key, value in module.state_dict().items()))
        self.assertFalse(any(one.training or "forward" in one.__dict__ for one in module.modules()))


class Times(Folder):
    def test_the_seconds_are_those_of_the_clock_and_the_leaves_add_up_to_the_whole(self):
        done = self.worked(nn.Sequential(Works(0.25), Works(1.0), Works(0.25)))
        self.assertEqual((done.measured, done.kept, done.failed), (3, 0, 0))
        self.assertEqual([(row["config"], row["occurrences"], row["seconds_samples"], row["calls"])
                          for row in self.rows()],
                         [("", "1", ";".join(["1.5"] * 10), "1"),
                          ("Works(0.25)", "2", ";".join(["0.25"] * 10), "1"),
                          ("Works(1.0)", "1", ";".join(["1.0"] * 10), "1")])
        covered = self.asked("cover", self.file)
        self.assertEqual((covered["attributed_s"], covered["whole_s"]), (1.5, 1.5))

    def test_a_chain_counts_each_of_its_layers(self):
        self.worked(nn.Sequential(Works(0.25), nn.Linear(4, 3)), caches=("chained",))
        rows = self.rows()  # The shape changes in the whole module and in the linear layer.
        self.assertEqual([(row["config"], row["calls"], row["seconds_samples"]) for row in rows],
                         [("Works(0.25)", "8", ";".join(["0.25"] * 10))])

    def test_a_row_has_the_samples_of_all_rounds(self):
        self.worked(nn.Sequential(Works(0.25)), rounds=3, whole=False)
        self.assertEqual(self.rows()[0]["seconds_samples"], ";".join(["0.25"] * 30))

    def test_a_sample_has_enough_calls_and_there_are_enough_samples(self):
        def run(durations, **loop):
            steps = iter(durations)

            def prepare(calls):
                def work():
                    Clock.now += sum(next(steps) for _ in range(calls))
                return work

            return _measuring.measure(_measuring.Subject(prepare, lambda: None),
                                      _measuring.Loop(clock=Clock.read, **loop))

        # A sample must take at least 1 s. A call takes 1/4 s, so a sample has 4 calls. To find this number, the loop
        # first tries 1, 2 and 4 calls. Then it measures 3 samples. In the second sample, one call takes 1 s longer.
        durations = [0.25] * 7 + [0.25] * 4 + [0.25, 0.25, 0.25, 1.25] + [0.25] * 4
        found = run(durations, warmup=0, sample_s=1.0, budget_s=4.0, least=3)
        self.assertEqual((found.calls, found.seconds), (4, [0.25, 0.5, 0.25]))
        # The samples are 1, 3, 1, 3, ... For an even number n of samples, the mean is 2. The standard deviation is s =
        # sqrt(n / (n - 1)). So 1.96 standard errors of the mean, 1.96 s / sqrt(n), are 1.96 / sqrt(n - 1). They must be
        # at most 0.5, which is a quarter of the mean. So n - 1 must be at least (1.96 / 0.5)^2 = 15.4. The least even
        # number is n = 18. For the odd number n = 17, the mean is 33 / 17 and s = 1.029. There, 1.96 s / sqrt(n) =
        # 0.489 is more than a quarter of the mean, which is 0.485. So 18 samples are needed.
        found = run([1.0] + [1.0, 3.0] * 50, warmup=0, budget_s=1e9, confidence=0.25, least=2)
        self.assertEqual(len(found.seconds), 18)

    def test_an_array_larger_than_the_cache_is_cycled_through(self):
        from sluice._torch_operators import operators_of
        from sluice._torch_subjects import _Inputs

        given = torch.arange(24.0).reshape(2, 3, 4).transpose(1, 2)
        operators, _ = operators_of(nn.Sequential(nn.ReLU()), (given,))
        inputs = _Inputs(operators[0], 960)  # A copy of the inputs has 96 bytes, so 10 copies fill the cache.
        tensors = [inputs.next()[0][0] for _ in range(13)]
        self.assertEqual(len({one.data_ptr() for one in tensors}), 12)
        self.assertEqual(tensors[12].data_ptr(), tensors[0].data_ptr())
        self.assertTrue(all(torch.equal(one, given) and one.stride() == given.stride() for one in tensors))
        self.assertIsNone(inputs.most_calls)

    def test_small_inputs_are_copied_at_most_1024_times_and_other_memory_clears_the_cache(self):
        from sluice._measuring import Loop, measure
        from sluice._torch_operators import operators_of
        from sluice._torch_subjects import _Inputs, subject_of

        operators, _ = operators_of(nn.Sequential(nn.ReLU()), (torch.ones(1, 4),))
        # A copy of the inputs has 16 bytes, so 65,536 copies would fill the cache of 2^20 bytes. But only 1024 copies
        # are made.
        inputs = _Inputs(operators[0], 2**20)
        self.assertEqual((inputs.count, inputs.most_calls), (1024, 1024))
        for backward in (False, True):
            subject = subject_of(operators[0], "cold", backward, backward, torch.device("cpu"), 2**20)
            done = measure(subject, Loop(budget_s=1e-6, sample_s=1e9))  # a sample has as many calls as are allowed
            self.assertEqual(done.calls, 1024)


class Refused(Folder):
    def test_impossible_arguments_are_refused(self):
        module, given = nn.Linear(4, 4), torch.zeros(2, 4)
        for arguments, options, words in (
                ((torch.relu, given), {}, "torch.nn.Module"), ((module, 3), {}, "not a int"),
                ((module, ()), {}, "at least one"), ((module, torch.tensor(1.0)), {}, "axes"),
                ((module, given), {"passes": ("forwards",)}, "forwards.*forward, backward"),
                ((module, given), {"caches": "hot"}, "tuple"), ((module, given), {"caches": ()}, "tuple"),
                ((module, given), {"budget_s": 0}, "more than 0"),
                ((module, given), {"rounds": 0}, "more than 0"),
                ((module, given), {"confidence": -1.0}, "confidence: -1.0: expected more than 0"),
                ((module, given), {"cache_bytes": -1}, "cache_bytes: -1: expected more than 0"),
                ((module, given), {"caches": ("hot", "hot")}, "each value once"),
                ((module, given), {"idle_w": -1.0}, "idle_w.*0 or more"),
                ((module, given), {"idle_w": float("nan")}, "idle_w.*0 or more"),
                ((module, given), {"meter": "rapl"}, "meter: 'rapl': expected \"auto\", None, or an object"),
                ((module, given), {"meter": 3}, "meter")):
            with self.subTest(words=words), self.assertRaisesRegex(sluice.InputError, words):
                self.profile(*arguments, **options)
        with self.assertRaisesRegex(sluice.InputError, "merge"):
            sluice.profile_torch(module, given, self.folder / "p.h5")
        with self.assertRaisesRegex(sluice.InputError, "is a folder"):
            sluice.profile_torch(module, given, self.folder)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
