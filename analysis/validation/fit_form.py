"""This file implements the formula of fits/FORMAT.md a second time, independently of Sluice. The code computes the
seconds of a product of matrices from a bundled fit."""

import math
import pathlib

import numpy as np
import yaml

FITS = pathlib.Path(__file__).resolve().parents[2] / "fits"
TILES = ((128, 128, "large"), (64, 64, "medium"), (16, 64, "small"), (128, 1, "column"))


class Form:
    """One class of operators of a fit, in one dtype and on the device that was measured."""

    def __init__(self, fit, of, dtype):
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        document = yaml.load((FITS / f"{fit}.yaml").read_text(), Loader=loader)
        [found] = [c for c in document["classes"] if (c["class"], c["dtype"]) == (of, dtype)]
        sheet, self.time = document["devices"][0], found["time"]
        self.rate = float(sheet["rate"].removesuffix("FLOP/s"))
        self.bandwidth = float(sheet["bandwidth"].removesuffix("B/s"))
        self.cache, self.units = float(sheet["cache"].removesuffix("B")), sheet["units"]
        table = np.array([line.split() for line in found["left"].splitlines()], float)
        self.places, self.left = np.log(table[:, :5]), table[:, 5]

    def product(self, count, rows, columns, depth, size):
        """Returns the seconds of `count` products of rows x depth by depth x columns, with `size` bytes per element."""
        elements = count * (rows * depth + depth * columns + rows * columns)
        place = np.log([count, rows, columns, depth, size])
        distances = ((self.places - place) ** 2).sum(axis=1)
        nearest = np.argsort(distances, kind="stable")[:8]
        weights, found = np.append(np.exp(-2 * distances[nearest]), 0.05), np.append(self.left[nearest], 0)
        left = np.average(found, weights=weights)
        for _ in range(30):  # each round gives outliers less weight; after these rounds the mean hardly changes
            left = np.average(found, weights=weights / np.sqrt(1 + ((found - left) / 0.05) ** 2))
        compute = self._compute(count, rows, columns, depth)
        memory = self._memory(size * elements)
        return (self.time["launch"] + (compute**4 + memory**4) ** 0.25) * math.exp(left)

    def _compute(self, count, rows, columns, depth):
        least = math.inf
        for tall, wide, share in TILES:
            for split in (1, 2, 4, 8):
                if split > 1 and depth / split < 64:
                    break
                waves = count * math.ceil(rows / tall) * math.ceil(columns / wide) * split / self.units
                waves += self.time["ragged"] * (math.ceil(waves) - waves)
                rate = self.rate / self.units * self.time[share]
                seconds = waves * 2 * tall * wide * (depth / split + self.time["startup"]) / rate
                if split > 1:
                    seconds += 8 * split * count * rows * columns / (self.bandwidth * self.time["cached"])
                least = min(least, seconds)
        return least * (1 if columns % 4 == 0 and depth % 4 == 0 else 1 + self.time["unaligned"])

    def _memory(self, size):
        hit = 1 / (1 + (size / (self.cache * self.time["cache_used"])) ** 4)
        return size / self.bandwidth * (hit / self.time["cached"] + (1 - hit) / self.time["memory"])
