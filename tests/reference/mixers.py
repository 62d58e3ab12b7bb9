"""Writes a small random Marian directory whose encoder layers mix positions each in a way of its own,
and what it must translate to.

    python3 mixers.py ../testdata

Written from the definitions of engine/attention/mixers/README.md and the papers named there: each
mechanism that has weights, and two layers that lack attention's. expected.json holds greedy
translations: texts, ids, log-probabilities.
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
# A text and a method of Mixing for each encoder layer.
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
]


class Mixing(t.Transformer):
    def attention(self, name, x, memory, causal):
        if name.startswith("decoder"):
            return super().attention(name, x, memory, causal)
        return MIXERS[int(name.split(".")[2])][1](self, name, x)

    def heads(self, name, x):
        return self.linear(name, x).view(-1, HEADS, HEAD).transpose(0, 1)

    def attend(self, name, x, memory=None, score="scaled", window=None, local=None):
        memory = x if memory is None else memory
        q = self.heads(name + ".q_proj", x)
        k, v = self.heads(name + ".k_proj", memory), self.heads(name + ".v_proj", memory)
        n, m = len(x), len(memory)
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
            far = (torch.arange(n)[:, None] - places).abs() > window
            scores = scores.masked_fill(far, -math.inf)
        if local is not None:
            inner = torch.tanh(self.linear(name + ".centre", x))
            centre = n * torch.sigmoid(inner @ self.weights[name + ".centre_vector"].view(-1))[:, None]
            scores = scores.masked_fill((places - centre).abs() > local, -math.inf)
        weights = scores.softmax(-1)
        if local is not None:
            weights = weights * torch.exp(-(places - centre) ** 2 / (2 * (local / 2) ** 2))
        return self.linear(name + ".out_proj", (weights @ v).transpose(0, 1).reshape(n, D))

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


def mixer_weights(seed):
    """What the layers have beside q, k, v and out, by their names behind "self_attn."."""
    generator = torch.Generator().manual_seed(seed)
    normal = lambda *size, spread, middle=0.0: (
        torch.randn(*size, generator=generator) * spread + middle).float().double()
    linear = lambda name, out, size_in: {
        name + ".weight": normal(out, size_in, spread=2.5 / math.sqrt(size_in)),
        name + ".bias": normal(out, spread=0.1)}
    norm = lambda name: {name + ".weight": normal(D, spread=0.1, middle=1.0),
                         name + ".bias": normal(D, spread=0.1)}
    return [
        {"score": normal(D, HEAD, spread=1 / HEAD)},
        {"score": normal(D, 2 * HEAD, spread=0.5), "score_vector": normal(HEADS, HEAD, spread=1.0)},
        {},
        {"centre.weight": normal(D, D, spread=0.3), "centre_vector": normal(1, D, spread=0.7)},
        {**linear("reduce", D, 3 * D), **norm("reduce_norm")},
        {"offset_taps": normal(D, 3, spread=1.0), "offset_bias": normal(1, D, spread=0.3),
         **norm("offset_norm"), "offset": normal(1, D, spread=0.3)},
        {**linear("up", HIDDEN, POSITIONS), **linear("down", POSITIONS, HIDDEN)},
        {},
    ]


def write_directory(path, seed):
    os.makedirs(path, exist_ok=True)
    pieces = t.train_sentencepiece(os.path.join(path, "source"), 36)
    os.rename(os.path.join(path, "source.model"), os.path.join(path, "source.spm"))
    shutil.copy(os.path.join(path, "source.spm"), os.path.join(path, "target.spm"))
    names = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
    tokens = ["</s>", "<unk>"] + names[3:] + ["<pad>"]
    pad = len(tokens) - 1
    t.write_json(os.path.join(path, "vocab.json"), {token: i for i, token in enumerate(tokens)})

    positions = t.halves(0, 10000.0 ** (-torch.arange(D // 2) / (D // 2)))
    shape = t.Shape(positions, d=D, heads=HEADS, encoder_layers=len(MIXERS), decoder_layers=1,
                    vocab=len(tokens), pre_norm=False, final_norm=False)
    weights = t.random_weights(shape, seed)
    for i, own in enumerate(mixer_weights(seed + 1)):
        at = "encoder.layers.%d.self_attn." % i
        weights.update({at + name: value for name, value in own.items()})
        if MIXERS[i][0].split(":")[0] in ("mlp", "pool"):
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                del weights[at + part + ".weight"], weights[at + part + ".bias"]
    weights["decoder.embed_tokens.weight"] = weights["encoder.embed_tokens.weight"]
    model = Mixing(shape, weights)

    stored = {"model." + name: value for name, value in weights.items()}
    stored["model.shared.weight"] = stored.pop("model.encoder.embed_tokens.weight")
    del stored["model.decoder.embed_tokens.weight"]
    t.write_safetensors(os.path.join(path, "model.safetensors"), stored)
    t.write_json(os.path.join(path, "config.json"), {
        "model_type": "marian", "d_model": D, "vocab_size": len(tokens),
        "encoder_layers": len(MIXERS), "decoder_layers": 1, "encoder_attention_heads": HEADS,
        "decoder_attention_heads": HEADS, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
        "max_position_embeddings": POSITIONS, "activation_function": "relu",
        "scale_embedding": True, "eos_token_id": 0, "pad_token_id": pad,
        "decoder_start_token_id": pad, "encoder_attention": ";".join(text for text, _ in MIXERS)})
    t.write_json(os.path.join(path, "expected.json"), t.cases(
        model, tokens[:pad], tokens, 7, STEPS, suffix=[0], start=[pad], suppressed=[pad], eos=0))


if __name__ == "__main__":
    t.first_good_seed(lambda seed: write_directory(os.path.join(sys.argv[1], "mixers"), seed), 0)
