"""Computes whole models in NumPy and float64, with every mechanism of attention in both places, and
compares all attention matrices with those that nibu-inspect prints.

    python3 mechanisms.py NIBU_INSPECT MODEL_DIRECTORY TEXT [LARGEST_DIFFERENCE]

MODEL_DIRECTORY is a Hugging Face directory of a Marian model. Where its config.json says how layers
attend, that alone is compared; otherwise every mechanism of this file that has no weights of its own
is put into the encoder, then into the cross-attention. Written from the definitions of
engine/attention/mixers/README.md and the papers named there; needs python3-numpy alone.
"""

import json
import math
import os
import struct
import subprocess
import sys

import numpy as np

ENCODER = [
    "full", "full:tile=16", "full:score=dot", "full:dense=1", "causal", "window:3", "local_m:3",
    "local_m:2,ratio=50,score=dot", "shifted:6", "shifted:7", "shifted:64", "block_grid:4",
    "bigbird:window=1,global=2,random=2,block=3,seed=4", "bigbird:window=0,global=0,random=3,block=2",
    "lsh:bucket=4,rounds=1", "lsh:bucket=3,rounds=3,seed=7", "mean:3", "factorized", "pool:3",
]
CROSS = [
    "full", "full:score=dot", "full:dense=1", "local_m:2", "local_m:0", "local_m:64",
    "local_m:width=3,ratio=80", "local_m:width=3,ratio=130,score=dot", "local_m:1,dense=1", "mean:1",
    "mean:2", "mean:5",
]


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
        """The sublayer's output, and the matrix [heads, n, m]; None if it has none."""
        n, m = len(x), len(memory)
        rows, reduction = memory, spec.values.get("reduction", 1)
        q = self.split(self.linear(name + ".q_proj", x))
        if spec.name == "reduction":
            padded = np.zeros((math.ceil(m / reduction), reduction * self.dim))
            padded.reshape(-1)[:m * self.dim] = memory.reshape(-1)
            rows = self.norm(name + ".reduce_norm", self.linear(name + ".reduce", padded))
        elif spec.name == "deformable":
            rows = self.sampled(name, spec, x)
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
        centres = 0
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
        if spec.name == "deformable":
            return out, None
        if reduction > 1:  # a key's weight is shared by the positions it was made from
            matrix = np.concatenate([matrix[:, :, c:c + 1].repeat(len(own), 2) / len(own)
                                     for c, own in enumerate(members)], 2)
        return out, matrix

    def sampled(self, name, spec, x):
        n, reduction, side = len(x), spec["reduction"], spec["kernel"] // 2
        q = np.pad(self.linear(name + ".q_proj", x), ((side, side), (0, 0)))
        rows = []
        for first in range(0, n, reduction):
            z = (q[first:first + spec["kernel"]] * self.weights[name + ".offset_taps"].T).sum(0)
            z = gelu(self.norm(name + ".offset_norm", z + self.weights[name + ".offset_bias"].reshape(-1)))
            moved = reduction * math.tanh(z @ self.weights[name + ".offset"].reshape(-1))
            place = min(max(first + (reduction - 1) / 2 + moved, 0), n - 1)
            left = min(int(place), max(n - 2, 0))
            right = min(left + 1, n - 1)
            rows.append(x[left] * (1 - (place - left)) + x[right] * (place - left))
        return np.stack(rows)

    def sublayer(self, norm, x, f):
        if self.config.get("normalize_before"):
            return x + f(self.norm(norm, x))
        return self.norm(norm, x + f(x))

    def embed(self, stack, ids):
        table = self.weights.get("model.shared.weight")
        if table is None:
            table = self.weights["model.%s.embed_tokens.weight" % stack]
        half = self.dim // 2
        angles = np.arange(len(ids))[:, None] * 10000.0 ** (-np.arange(half) / half)
        scale = math.sqrt(self.dim) if self.config["scale_embedding"] else 1
        return table[ids] * scale + np.concatenate([np.sin(angles), np.cos(angles)], 1)

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
        """All matrices, of models whose layers attend as the lists `encoder` and `cross` of Specs say."""
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
            # A layer of two parts has the heads of both.
            maps["encoder"].append(None if matrices[0] is None else np.concatenate(matrices))
        memory = self.stack_end("encoder", x)

        def kept(kind, result):
            maps[kind].append(result[1])
            return result[0]

        x = self.embed("decoder", target)
        for l, spec in enumerate(cross):
            at = "model.decoder.layers.%d." % l
            x = self.sublayer(at + "self_attn_layer_norm", x, lambda y: kept(
                "decoder", self.attend(at + "self_attn", Spec("causal"), l, y, y)))
            x = self.sublayer(at + "encoder_attn_layer_norm", x, lambda y: kept(
                "cross", self.attend(at + "encoder_attn", spec, l, y, memory)))
            x = self.sublayer(at + "final_layer_norm", x, lambda y: self.feed_forward(at, y))
        return maps


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
        for l, matrix in enumerate(layers):
            if matrix is None:
                assert not nibu[kind][l], "%s layer %d has a matrix" % (kind, l)
                continue
            ours = np.array(nibu[kind][l])
            assert ours.shape == matrix.shape, "%s layer %d: %s, %s" % (kind, l, ours.shape, matrix.shape)
            largest = max(largest, float(abs(ours - matrix).max()))
    return largest


def main():
    program, directory, text = sys.argv[1:4]
    most = float(sys.argv[4]) if len(sys.argv) > 4 else 1e-4
    model = Model(directory)
    runs = [("", "")]
    if "encoder_attention" not in model.config and "cross_attention" not in model.config:
        runs = [(each, "") for each in ENCODER] + [("", each) for each in CROSS]
    failures = 0
    for encoder, cross in runs:
        name = "encoder %s" % encoder if encoder else "cross %s" % cross if cross else "config.json"
        difference = compare(program, directory, model, text, encoder, cross)
        print("%-70s %.1e%s" % (name, difference, "" if difference <= most else "  TOO LARGE"))
        failures += difference > most
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
