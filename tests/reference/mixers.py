"""Writes two small random Marian directories and what they must translate to. In "mixers" every
encoder layer mixes positions in a way of its own, in "cross" every decoder layer sees the source in
a way of its own.

    python3 mixers.py ../testdata

Written from the definitions of engine/attention/mixers/README.md and the papers named there: each
mechanism that has weights, in both places, and two encoder layers that lack attention's.
expected.json holds greedy translations: texts, ids, log-probabilities. mechanisms.py computes all
mechanisms, those without weights too, once more in NumPy.
"""

import math
import os
import shutil
import sys

import torch
import torch.nn.functional as F

import transformer as t

D, HEADS = 16, 2
HEAD = D // HEADS
STEPS = 12
POSITIONS, HIDDEN = 20, 11
# A text and a method of Mixing for each encoder layer. Odd layers have the other form of shifted.
MIXERS = [
    ("full:score=general", lambda m, name, x: m.attend(name, x, score="general")),
    ("full:score=concat", lambda m, name, x: m.attend(name, x, score="concat")),
    ("window:width=3,score=dot", lambda m, name, x: m.attend(name, x, score="dot", window=3)),
    ("local_p:width=2", lambda m, name, x: m.attend(name, x, local=2)),
    ("reduction:reduction=3", lambda m, name, x: m.attend(name, x, m.reduced(name, x, 3))),
    ("deformable:reduction=2,kernel=3",
     lambda m, name, x: m.attend(name, x, m.deformed(name, x, 2, 3))),
    ("mlp:positions=%d,hidden=%d" % (POSITIONS, HIDDEN), lambda m, name, x: m.mlp(name, x)),
    ("pool", lambda m, name, x: m.pool(x)),
    ("factorized:kernel=3", lambda m, name, x: m.factorized(name, x, 3)),
    ("shifted:width=4,bias=1", lambda m, name, x: m.attend(name, x, relative=shifted(len(x), 4))),
    ("block_grid:width=3,bias=1,both=1",
     lambda m, name, x: m.attend(name, x, relative=(grid if ".grid." in name else blocks)(len(x), 3))),
    ("local_p:width=3,score=concat", lambda m, name, x: m.attend(name, x, score="concat", local=3)),
]
# The same for each decoder layer's cross-attention: x has the decoder's rows, y the encoder's.
CROSS = [
    ("full:score=general", lambda m, name, x, y: m.attend(name, x, y, score="general")),
    ("full:score=concat", lambda m, name, x, y: m.attend(name, x, y, score="concat")),
    ("local_m:width=2,score=dot", lambda m, name, x, y: m.attend(name, x, y, score="dot", window=2)),
    ("local_m:width=1,ratio=150,score=concat",
     lambda m, name, x, y: m.attend(name, x, y, score="concat", window=1, ratio=1.5)),
    ("local_p:width=2", lambda m, name, x, y: m.attend(name, x, y, local=2)),
    ("local_p:width=3,score=general",
     lambda m, name, x, y: m.attend(name, x, y, score="general", local=3)),
    ("reduction:reduction=3", lambda m, name, x, y: m.attend(name, x, m.reduced(name, y, 3))),
    ("mean:reduction=2", lambda m, name, x, y: m.attend(name, x, y, mean=2)),
]


def windows(group, index):
    """Returns the window or grid of each position and its index there, as attend(relative=) takes them."""
    return torch.tensor(group), torch.tensor(index)


