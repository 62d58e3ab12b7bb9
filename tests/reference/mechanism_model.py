"""Whole models in NumPy and float64, with every mechanism of attention in both places.

Written from the definitions of engine/attention/mixers/README.md and the papers named there; needs
python3-numpy alone. mechanisms.py compares nibu with it.
"""

import json
import math
import os
import struct

import numpy as np


class Spec:
    """A mechanism's name and its parameters, as engine/attention/mixer_spec.h has their defaults."""
    DEFAULTS = {
        "full": {"tile": 256}, "causal": {}, "window": {"width": 0},
        "local_m": {"width": 0, "ratio": 100}, "local_p": {"width": 1}, "shifted": {"width": 2, "bias": 0},
        "block_grid": {"width": 2, "bias": 0, "both": 0},
        "bigbird": {"window": 64, "global": 8, "random": 2, "block": 64, "seed": 1},
        "lsh": {"bucket": 64, "rounds": 4, "seed": 1}, "mean": {"reduction": 1},
        "reduction": {"reduction": 1}, "factorized": {"kernel": 0},
        "deformable": {"reduction": 1, "kernel": 5}, "pool": {"width": 3},
        "mlp": {"positions": 1, "hidden": 0}}

    def __init__(self, text):
        self.text = text
        self.name, _, values = text.partition(":")
        self.values = dict(self.DEFAULTS[self.name])
        self.score = "scaled_dot"
        for i, part in enumerate(filter(None, values.split(","))):
            key, is_named, value = part.rpartition("=")
            if not is_named:
                key = list(self.values)[0]
            if key == "score":
                self.score = value
            elif key != "dense":
                self.values[key] = int(value)

    def __getitem__(self, key):
        return self.values[key]


def hash_of(seed, a, b):
    mask = (1 << 64) - 1
    x = seed
    for part in (a, b):
        x = (x + 0x9e3779b97f4a7c15 * (part + 1)) & mask
        x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & mask
        x = ((x ^ x >> 27) * 0x94d049bb133111eb) & mask
        x ^= x >> 31
    return x


