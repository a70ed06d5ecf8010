#!/usr/bin/python3
"""./dev new KIND NAME: the one file and the one line that a new policy, layer, cost, cut or metric is."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

POLICY = """\
// {name}: say in a sentence what it does, and its time without contention in closed form.
#include "base/error.hpp"
#include "policy/policy.hpp"

namespace sluice {{
namespace {{

Draft plan(const PolicyRequest& request, const Reader& parameters) {{
  (void)request;
  (void)parameters;
  throw InternalError("policy '{name}' is not written yet");
}}

}}  // namespace

extern const Policy {name}_policy = {{
    .name = "{name}",
    .summary = "One sentence.",
    .source = "Paper, section.",
    .parameters = {{}},
    .plan = plan,
}};

}}  // namespace sluice
"""

LAYER = """\
#include "base/error.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {{
namespace {{

LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {{
  (void)keys;
  (void)inputs;
  throw InternalError("layer type '{name}' is not written yet");
}}

}}  // namespace

extern const LayerType {name}_layer = {{
    .name = "{name}",
    .summary = "One sentence, with its FLOP.",
    .source = "Paper, section.",
    .parameters = {{}},
    .infer = infer,
}};

}}  // namespace sluice
"""

COST = """\
// {name}: say in a sentence what an operator's seconds are.
#include "base/error.hpp"
#include "cost/cost.hpp"

namespace sluice {{
namespace {{

double seconds(const Work& work, const Device& device, DType dtype) {{
  (void)work;
  (void)device;
  (void)dtype;
  throw InternalError("cost model '{name}' is not written yet");
}}

}}  // namespace

extern const CostModel {name}_cost = {{
    .name = "{name}",
    .summary = "One sentence.",
    .source = "Paper, section.",
    .seconds = seconds,
}};

}}  // namespace sluice
"""

CUT = """\
// {name}: say in a sentence where it cuts.
#include "base/error.hpp"
#include "stage/stage.hpp"

namespace sluice {{
namespace {{

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader& parameters) {{
  (void)request;
  (void)parameters;
  throw InternalError("cut '{name}' is not written yet");
}}

}}  // namespace

extern const Cut {name}_cut = {{
    .name = "{name}",
    .summary = "One sentence.",
    .source = "Paper, section.",
    .parameters = {{}},
    .last_layers = last_layers,
}};

}}  // namespace sluice
"""

METRIC = """\
// {name}: say in a sentence what it is. Its unit ends its name (_s, _bytes, _j) where it has one.
#include "base/error.hpp"
#include "metrics/metric.hpp"

namespace sluice {{
namespace {{

SummaryValue value(const Totals& totals) {{
  (void)totals;
  throw InternalError("metric '{name}' is not written yet");
}}

}}  // namespace

extern const Metric {name}_metric = {{
    .name = "{name}",
    .unit = "s",
    .summary = "One sentence: the definition.",
    .source = "Paper, section.",
    .better = Metric::Better::lower,
    .value = value,
}};

}}  // namespace sluice
"""

# kind: (folder of the file, catalog, type of the record, suffix of its name, the file)
KINDS = {
    "policy": ("sim/policy", "sim/policy/catalog.cpp", "Policy", "policy", POLICY),
    "layer": ("sim/model/layers", "sim/model/catalog.cpp", "LayerType", "layer", LAYER),
    "cost": ("sim/cost", "sim/cost/catalog.cpp", "CostModel", "cost", COST),
    "cut": ("sim/stage", "sim/stage/catalog.cpp", "Cut", "cut", CUT),
    "metric": ("sim/metrics/kinds", "sim/metrics/catalog.cpp", "Metric", "metric", METRIC),
}


def die(message):
    sys.exit(f"dev new: {message}")


def add_line(catalog, record_type, record):
    """Adds SLUICE_ENTRY(...) after the last one of its type, indented like it."""
    text = catalog.read_text()
    entries = list(re.finditer(rf"^( *)SLUICE_ENTRY\({record_type}, \w+\),\n", text, re.M))
    if not entries:
        die(f"{catalog} has no line SLUICE_ENTRY({record_type}, …) to follow")
    last = entries[-1]
    line = f"{last.group(1)}SLUICE_ENTRY({record_type}, {record}),\n"
    catalog.write_text(text[: last.end()] + line + text[last.end() :])


def main(arguments):
    if len(arguments) != 2:
        die(f"usage: ./dev new KIND NAME, where KIND is one of {', '.join(KINDS)}")
    kind, name = arguments
    if kind not in KINDS:
        die(f"unknown kind '{kind}'; known: {', '.join(KINDS)}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        die(f"'{name}' is no name: a small letter, then small letters, digits and _")
    folder, catalog, record_type, suffix, template = KINDS[kind]
    file = ROOT / folder / f"{name}.cpp"
    record = f"{name}_{suffix}"
    if file.exists() or re.search(rf"\b{record}\b", (ROOT / catalog).read_text()):
        die(f"{kind} '{name}' exists already")
    add_line(ROOT / catalog, record_type, record)
    file.write_text(template.format(name=name))
    print(f"made {file.relative_to(ROOT)} and a line in {catalog}", file=sys.stderr)
    print("next: write it, and its hand-computed case in tests/hand/", file=sys.stderr)


main(sys.argv[1:])
