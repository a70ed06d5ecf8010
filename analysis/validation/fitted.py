#!/usr/bin/python3
"""Prints the tables of fitted.md from the bundled fits: the errors of each class for unseen operators."""

import pathlib

import yaml

FITS = pathlib.Path(__file__).resolve().parents[2] / "fits"
CARDS = ("v100_pcie", "p100_pcie", "t4", "a100_pcie", "a100_80gb_pcie")
PRODUCTS = ("a100_80gb_sxm4", "h100_sxm5")
CLASSES = ("linear", "bmm", "elementwise", "softmax", "layer_norm")
# Mean errors (%) of the model of Lee et al. (ASPLOS 2025) for each class. The first number is for cards on which the
# model was trained. The second number is for other cards.
PUBLISHED = {"linear": "20.0 / 13.9", "bmm": "26.0 / 13.8", "elementwise": "14.0 / 19.3", "softmax": "19.3 / 13.9",
             "layer_norm": "20.1 / 56.7"}


def errors(fit):
    """Returns the mapping `error` of each class in the file of the fit."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load((FITS / f"{fit}.yaml").read_text(), Loader=loader)
    return {found["class"]: found["error"] for found in document["classes"]}


def shown(error):
    return f"{100 * error['median']:.1f}, {100 * error['ninety']:.0f}"


def cards_table():
    found = {card: errors(card) for card in CARDS}
    head = ["| class | " + " | ".join(CARDS) + " | published: card seen / not seen |", "|" + "---|" * (len(CARDS) + 2)]
    return head + [f"| {of} | " + " | ".join(shown(found[card][of]) for card in CARDS) + f" | {PUBLISHED[of]} |"
                   for of in CLASSES]


def products_table():
    head = ["| fit | median, % | 90th percentile, % | predictions |", "|---|---|---|---|"]
    rows = [(fit, errors(fit)["linear"]) for fit in PRODUCTS]
    return head + [f"| {fit} | {100 * e['median']:.1f} | {100 * e['ninety']:.1f} | {e['predictions']} |"
                   for fit, e in rows]


def unseen():
    """For each card, a fit was made from the other four cards. Returns the errors of these fits by class and card. The
    names of the cards are as in the table of measurements. The entry for the card "" gives the error over all cards."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load((FITS / "gpus_float32.yaml").read_text(), Loader=loader)
    return {each["class"]: {"": each["device_error"], **{one["device"]: one for one in each["device_errors"]}}
            for each in document["classes"]}


def unseen_table():
    """Returns the table of the five cards. Each card is predicted from the other four."""
    found = unseen()
    cards = [card for card in found[CLASSES[0]] if card]
    head = ["| class | " + " | ".join(cards) + " | all | predictions |", "|" + "---|" * (len(cards) + 3)]
    return head + [f"| {of} | " + " | ".join(shown(found[of][card]) for card in [*cards, ""]) +
                   f" | {found[of]['']['predictions']} |" for of in CLASSES]


def a30_table(with_cores, without):
    """Returns the table for an A30. The arguments are outputs of `sluice profile fit --json`, with and without tensor
    cores."""
    head = ["| class | samples | time with tensor cores | energy with tensor cores | time without | energy without |",
            "|---|---|---|---|---|---|"]
    return head + [f"| {one['class']} | {one['samples']} | {shown(one['error'])} | {shown(one['energy_error'])} | "
                   f"{shown(other['error'])} | {shown(other['energy_error'])} |"
                   for one, other in zip(with_cores, without)]


def whole_tiles(rows):
    """Counts the grids of thread blocks of the products in NeuSight's tables. A grid fits a result if it has as many
    blocks as the result has tiles. The result has m rows, and k or n columns. Returns the numbers of grids that fit m x
    k, m x n, only m x k, and only m x n."""
    def is_whole(row, columns):
        tiles, grid, count = (16, 32, 64, 96, 128, 256), int(row["grid_blocks"]), int(row["b"])
        return any(count * -(-int(row["m"]) // high) * -(-int(row[columns]) // wide) == grid
                   for high in tiles for wide in tiles)
    found = [(is_whole(row, "k"), is_whole(row, "n")) for row in rows]
    return (sum(k for k, _ in found), sum(n for _, n in found), sum(k and not n for k, n in found),
            sum(n and not k for k, n in found))


if __name__ == "__main__":
    print("\n".join([*cards_table(), "", *unseen_table(), "", *products_table()]))
