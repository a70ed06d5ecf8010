#!/usr/bin/python3
"""Tests torchvision's families of networks, and modules that are written by hand in this file. Models from torch have
the published numbers of parameters. A model has as many multiply-accumulates as torch's kernels execute for the same
module."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

from sluice_package import need, sluice

need("numpy", "pandas", "torch", "torchvision")
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import torchvision  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402


class Kernels(TorchDispatchMode):
    """Counts the multiply-accumulates in the calls of torch's own kernels. Every module and every function of torch
    ends in calls of these kernels."""

    def __init__(self):
        super().__init__()
        self.macs = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0]
        if name in ("mm", "bmm"):
            self.macs += result.numel() * args[0].shape[-1]
        elif name in ("addmm", "baddbmm"):
            self.macs += result.numel() * args[1].shape[-1]
        elif name == "convolution":
            weight, transposed = args[1], args[6]
            self.macs += (args[0] if transposed else result).numel() * weight[0].numel()
        return result


def kernels_of(module, *inputs):
    module = module.eval()
    with Kernels() as kernels:
        module(*inputs)
    return kernels.macs


#: One network of each family of torchvision, with the size of its images.
FAMILIES = {"alexnet": 224, "convnext_tiny": 224, "densenet121": 224, "efficientnet_b0": 224,
            "efficientnet_v2_s": 384, "googlenet": 224, "inception_v3": 299, "maxvit_t": 224, "mnasnet1_0": 224,
            "mobilenet_v2": 224, "mobilenet_v3_large": 224, "regnet_x_400mf": 224, "regnet_y_400mf": 224,
            "resnet50": 224, "resnext50_32x4d": 224, "shufflenet_v2_x1_0": 224, "squeezenet1_0": 224,
            "swin_t": 224, "swin_v2_t": 256, "vgg11": 224, "vit_b_16": 224, "wide_resnet50_2": 224}


class Families(unittest.TestCase):
    def test_parameters_equal_the_published_numbers_and_macs_equal_those_of_torchs_kernels(self):
        self.assertGreaterEqual(len(FAMILIES), 20)
        for name, size in FAMILIES.items():
            with self.subTest(network=name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                more = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
                network = getattr(torchvision.models, name)(weights=None, **more).to("meta")
                image = torch.zeros(1, 3, size, size, device="meta")
                model = sluice.from_torch(network, image, ignore=["aux*", "AuxLogits"])
                published = torchvision.models.get_model_weights(name).DEFAULT.meta["num_params"]
                if name == "inception_v3":  # the published count includes the second head
                    published -= sum(one.numel() for one in network.AuxLogits.parameters())
                self.assertEqual(model.parameters, published)
                self.assertEqual(model.macs, kernels_of(network, image))


class Norm(nn.Module):
    """RMSNorm as most programs define it."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class RMSNorm(Norm):
    """The module Norm, under the name that Llama's code gives it."""


