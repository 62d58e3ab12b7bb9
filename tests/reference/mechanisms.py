"""Compares all attention matrices of a model, and the other numbers of each attention, with those that
nibu-inspect prints. The model in NumPy is that of mechanism_model.py.

    python3 mechanisms.py NIBU_INSPECT MODEL_DIRECTORY TEXT [LARGEST_DIFFERENCE]

MODEL_DIRECTORY is a Hugging Face directory of a Marian model. Where its config.json says how layers
attend, that alone is compared; otherwise every mechanism of this file that has no weights of its own
is put into the encoder, then into the cross-attention.
"""

import json
import subprocess
import sys

import numpy as np

from mechanism_model import Model, Spec

ENCODER = [
    "full", "full:tile=16", "full:score=dot", "full:dense=1", "causal", "window:3", "local_m:3",
    "local_m:2,ratio=50,score=dot", "shifted:6", "shifted:7", "shifted:64", "block_grid:4",
    "bigbird:window=1,global=2,random=2,block=3,seed=4", "bigbird:window=0,global=0,random=3,block=2",
    "lsh:bucket=4,rounds=1", "lsh:bucket=3,rounds=3,seed=7", "mean:3", "mean:2", "factorized", "pool:3",
]
CROSS = [
    "full", "full:score=dot", "full:dense=1", "local_m:2", "local_m:0", "local_m:64",
    "local_m:width=3,ratio=80", "local_m:width=3,ratio=130,score=dot", "local_m:1,dense=1", "mean:1",
    "mean:2", "mean:5",
]


def numbers(part, is_cross):
    """Entropy and distance of each head, likeness and edges, from their definitions."""
    p = part["weights"] / part["weights"].sum(2, keepdims=True)
    heads, n, _ = p.shape
    places = np.arange(n) * ((part["positions"] - 1) / max(n - 1, 1) if is_cross else 1)
    pairs = [(a, b) for a in range(heads) for b in range(a)]
    return {
        "entropy": -(p * np.log2(np.where(p > 0, p, 1))).sum((1, 2)) / n,
        "distance": (p * abs(part["at"][None, :] - places[:, None])).sum((1, 2)) / n,
        "likeness": np.mean([np.minimum(p[a], p[b]).sum() / n for a, b in pairs]) if pairs else 1.0,
        "edges": np.isfinite(part["score"]).sum()}


def difference(ours, theirs, what):
    """The largest difference, of numbers beyond 1 relative to them. What is hidden is the same."""
    ours, theirs = np.array(ours, float), np.array(theirs, float)
    assert ours.shape == theirs.shape, "%s: %s, %s" % (what, ours.shape, theirs.shape)
    ours = np.where(np.isnan(ours), -np.inf, ours)  # JSON's null
    assert (np.isinf(ours) == np.isinf(theirs)).all(), what + ": others are hidden"
    known = np.isfinite(theirs)
    ours, theirs = ours[known], theirs[known]
    return float((abs(ours - theirs) / np.maximum(1, abs(theirs))).max(initial=0))


def field(specs, layers, n):
    """How many positions each one depends on after each layer, by products of Boolean matrices."""
    reached, sizes = np.eye(n), []
    for spec, parts in zip(specs, layers):
        reduction = spec.values.get("reduction", 1)
        for part in parts:
            if spec.name == "pool":
                seen = abs(np.arange(n)[:, None] - np.arange(n)[None, :]) <= spec["width"] // 2
            elif part is None:
                seen = np.ones((n, n))
            else:
                seen = np.isfinite(part["score"]).any(0).repeat(reduction, 1)[:, :n]
            reached = ((seen + np.eye(n)) @ reached > 0) * 1.0
        sizes.append(reached.sum() / n)
    return sizes