def bigbird(spec, n, layer, head):
    """Returns which query sees which key, as booleans [n, n]."""
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    seen = (i < spec["global"]) | (j < spec["global"]) | (abs(i - j) <= spec["window"])
    block = spec["block"]
    blocks = math.ceil(n / block)
    seed = hash_of(spec["seed"], layer, head)
    for b in range(blocks):
        near = range(b * block - spec["window"], b * block + block + spec["window"])
        allowed = [c for c in range(blocks) if c * block >= spec["global"]
                   and not any(c * block <= key < (c + 1) * block for key in near)]
        drawn = []
        for top in range(max(len(allowed) - spec["random"], 0), len(allowed)):
            pick = hash_of(seed, b, top) % (top + 1)
            drawn.append(top if pick in drawn else pick)
        for pick in drawn:
            seen |= (i // block == b) & (j // block == allowed[pick])
    return seen


def lsh(spec, q, k, layer, head):
    """Returns which query sees which key in any round, as booleans [n, n]."""
    n, d = q.shape
    bits = 0
    while 2 ** bits * spec["bucket"] < n:
        bits += 1
    digits = math.ceil(bits / 4)
    mirror = hash_of(spec["seed"], layer, head)
    signs = np.array([-1 if hash_of(mirror, c // 64, 0) >> c % 64 & 1 else 1 for c in range(d)])
    q, k = q * signs, k * signs
    seen = np.zeros((n, n), bool)

    def normal(round_, place):
        h = hash_of(spec["seed"], round_, place)
        u = ((h >> 32) + 1) / 4294967296.0
        return math.sqrt(-2 * math.log(u)) * math.cos((h & 0xffffffff) * (2 * math.pi / 4294967296.0))

    for r in range(spec["rounds"]):
        directions = np.array([normal(r, p) for p in range(digits * d * 8)],
                              np.float32).reshape(digits, d, 8).astype(float)

        def hashes(x):
            result = np.zeros(len(x), int)
            for digit in range(digits):
                size = min(bits - 4 * digit, 4)
                products = x @ directions[digit][:, :2 ** (size - 1)]
                places = np.concatenate([products, -products], 1).argmax(1)
                result = result << size | places
            return result

        places = sorted((h, j) for j, h in enumerate(hashes(k)))
        for i, h in enumerate(hashes(q)):
            at = sum(place < (h, i) for place in places)
            chunk = min(at, n - 1) // spec["bucket"]
            for _, j in places[max(chunk - 1, 0) * spec["bucket"]:(chunk + 1) * spec["bucket"]]:
                seen[i, j] = True
    return seen


def windows(spec, n, layer):
    """A window's or a grid's number of each position, and the position's place in it."""
    i, width = np.arange(n), spec["width"]
    if spec.name == "shifted":
        shift = width - width // 2 if layer % 2 == 1 and width < n else 0
        return (i + shift) // width, (i + shift) % width
    if layer % 2 == 0:
        return i // width, i % width
    step = math.ceil(n / width)
    return i % step, i // step


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0), "swish": lambda x: x / (1 + np.exp(-x)),
               "silu": lambda x: x / (1 + np.exp(-x)), "gelu": gelu}


class Model:
    def __init__(self, directory):
        with open(os.path.join(directory, "config.json")) as f:
            self.config = json.load(f)
        with open(os.path.join(directory, "vocab.json")) as f:
            self.ids = json.load(f)
        with open(os.path.join(directory, "model.safetensors"), "rb") as f:
            data = f.read()
        size = struct.unpack("<Q", data[:8])[0]
        self.weights = {}
        for name, entry in json.loads(data[8:8 + size]).items():
            if name == "__metadata__":
                continue
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            kind = {"F32": np.float32, "F16": np.float16}[entry["dtype"]]
            self.weights[name] = np.frombuffer(data[begin:end], kind).reshape(entry["shape"]).astype(float)
        self.heads = self.config["encoder_attention_heads"]
        self.dim = self.config["d_model"]
        self.head = self.dim // self.heads

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights.get(name + ".bias", 0)

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def split(self, x):  # [heads, n, head]
        return x.reshape(len(x), self.heads, self.head).transpose(1, 0, 2)

    def scores(self, name, spec, q, k):
        if spec.score == "general":
            w = self.weights[name + ".score"].reshape(self.heads, self.head, self.head)
            return np.einsum("hki,hij,hqj->hqk", k, w, q)
        if spec.score == "concat":
            w = self.weights[name + ".score"].reshape(self.heads, self.head, 2 * self.head)
            inner = (np.einsum("hab,hkb->hka", w[:, :, :self.head], k)[:, None]
                     + np.einsum("hab,hqb->hqa", w[:, :, self.head:], q)[:, :, None])
            return np.einsum("hqka,ha->hqk", np.tanh(inner), self.weights[name + ".score_vector"])
        return q @ k.transpose(0, 2, 1) / (math.sqrt(self.head) if spec.score == "scaled_dot" else 1)

    def visible(self, spec, layer, q, k, centres):
        """Returns which query sees which key, as booleans [heads, n, m]."""
        n, m = q.shape[1], k.shape[1]
        i, j = np.arange(n)[:, None], np.arange(m)[None, :]
        if spec.name in ("bigbird", "lsh"):
            each = ((lambda h: bigbird(spec, n, layer, h)) if spec.name == "bigbird"
                    else (lambda h: lsh(spec, q[h], k[h], layer, h)))
            return np.stack([each(h) for h in range(self.heads)])
        if spec.name == "causal":
            seen = j <= i
        elif spec.name == "window":
            seen = abs(i - j) <= spec["width"]
        elif spec.name == "local_m":
            p = np.minimum(i * spec["ratio"] / 100, m - 1)
            seen = (abs(p - j) <= spec["width"]) | (j == np.ceil(p)) & (spec["width"] == 0)
        elif spec.name == "local_p":
            seen = abs(centres - j) <= spec["width"]
        elif spec.name in ("shifted", "block_grid"):
            window, _ = windows(spec, n, layer)
            seen = window[:, None] == window[None, :]
        else:
            seen = np.ones((n, m), bool)
        return np.broadcast_to(seen, (self.heads, n, m))

    def attend(self, name, spec, layer, x, memory):
        """The sublayer's output, and what nibu-inspect shows; None if the mechanism weighs no keys."""
        n, m = len(x), len(memory)
        rows, reduction = memory, spec.values.get("reduction", 1)
        q = self.split(self.linear(name + ".q_proj", x))
        if spec.name == "reduction":
            padded = np.zeros((math.ceil(m / reduction), reduction * self.dim))
            padded.reshape(-1)[:m * self.dim] = memory.reshape(-1)
            rows = self.norm(name + ".reduce_norm", self.linear(name + ".reduce", padded))
        elif spec.name == "deformable":
            rows, places = self.sampled(name, spec, x)
        k = self.split(self.linear(name + ".k_proj", rows))
        v = self.split(self.linear(name + ".v_proj", rows))
        members = [list(range(first, min(first + reduction, m))) for first in range(0, m, reduction)]
        if spec.name == "mean":
            k, v = (np.stack([y[:, own].mean(1) for own in members], 1) for y in (k, v))
        if spec.name == "factorized":
            out = q @ (softmax(k, 1).transpose(0, 2, 1) @ v) / math.sqrt(self.head)
            out = out.transpose(1, 0, 2).reshape(n, -1)
            if spec["kernel"] > 0:
                taps = self.weights[name + ".taps"]
                side = spec["kernel"] // 2
                padded = np.pad(v.transpose(1, 0, 2).reshape(n, -1), ((side, side), (0, 0)))
                conv = sum(padded[t:t + n] * taps[:, t] for t in range(spec["kernel"]))
                out += q.transpose(1, 0, 2).reshape(n, -1) * (conv + self.weights[name + ".taps_bias"])
            return self.linear(name + ".out_proj", out), None
        scores = self.scores(name, spec, q, k)
        centres = np.zeros((n, 1))
        if spec.name == "local_p":
            inner = np.tanh(self.linear(name + ".centre", x))
            centres = m / (1 + np.exp(-(inner @ self.weights[name + ".centre_vector"].reshape(-1, 1))))
        if spec.values.get("bias"):
            window, index = windows(spec, n, layer)
            table = self.weights[name + ".relative_bias"]
            place = index[None, :] - index[:, None] + spec["width"] - 1
            scores = scores + table[:, np.clip(place, 0, table.shape[1] - 1)]
        seen = self.visible(spec, layer, q, k, centres)
        matrix = softmax(np.where(seen, scores, -np.inf))
        if spec.name == "local_p":
            matrix = matrix * np.exp(-(np.arange(m) - centres) ** 2 / (2 * (spec["width"] / 2) ** 2))
        out = self.linear(name + ".out_proj", (matrix @ v).transpose(1, 0, 2).reshape(n, -1))
        members = [sum(own) / len(own) for own in members]  # where each key lies
        return out, {
            "weights": matrix, "q": q, "k": k, "v_norm": np.sqrt((v ** 2).sum(2)),
            "score": np.where(seen, scores, -np.inf), "centre": centres[:, 0] if spec.name == "local_p" else None,
            "place": np.array(places) if spec.name == "deformable" else None,
            "positions": m, "at": np.array(places if spec.name == "deformable" else members)}

    def sampled(self, name, spec, x):
        n, reduction, side = len(x), spec["reduction"], spec["kernel"] // 2
        q = np.pad(self.linear(name + ".q_proj", x), ((side, side), (0, 0)))
        rows, places = [], []
        for first in range(0, n, reduction):
            z = (q[first:first + spec["kernel"]] * self.weights[name + ".offset_taps"].T).sum(0)
            z = gelu(self.norm(name + ".offset_norm", z + self.weights[name + ".offset_bias"].reshape(-1)))
            moved = reduction * math.tanh(z @ self.weights[name + ".offset"].reshape(-1))
            place = min(max(first + (reduction - 1) / 2 + moved, 0), n - 1)
            places.append(place)
            left = min(int(place), max(n - 2, 0))
            right = min(left + 1, n - 1)
            rows.append(x[left] * (1 - (place - left)) + x[right] * (place - left))
        return np.stack(rows), places

    def sublayer(self, norm, x, f):
        if self.config.get("normalize_before"):
            return x + f(self.norm(norm, x))
        return self.norm(norm, x + f(x))

    def embed(self, stack, ids, with_positions=1):
        table = self.weights.get("model.shared.weight")
        if table is None:
            table = self.weights["model.%s.embed_tokens.weight" % stack]
        half = self.dim // 2
        angles = np.arange(len(ids))[:, None] * 10000.0 ** (-np.arange(half) / half)
        scale = math.sqrt(self.dim) if self.config["scale_embedding"] else 1
        return table[ids] * scale + with_positions * np.concatenate([np.sin(angles), np.cos(angles)], 1)

    def mix(self, name, spec, layer, x, maps):
        if spec.name == "pool":
            side = spec["width"] // 2
            maps.append(None)
            return np.stack([x[max(0, i - side):i + side + 1].mean(0) for i in range(len(x))]) - x
        if spec.name == "mlp":
            columns = np.pad(x, ((0, spec["positions"] - len(x)), (0, 0))).T
            maps.append(None)
            return self.linear(name + ".down", gelu(self.linear(name + ".up", columns))).T[:len(x)]
        out, matrix = self.attend(name, spec, layer, x, x)
        maps.append(matrix)
        return out

    def feed_forward(self, layer, x):
        inner = ACTIVATIONS[self.config["activation_function"]](self.linear(layer + "fc1", x))
        return self.linear(layer + "fc2", inner)

    def stack_end(self, stack, x):
        return self.norm("model.%s.layer_norm" % stack, x) if self.config.get("add_final_layer_norm") else x

    def run(self, source, target, encoder, cross):
        """The parts of each layer, of models whose layers attend as the lists `encoder` and `cross` of Specs say."""
        maps = {"encoder": [], "decoder": [], "cross": []}
        x = self.embed("encoder", source)
        for l, spec in enumerate(encoder):
            parts = [("", l)] if not spec.values.get("both") else [("", 0), ("grid.", 1)]
            matrices = []
            for part, number in parts:
                at = "model.encoder.layers.%d.%s" % (l, part)
                x = self.sublayer(at + "self_attn_layer_norm", x, lambda y: self.mix(
                    at + "self_attn", spec, number, y, matrices))
                x = self.sublayer(at + "final_layer_norm", x, lambda y: self.feed_forward(at, y))
            maps["encoder"].append(matrices)
        memory = self.stack_end("encoder", x)

        def kept(kind, result):
            maps[kind].append([result[1]])
            return result[0]

        x = self.embed("decoder", target)
        for l, spec in enumerate(cross):
            at = "model.decoder.layers.%d." % l
            x = self.sublayer(at + "self_attn_layer_norm", x, lambda y: kept(
                "decoder", self.attend(at + "self_attn", Spec("causal"), l, y, y)))
            x = self.sublayer(at + "encoder_attn_layer_norm", x, lambda y: kept(
                "cross", self.attend(at + "encoder_attn", spec, l, y, memory)))
            x = self.sublayer(at + "final_layer_norm", x, lambda y: self.feed_forward(at, y))
        self.hidden = self.stack_end("decoder", x)
        return maps

    def log_prob(self, ids):
        """Of the tokens that the decoder of the last run says, the sum."""
        logits = self.hidden @ self.weights["model.shared.weight"].T + self.weights.get("final_logits_bias", 0)
        return np.log(softmax(logits))[np.arange(len(ids)), ids].sum()

    def terms(self, ids):
        """XX, XP, PX, PP and what biases add to the first layer's scores, [5, heads, n, n]."""
        name = "model.encoder.layers.0.self_attn."
        words = self.embed("encoder", ids, 0)
        parts = {"X": words, "P": self.embed("encoder", ids) - words}
        maps = {part + what: self.split(rows @ self.weights[name + part + "_proj.weight"].T)
                for part in "qk" for what, rows in parts.items()}
        product = lambda q, k: q @ k.transpose(0, 2, 1) / math.sqrt(self.head)
        four = [product(maps["q" + a], maps["k" + b]) for a in "XP" for b in "XP"]
        whole = [self.split(self.linear(name + part + "_proj", self.embed("encoder", ids))) for part in "qk"]
        return np.stack(four + [product(*whole) - sum(four)])