class Llama(nn.Module):
    """A block with grouped queries, rotary positions, and a gated feed-forward layer."""

    def __init__(self, width=64, heads=8, groups=2, norm=Norm):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.norm1, self.norm2 = norm(width), norm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
        self.o = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)

    def turn(self, x):
        angles = torch.outer(torch.arange(x.shape[-2]), 1 / 10000 ** (torch.arange(0, self.size, 2) / self.size))
        a, b = x[..., ::2], x[..., 1::2]
        turned = torch.stack((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)
        return turned.flatten(-2)

    def forward(self, x):
        n, tokens, width = x.shape
        y = self.norm1(x)
        q = self.turn(self.q(y).view(n, tokens, self.heads, self.size).transpose(1, 2))
        k = self.turn(self.k(y).view(n, tokens, self.groups, self.size).transpose(1, 2))
        v = self.v(y).view(n, tokens, self.groups, self.size).transpose(1, 2)
        k, v = (one.repeat_interleave(self.heads // self.groups, dim=1) for one in (k, v))
        scores = q @ k.transpose(-2, -1) / self.size**0.5 + torch.full((tokens, tokens), -1e9).triu(1)
        x = x + self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, tokens, width))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Words(nn.Module):
    """A recurrent model of words, whose last layer reads the last state."""

    def __init__(self, kind=nn.LSTM, batch_first=True):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.cells = kind(16, 24, num_layers=2, batch_first=batch_first, bidirectional=True)
        self.head, self.first = nn.Linear(48, 50), batch_first

    def forward(self, tokens):
        x = self.words(tokens)
        out, state = self.cells(x if self.first else x.transpose(0, 1))
        out = out if self.first else out.permute(1, 0, 2)
        last = state[0] if isinstance(state, tuple) else state
        return self.head(out) + self.head(torch.cat((last[-2], last[-1]), dim=-1)).unsqueeze(1)


class Wave(nn.Module):
    """A network of causal convolutions over a signal. Each convolution reads a signal that is padded only at its
    beginning."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 8, 3)
        self.layers = nn.ModuleList(nn.Conv1d(8, 16, 2, dilation=2**i) for i in range(3))
        self.back = nn.ModuleList(nn.Conv1d(8, 8, 1) for _ in range(3))
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        x = self.first(F.pad(x, (2, 0)))
        for i, (layer, back) in enumerate(zip(self.layers, self.back)):
            a, b = layer(F.pad(x, (2**i, 0))).chunk(2, dim=1)
            x = x + back(torch.tanh(a) * torch.sigmoid(b))
        return self.norm(x).mean(dim=-1)


class UNet(nn.Module):
    """A network that shrinks an image by pooling, and enlarges it by a transposed convolution and by interpolation."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.bottom = nn.Conv2d(16, 16, 3, padding=1)
        self.up1, self.up2 = nn.ConvTranspose2d(16, 16, 2, stride=2), nn.Upsample(scale_factor=2, mode="bilinear")
        self.join1, self.join2 = nn.Conv2d(32, 8, 3, padding=1), nn.Conv2d(16, 2, 1)
        self.act = nn.PReLU(16)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = self.act(self.down2(F.max_pool2d(a, 2)))
        x = self.up1(self.bottom(F.avg_pool2d(b, 2)))
        x = F.elu(self.join1(torch.cat((x, b), 1)))
        return self.join2(torch.cat((self.up2(x), a), 1))


class Mixer(nn.Module):
    """A block that multiplies first over the tokens and then over the channels. Its layer norms are calls of a function
    instead of modules."""

    def __init__(self, tokens=16, width=32):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.tokens, self.channels = nn.Linear(tokens, tokens), nn.Linear(width, width)
        self.scale = nn.Parameter(torch.rand(width))
        self.width = width

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        y = F.layer_norm(x, (self.width,))
        x = x + self.tokens(y.transpose(1, 2)).transpose(1, 2)
        return (x + self.scale * F.gelu(self.channels(F.layer_norm(x, (self.width,), self.scale)))).mean(1)


class Einsums(nn.Module):
    """Attention that is written with einsum. Its projections are bare parameters instead of layers."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.qkv = nn.Parameter(torch.rand(3, width, heads, width // heads))
        self.out = nn.Parameter(torch.rand(heads, width // heads, width))

    def forward(self, x):
        q, k, v = (torch.einsum("btw,whd->bhtd", x, one) for one in self.qkv)
        shares = F.softmax(torch.einsum("bhid,bhjd->bhij", q, k), dim=-1)
        return x + torch.einsum("bhtd,hdw->btw", torch.einsum("bhij,bhjd->bhid", shares, v), self.out)


class Video(nn.Module):
    """A network of convolutions over a volume."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv3d(3, 8, 3, padding=1), nn.BatchNorm3d(8), nn.Softplus(),
                                    nn.MaxPool3d(2), nn.Conv3d(8, 16, (1, 3, 3), stride=(1, 2, 2)),
                                    nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(16, 5))

    def forward(self, x):
        return self.layers(x)