def compare_side_by_side(program, directory, model, text):
    """The largest difference of all that --compare shows, and of the terms of the first layer."""
    command = [program, "attention", "--json", "--compute_type=float32", "--model=" + directory, text]
    nibu = json.loads(subprocess.run(command + ["--compare=" + each for each in ENCODER], check=True,
                                     capture_output=True).stdout)
    source = [model.ids[token] for token in nibu["source"]]
    target = [model.ids[token] for token in nibu["target"]]
    terms = model.terms(source)
    largest = max(difference(nibu["terms"]["map"], terms, "terms"),
                  difference(nibu["terms"]["variance"], terms.var(3).mean(2).T, "variances of terms"))
    assert [each["mechanism"] for each in nibu["compare"]] == ENCODER
    for ours in nibu["compare"]:
        what = ours["mechanism"]
        specs = [Spec(what)] * model.config["encoder_layers"]
        layers = model.run(source, [model.config["decoder_start_token_id"]] + target[:-1], specs,
                           [Spec("full")] * model.config["decoder_layers"])["encoder"]
        largest = max(largest, difference(ours["log_prob"], model.log_prob(target), what + ": log_prob"),
                      difference(ours["field"], field(specs, layers, len(source)), what + ": field"))
        parts = [part for layer in layers for part in layer]
        assert ours["edges"] == sum(np.isfinite(part["score"]).sum() for part in parts if part), what
        assert len(ours["maps"]) == len(parts), what
        for matrix, part in zip(ours["maps"], parts):
            assert (part is None) == (matrix == []), what
            if part:
                seen = np.isfinite(part["score"]).any(0)
                largest = max(largest, difference(matrix, np.where(seen, part["weights"].mean(0), -np.inf), what))
    return largest


def compare(program, directory, model, text, encoder, cross):
    """The largest difference between the matrices of nibu and of NumPy."""
    command = [program, "attention", "--json", "--compute_type=float32", "--model=" + directory]
    config = model.config
    texts = {"encoder": encoder or config.get("encoder_attention", "full"),
             "cross": cross or config.get("cross_attention", "full")}
    for kind, given in (("encoder", encoder), ("cross", cross)):
        if given:
            command.append("--%s_attention=%s" % (kind, given))
    nibu = json.loads(subprocess.run(command + [text], check=True, capture_output=True).stdout)
    lists = {}
    for kind, layers in (("encoder", config["encoder_layers"]), ("cross", config["decoder_layers"])):
        specs = [Spec(each) for each in texts[kind].split(";")]
        lists[kind] = specs * layers if len(specs) == 1 else specs
    ids = lambda tokens: [model.ids[token] for token in tokens]
    # The decoder reads the start token and all tokens but the last one.
    target = [config["decoder_start_token_id"]] + ids(nibu["target"])[:-1]
    expected = model.run(ids(nibu["source"]), target, lists["encoder"], lists["cross"])
    largest = 0.0
    for kind, layers in expected.items():
        assert len(layers) == len(nibu[kind]), kind
        details = iter(nibu["details"][kind])
        for l, parts in enumerate(layers):
            heads = iter(nibu[kind][l])
            for number, part in enumerate(parts):
                what = "%s layer %d" % (kind, l)
                detail = next(details)
                mechanism = lists[kind][l].text if kind in lists else "causal"
                assert Spec(detail["mechanism"]).values == Spec(mechanism).values, what
                assert (detail["layer"], detail["part"]) == (
                    l, ["windows", "grid"][number] if len(parts) > 1 else ""), what
                if part is None:
                    assert "score" not in detail, what + " has a matrix"
                    continue
                ours = {**detail, "weights": [next(heads) for _ in part["weights"]]}
                assert len(detail["keys"]) == part["weights"].shape[2], what
                for name, value in {**part, **numbers(part, kind == "cross")}.items():
                    if name in ("positions", "at"):
                        continue
                    assert (value is None) == (name not in ours), what + ": " + name
                    if value is not None:
                        largest = max(largest, difference(ours[name], value, "%s: %s" % (what, name)))
            assert next(heads, None) is None, what + " has more heads"
        assert next(details, None) is None, kind
    return largest


def main():
    program, directory, text = sys.argv[1:4]
    most = float(sys.argv[4]) if len(sys.argv) > 4 else 1e-4
    model = Model(directory)
    runs = [("", "")]
    if "encoder_attention" not in model.config and "cross_attention" not in model.config:
        runs = [(each, "") for each in ENCODER] + [("", each) for each in CROSS]
    failures = 0
    if len(runs) > 1:
        largest = compare_side_by_side(program, directory, model, text)
        print("%-70s %.1e%s" % ("mechanisms beside each other, and the four terms", largest,
                                "" if largest <= most else "  TOO LARGE"))
        failures += largest > most
    for encoder, cross in runs:
        name = "encoder %s" % encoder if encoder else "cross %s" % cross if cross else "config.json"
        largest = compare(program, directory, model, text, encoder, cross)
        print("%-70s %.1e%s" % (name, largest, "" if largest <= most else "  TOO LARGE"))
        failures += largest > most
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