def blocks(n, width):
    return windows([i // width for i in range(n)], [i % width for i in range(n)])


def grid(n, width):
    step = math.ceil(n / width)
    return windows([i % step for i in range(n)], [i // step for i in range(n)])


def shifted(n, width):
    """Swin's windows of an odd layer, rolled by half a window; one window is not shifted."""
    shift = width - width // 2 if width < n else 0
    return windows([(i + shift) // width for i in range(n)], [(i + shift) % width for i in range(n)])


class Mixing(t.Transformer):
    def attention(self, name, x, memory, causal):
        if name.startswith("decoder"):
            return super().attention(name, x, memory, causal)
        return MIXERS[int(name.split(".")[2])][1](self, name, x)

    def feed_forward(self, layer, x):
        """Behind the first part of a layer of two the second one: attention and feed-forward."""
        out = super().feed_forward(layer, x)
        if layer + "grid.fc1.weight" not in self.weights:
            return out
        # Post-norm: the sublayer ends here, and the second part's last one ends where it would.
        x = self.norm(layer + "final_layer_norm", x + out)
        name = layer + "grid."
        x = self.sublayer(name + "self_attn_layer_norm", x,
                          lambda y: self.attention(name + "self_attn", y, y, causal=False))
        return self.sublayer(name + "final_layer_norm", x,
                             lambda y: super(Mixing, self).feed_forward(name, y))

    def sublayer(self, norm, x, f):
        layer = norm[:-len("final_layer_norm")]
        if norm.endswith("final_layer_norm") and layer + "grid.fc1.weight" in self.weights:
            return f(x)
        return super().sublayer(norm, x, f)

    def heads(self, name, x):
        return self.linear(name, x).view(-1, HEADS, HEAD).transpose(0, 1)

    def attend(self, name, x, memory=None, score="scaled", window=None, ratio=1.0, local=None,
               relative=None, mean=None):
        memory = x if memory is None else memory
        q = self.heads(name + ".q_proj", x)
        k, v = self.heads(name + ".k_proj", memory), self.heads(name + ".v_proj", memory)
        if mean is not None:
            join = lambda y: torch.stack([y[:, i:i + mean].mean(1) for i in range(0, y.shape[1], mean)], 1)
            k, v = join(k), join(v)
        n, m = len(x), k.shape[1]
        if score == "general":
            w = self.weights[name + ".score"].view(HEADS, HEAD, HEAD)
            scores = torch.einsum("hki,hij,hqj->hqk", k, w, q)
        elif score == "concat":
            w = self.weights[name + ".score"].view(HEADS, 1, HEAD, 2 * HEAD)
            v_a = self.weights[name + ".score_vector"].view(HEADS, 1, 1, HEAD)
            pairs = torch.cat([k[:, None].expand(-1, n, -1, -1), q[:, :, None].expand(-1, -1, m, -1)], 3)
            scores = (torch.tanh(pairs @ w.transpose(2, 3)) * v_a).sum(3)
        else:
            scores = q @ k.transpose(1, 2) / (math.sqrt(HEAD) if score == "scaled" else 1)
        places = torch.arange(m)[None, :].double()
        if window is not None:
            middle = (torch.arange(n)[:, None].double() * ratio).clamp(max=m - 1)
            scores = scores.masked_fill((middle - places).abs() > window, -math.inf)
        if relative is not None:
            group, index = relative
            table = self.weights[name + ".relative_bias"]
            place = index[None, :] - index[:, None] + table.shape[1] // 2
            seen = group[None, :] == group[:, None]
            scores = scores + table[:, place.clamp(0, table.shape[1] - 1)]
            scores = scores.masked_fill(~seen, -math.inf)
        if local is not None:
            inner = torch.tanh(self.linear(name + ".centre", x))
            centre = m * torch.sigmoid(inner @ self.weights[name + ".centre_vector"].view(-1))[:, None]
            scores = scores.masked_fill((places - centre).abs() > local, -math.inf)
        weights = scores.softmax(-1)
        if local is not None:
            weights = weights * torch.exp(-(places - centre) ** 2 / (2 * (local / 2) ** 2))
        return self.linear(name + ".out_proj", (weights @ v).transpose(0, 1).reshape(n, D))

    def factorized(self, name, x, kernel):
        q, k, v = (self.heads(name + part, x) for part in (".q_proj", ".k_proj", ".v_proj"))
        out = q @ (k.softmax(1).transpose(1, 2) @ v) / math.sqrt(HEAD)
        columns = v.transpose(0, 1).reshape(len(x), D).T
        conv = F.conv1d(columns[None], self.weights[name + ".taps"][:, None],
                        self.weights[name + ".taps_bias"].view(-1), padding=kernel // 2, groups=D)[0].T
        out = out.transpose(0, 1).reshape(len(x), D) + self.linear(name + ".q_proj", x) * conv
        return self.linear(name + ".out_proj", out)

    def reduced(self, name, x, reduction):
        rows = F.pad(x, (0, 0, 0, -len(x) % reduction)).view(-1, reduction * D)
        return self.norm(name + ".reduce_norm", self.linear(name + ".reduce", rows))

    def deformed(self, name, x, reduction, kernel):
        q = self.linear(name + ".q_proj", x)
        z = F.conv1d(q.T[None], self.weights[name + ".offset_taps"][:, None],
                     self.weights[name + ".offset_bias"].view(-1), stride=reduction,
                     padding=kernel // 2, groups=D)[0].T
        z = F.gelu(self.norm(name + ".offset_norm", z))
        offset = reduction * torch.tanh(z @ self.weights[name + ".offset"].view(-1))
        place = torch.arange(len(z)) * reduction + (reduction - 1) / 2 + offset
        grid = torch.stack([place / max(len(x) - 1, 1) * 2 - 1, torch.zeros(len(z))], 1)
        return F.grid_sample(x.T[None, :, None], grid[None, None], padding_mode="border",
                             align_corners=True)[0, :, 0].T

    def mlp(self, name, x):
        columns = F.pad(x, (0, 0, 0, POSITIONS - len(x))).T
        return self.linear(name + ".down", F.gelu(self.linear(name + ".up", columns))).T[:len(x)]

    def pool(self, x):
        return torch.stack([x[max(0, i - 1):i + 2].mean(0) for i in range(len(x))]) - x


class CrossMixing(Mixing):
    def attention(self, name, x, memory, causal):
        if "encoder_attn" not in name:
            return t.Transformer.attention(self, name, x, memory, causal)
        return CROSS[int(name.split(".")[2])][1](self, name, x, memory)


def mixer_weights(seed):
    """Returns the weights beside q, k, v and out, by their names behind "self_attn.": those of the encoder
    layers of MIXERS, and of the cross-attention of CROSS. Those of a second part are behind "grid."."""
    generator = torch.Generator().manual_seed(seed)
    normal = lambda *size, spread, middle=0.0: (
        torch.randn(*size, generator=generator) * spread + middle).float().double()
    linear = lambda name, out, size_in: {
        name + ".weight": normal(out, size_in, spread=2.5 / math.sqrt(size_in)),
        name + ".bias": normal(out, spread=0.1)}
    norm = lambda name: {name + ".weight": normal(D, spread=0.1, middle=1.0),
                         name + ".bias": normal(D, spread=0.1)}
    general = lambda: {"score": normal(D, HEAD, spread=1 / HEAD)}
    concat = lambda: {"score": normal(D, 2 * HEAD, spread=0.5),
                      "score_vector": normal(HEADS, HEAD, spread=1.0)}
    centre = lambda: {"centre.weight": normal(D, D, spread=0.3),
                      "centre_vector": normal(1, D, spread=0.7)}
    reduced = lambda: {**linear("reduce", D, 3 * D), **norm("reduce_norm")}
    encoder = [
        general(),
        concat(),
        {},
        centre(),
        reduced(),
        {"offset_taps": normal(D, 3, spread=1.0), "offset_bias": normal(1, D, spread=0.3),
         **norm("offset_norm"), "offset": normal(1, D, spread=0.3)},
        {**linear("up", HIDDEN, POSITIONS), **linear("down", POSITIONS, HIDDEN)},
        {},
        {"taps": normal(D, 3, spread=0.5), "taps_bias": normal(1, D, spread=0.3)},
        {"relative_bias": normal(HEADS, 2 * 4 - 1, spread=1.0)},
        {"relative_bias": normal(HEADS, 2 * 3 - 1, spread=1.0),
         "grid.self_attn.relative_bias": normal(HEADS, 2 * 3 - 1, spread=1.0)},
        {**concat(), **centre()},
    ]
    for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
        encoder[10].update(linear("grid.self_attn." + part, D, D))
    encoder[10].update({**norm("grid.self_attn_layer_norm"), **linear("grid.fc1", 24, D),
                        **linear("grid.fc2", D, 24), **norm("grid.final_layer_norm")})
    cross = [general(), concat(), {}, concat(), centre(), {**general(), **centre()}, reduced(), {}]
    return encoder, cross


def write_directory(path, is_cross, seed):
    """The model of MIXERS, or that of CROSS."""
    os.makedirs(path, exist_ok=True)
    pieces = t.train_sentencepiece(os.path.join(path, "source"), 36)
    os.rename(os.path.join(path, "source.model"), os.path.join(path, "source.spm"))
    shutil.copy(os.path.join(path, "source.spm"), os.path.join(path, "target.spm"))
    names = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
    tokens = ["</s>", "<unk>"] + names[3:] + ["<pad>"]
    pad = len(tokens) - 1
    t.write_json(os.path.join(path, "vocab.json"), {token: i for i, token in enumerate(tokens)})

    positions = t.halves(0, 10000.0 ** (-torch.arange(D // 2) / (D // 2)))
    shape = t.Shape(positions, d=D, heads=HEADS, encoder_layers=1 if is_cross else len(MIXERS),
                    decoder_layers=len(CROSS) if is_cross else 1, vocab=len(tokens),
                    pre_norm=is_cross, final_norm=is_cross)
    weights = t.random_weights(shape, seed)
    for i, own in enumerate(mixer_weights(seed + 1)[1 if is_cross else 0]):
        layer = ("decoder" if is_cross else "encoder") + ".layers.%d." % i
        at = layer + ("encoder_attn." if is_cross else "self_attn.")
        for name, value in own.items():
            weights[(layer if name.startswith("grid.") else at) + name] = value
        if not is_cross and MIXERS[i][0].split(":")[0] in ("mlp", "pool"):
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                del weights[at + part + ".weight"], weights[at + part + ".bias"]
    weights["decoder.embed_tokens.weight"] = weights["encoder.embed_tokens.weight"]
    model = (CrossMixing if is_cross else Mixing)(shape, weights)

    stored = {"model." + name: value for name, value in weights.items()}
    stored["model.shared.weight"] = stored.pop("model.encoder.embed_tokens.weight")
    del stored["model.decoder.embed_tokens.weight"]
    t.write_safetensors(os.path.join(path, "model.safetensors"), stored)
    t.write_json(os.path.join(path, "config.json"), {
        "model_type": "marian", "d_model": D, "vocab_size": len(tokens),
        "encoder_layers": shape.encoder_layers, "decoder_layers": shape.decoder_layers,
        "encoder_attention_heads": HEADS,
        "decoder_attention_heads": HEADS, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
        "max_position_embeddings": POSITIONS, "activation_function": "relu",
        "scale_embedding": True, "eos_token_id": 0, "pad_token_id": pad,
        "decoder_start_token_id": pad, "normalize_before": is_cross,
        "add_final_layer_norm": is_cross,
        "cross_attention" if is_cross else "encoder_attention":
            ";".join(text for text, _ in (CROSS if is_cross else MIXERS))})
    t.write_json(os.path.join(path, "expected.json"), t.cases(
        model, tokens[:pad], tokens, 7, STEPS, suffix=[0], start=[pad], suppressed=[pad], eos=0))


if __name__ == "__main__":
    for folder, is_cross in (("mixers", False), ("cross", True)):
        path = os.path.join(sys.argv[1], folder)
        t.first_good_seed(lambda seed: write_directory(path, is_cross, seed), 0)