class Sharper(nn.Module):
    """Superresolution: channels become pixels."""

    def __init__(self):
        super().__init__()
        self.first, self.more = nn.Conv2d(3, 16, 5, padding="same"), nn.Conv2d(16, 12, 3, padding=1)
        self.squeeze, self.excite = nn.Linear(16, 4), nn.Linear(4, 16)

    def forward(self, x):
        x = self.first(x)
        weight = torch.sigmoid(self.excite(F.relu(self.squeeze(x.mean((2, 3))))))
        return F.pixel_shuffle(self.more(x * weight[:, :, None, None]), 2)


class Encoder(nn.Module):
    """A block with torch's own attention. The first axis of its inputs counts the tokens."""

    def __init__(self, width=32):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 4)
        self.norm, self.place = nn.LayerNorm(width), nn.Parameter(torch.rand(1, 10, width))

    def forward(self, x):
        x = (x + self.place).permute(1, 0, 2)
        return self.norm(x + self.attention(x, x, x)[0]).permute(1, 0, 2)


class Autoencoder(nn.Module):
    """A module whose weights are used twice, once transposed."""

    def __init__(self):
        super().__init__()
        self.code = nn.Linear(64, 16)
        self.shift = nn.Parameter(torch.rand(64))

    def forward(self, x):
        code = F.softplus(self.code(x.flatten(1)))
        return torch.matmul(code, self.code.weight) + self.shift


PROGRAM = os.environ.get("SLUICE_PROGRAM", pathlib.Path(__file__).resolve().parents[2] / "build/release/sluice")


def operators(model):
    """Returns the operators that `sluice profile plan` lists for a model."""
    done = subprocess.run([PROGRAM, "profile", "plan", model], capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line[:1] != "#"]
    return {(row["config"], row["inputs"], row["outputs"], row["occurrences"]) for row in csv.DictReader(lines)}


class Configurations(unittest.TestCase):
    def test_a_profile_of_the_module_prices_the_zoos_model_and_the_other_way_round(self):
        for name, zoo in (("resnet50", "resnet50"), ("vgg16", "vgg16"), ("convnext_tiny", "convnext_tiny"),
                          ("alexnet", "alexnet_torchvision"), ("mobilenet_v2", "mobilenet_v2"),
                          ("vit_b_16", "vit_b_16"), ("googlenet", "googlenet")):
            with self.subTest(network=name), warnings.catch_warnings(), \
                    tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                warnings.simplefilter("ignore")
                more = {"init_weights": False} if name == "googlenet" else {}
                network = getattr(torchvision.models, name)(weights=None, **more).to("meta")
                model = sluice.from_torch(network, torch.zeros(1, 3, 224, 224, device="meta"), ignore=["aux*"])
                json.dump(model.document["definition"], file)
                file.flush()
                self.assertEqual(operators(file.name), operators(zoo))


def tokens(count=10):
    return torch.zeros(1, count, dtype=torch.long)


HAND_WRITTEN = [(Llama(), torch.rand(1, 10, 64)), (Llama(norm=RMSNorm), torch.rand(1, 10, 64)),
                (Words(), tokens()), (Words(nn.GRU), tokens()), (Words(nn.LSTM, False), tokens()),
                (Wave(), torch.rand(1, 1, 100)), (UNet(), torch.rand(1, 3, 32, 32)),
                (Mixer(), torch.rand(1, 3, 16, 16)), (Einsums(), torch.rand(1, 10, 32)),
                (Video(), torch.rand(1, 3, 8, 16, 16)), (Sharper(), torch.rand(1, 3, 12, 12)),
                (Encoder(), torch.rand(1, 10, 32)), (Autoencoder(), torch.rand(1, 8, 8))]


class HandWritten(unittest.TestCase):
    def test_parameters_and_macs_are_exact_whatever_the_batch(self):
        self.assertGreaterEqual(len(HAND_WRITTEN), 10)
        for module, one in HAND_WRITTEN:
            with self.subTest(module=type(module).__name__), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = kernels_of(module, one)
                for samples in (1, 3):
                    model = sluice.from_torch(module, one.expand(samples, *one.shape[1:]).contiguous())
                    self.assertEqual(model.parameters, sum(one.numel() for one in module.parameters()))
                    self.assertEqual(model.macs, expected)


if __name__ == "__main__":
    unittest.main()
