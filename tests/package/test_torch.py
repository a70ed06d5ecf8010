#!/usr/bin/python3
"""Tests that models which are made from torch modules have the same counts as the models of the zoo: parameters, FLOP
and multiply-accumulates."""

import unittest

from sluice_package import need, sluice

need("numpy", "pandas", "torch", "torchvision")
import torch  # noqa: E402
import torchvision  # noqa: E402
from torch import nn  # noqa: E402


class Block(nn.Module):
    """A block of GPT-2 that uses torch's own attention."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.up, self.act, self.down = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)

    def attend(self, x):
        return self.attention(x, x, x, need_weights=False)[0]

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(self.act(self.up(self.norm2(x))))


class BlockByHand(Block):
    """A block of GPT-2 with the products of the attention written out."""

    def __init__(self, width, heads):
        super().__init__(width, heads)
        self.heads, self.attention = heads, None
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def attend(self, x):
        n, tokens, width = x.shape
        q, k, v = (part.view(n, tokens, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(x).split(width, dim=2))
        scores = (q @ k.transpose(-2, -1)) / (width // self.heads) ** 0.5
        hidden = torch.ones(tokens, tokens).triu(1).bool()
        shares = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
        return self.out((shares @ v).transpose(1, 2).reshape(n, tokens, width))


class GPT2(nn.Module):
    def __init__(self, block, blocks=12, width=768, heads=12, words=50257, tokens=1024):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.blocks = nn.Sequential(*[block(width, heads) for _ in range(blocks)])
        self.norm, self.logits = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.logits.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.logits(self.norm(self.blocks(x)))


def image(samples=1, size=224):
    return torch.zeros(samples, 3, size, size)


class Counts(unittest.TestCase):
    def same(self, model, zoo, flop=True):
        zoo = sluice.model(zoo)
        self.assertEqual(model.parameters, zoo.parameters)
        self.assertEqual(model.macs, zoo.macs)
        if flop:
            self.assertEqual(model.flop, zoo.flop)

    def test_torchvisions_networks_have_the_counts_of_the_zoo(self):
        for name, zoo in (("resnet50", "resnet50"), ("alexnet", "alexnet_torchvision"),
                          ("mobilenet_v2", "mobilenet_v2"), ("densenet121", "densenet121"),
                          ("vit_b_16", "vit_b_16")):  # torch.fx cannot trace such a module
            with self.subTest(network=name):
                network = getattr(torchvision.models, name)(weights=None)
                self.same(sluice.from_torch(network, image()), zoo)

    def test_shuffled_channels_are_still_channels(self):
        # torchvision's documentation gives 2278604 parameters and 0.14 GFLOP. By FLOP, it means multiply-accumulates
        # (MACs).
        network = torchvision.models.shufflenet_v2_x1_0(weights=None)
        model = sluice.from_torch(network, image())
        self.assertEqual((model.parameters, round(model.macs / 1e9, 2)), (2_278_604, 0.14))
        table = model.stage_table()
        shapes = [shape for kind, shape in zip(table["type"], table["shape"]) if kind == "concat"]
        self.assertEqual(shapes[0], (28, 28, 116))
        self.assertEqual(table["macs"].iloc[1], 112 * 112 * 24 * 27)

    def test_counts_are_of_one_sample_whatever_the_batch(self):
        network = torchvision.models.resnet18(weights=None)
        self.same(sluice.from_torch(network, image(3)), "resnet18")

    def test_gpt2_has_the_counts_of_the_zoo(self):
        tokens = torch.zeros(1, 1024, dtype=torch.long)
        self.same(sluice.from_torch(GPT2(Block), tokens), "gpt2")

    def test_gpt2_with_its_attention_by_hand_has_the_counts_of_the_zoo_except_for_elementwise_operations(self):
        tokens = torch.zeros(2, 1024, dtype=torch.long)
        self.same(sluice.from_torch(GPT2(BlockByHand), tokens), "gpt2", flop=False)


class Models(unittest.TestCase):
    def test_an_imported_module_runs_like_any_model(self):
        model = sluice.from_torch(nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 10)),
                                  torch.zeros(2, 3, 8, 8), "tiny")
        self.assertEqual((model.name, model.parameters, model.macs), ("tiny", 1930, 1920))
        result = sluice.Scenario.from_dict({"model": model, "platform": sluice.platform("k40"),
                                            "policy": {"name": "resident"}}).run()
        self.assertEqual(result.metrics.flop, model.flop)

    def test_from_torch_does_not_change_the_module(self):
        network = nn.Sequential(nn.Linear(4, 4), nn.Dropout()).train()
        network[1].eval()
        sluice.from_torch(network, torch.zeros(1, 4))
        self.assertEqual([one.training for one in network.modules()], [True, True, False])
        self.assertNotIn("forward", network[0].__dict__)

    def test_a_module_that_looks_at_values_runs_with_real_values(self):
        class Looks(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2)

            def forward(self, x):
                return self.second(self.first(x)) if torch.ones(1).item() == 1 else x

        network = Looks()
        weight = network.first.weight
        self.assertEqual(sluice.from_torch(network, torch.zeros(1, 4)).parameters, 30)
        self.assertIs(network.first.weight, weight)

    def test_unknown_operations_are_named(self):
        class Odd(nn.Module):
            def forward(self, x):
                return torch.fft.fft(x)

        with self.assertRaisesRegex(sluice.InputError, r"'fft_fft'.*\(Odd\).*onnx.export.*unknown='operator'"):
            sluice.from_torch(Odd(), torch.zeros(1, 4))

    def test_the_position_of_an_unknown_operation_is_reported(self):
        class Odd(nn.Module):
            def forward(self, x):
                return torch.fft.fft(x).real

        network = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(), Odd()))
        with self.assertRaisesRegex(sluice.InputError, r"'fft_fft', called in 1\.1 \(Odd\)"):
            sluice.from_torch(network, torch.zeros(1, 4))
        self.assertNotIn("forward", vars(network[1][1]))

    def test_unknown_operations_become_operators_on_request(self):
        class Odd(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.rand(7))

            def forward(self, x):
                return torch.kron(x, self.weight)  # the output is 7 times as wide as the input

        network = nn.Sequential(nn.Linear(4, 4), Odd(), nn.Linear(28, 2))
        with self.assertWarnsRegex(UserWarning, r"compute nothing: kron, called in 1 \(Odd\)"):
            model = sluice.from_torch(network, torch.zeros(1, 4), unknown="operator")
        self.assertEqual((model.parameters, model.macs), (20 + 7 + 58, 16 + 56))
        self.assertEqual(model.layer("kron").type, "operator")
        with self.assertRaisesRegex(sluice.InputError, "expected 'error' or 'operator'"):
            sluice.from_torch(network, torch.zeros(1, 4), unknown="skip")

    def test_ignored_parts_are_left_out(self):
        class Headed(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.aux1, self.aux2 = nn.Linear(4, 4), nn.Linear(4, 9), nn.Linear(4, 9)
                self.first = nn.Parameter(torch.rand(3))

            def forward(self, x):
                x = self.body(x)
                return x, self.aux1(x)

        model = sluice.from_torch(Headed(), torch.zeros(1, 4), ignore=["aux*", "first"])
        self.assertEqual((model.parameters, model.layers), (20, ["input", "body"]))
        with self.assertRaisesRegex(sluice.InputError, r"not used.*aux2.weight.*ignore=\['first', 'aux2'\]"):
            sluice.from_torch(Headed(), torch.zeros(1, 4))

    def test_a_forward_that_was_set_on_the_module_stays(self):
        network = nn.Sequential(nn.Linear(4, 4))
        network.forward = own = lambda x: network[0](x)
        sluice.from_torch(network, torch.zeros(1, 4))
        self.assertIs(network.forward, own)

    def test_parameters_that_nothing_uses_are_named(self):
        network = nn.Sequential(nn.Linear(4, 4))
        network.spare = nn.Parameter(torch.zeros(7))
        network.forward = lambda x: network[0](x)
        with self.assertRaisesRegex(sluice.InputError, "27 parameters, but its layers have 20.*spare"):
            sluice.from_torch(network, torch.zeros(1, 4))

    def test_an_argument_that_is_not_a_module_is_refused(self):
        with self.assertRaisesRegex(sluice.InputError, "Module"):
            sluice.from_torch(torch.relu, torch.zeros(1))

    def test_an_argument_that_is_not_an_input_is_refused(self):
        for given, words in (({"x": torch.zeros(1, 4)}, "not a dict"), (torch.zeros(1, 4).numpy(), "ndarray"),
                             ((torch.zeros(1, 4), 3), "not a int"), (torch.tensor(3.0), "no axes"), ((), "at least one"),
                             (torch.zeros(0, 4), "no samples")):
            with self.subTest(given=type(given)), self.assertRaisesRegex(sluice.InputError, words):
                sluice.from_torch(nn.Linear(4, 4), given)


if __name__ == "__main__":
    unittest.main()
