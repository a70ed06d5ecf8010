#!/usr/bin/python3
"""The tables of fitted.md from the bundled fits: how far off each class is for operators that a fit has not seen."""

import pathlib

import yaml

FITS = pathlib.Path(__file__).resolve().parents[2] / "fits"
CARDS = ("v100_pcie", "p100_pcie", "t4", "a100_pcie", "a100_80gb_pcie")
PRODUCTS = ("a100_80gb_sxm4", "h100_sxm5")
CLASSES = ("linear", "bmm", "elementwise", "softmax", "layer_norm")
# Lee et al. (ASPLOS 2025), mean error of an operator on cards that its model was trained on, and on others.
PUBLISHED = {"linear": "20.0 / 13.9", "bmm": "26.0 / 13.8", "elementwise": "14.0 / 19.3", "softmax": "19.3 / 13.9",
             "layer_norm": "20.1 / 56.7"}


def errors(fit):
    """class -> the mapping `error` of that class."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load((FITS / f"{fit}.yaml").read_text(), Loader=loader)
    return {found["class"]: found["error"] for found in document["classes"]}


def shown(error):
    return f"{100 * error['median']:.1f}, {100 * error['ninety']:.0f}"


def cards_table():
    found = {card: errors(card) for card in CARDS}
    head = ["| class | " + " | ".join(CARDS) + " | published, seen / unseen card |", "|" + "---|" * (len(CARDS) + 2)]
    return head + [f"| {of} | " + " | ".join(shown(found[card][of]) for card in CARDS) + f" | {PUBLISHED[of]} |"
                   for of in CLASSES]


def products_table():
    head = ["| fit | median, % | 90th percentile, % | predictions |", "|---|---|---|---|"]
    rows = [(fit, errors(fit)["linear"]) for fit in PRODUCTS]
    return head + [f"| {fit} | {100 * e['median']:.1f} | {100 * e['ninety']:.1f} | {e['predictions']} |"
                   for fit, e in rows]


if __name__ == "__main__":
    print("\n".join([*cards_table(), "", *products_table()]))
