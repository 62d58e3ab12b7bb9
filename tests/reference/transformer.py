"""An encoder-decoder Transformer in plain PyTorch, written from the papers.

What the reference scripts beside it share: random weights, the forward pass of one sentence in
float64, greedy search, and writers of small files. Needs python3-torch and python3-sentencepiece;
never needed to build or run nibu.
"""

import json
import math
import os
import random
import struct

import sentencepiece
import torch

torch.set_default_dtype(torch.float64)

CORPUS = [
    "the cat sat on the mat", "a dog saw the cat", "the man ate an apple", "on the mat sat a dog",
    "an ape and a man met", "the hat on the man", "a cat and a hat", "the dog ate the hat",
]


class Shape:
    """Sizes and switches; `positions(n)` gives the vectors [n, d] added to n embeddings, and `relative` the largest
    distance that has vectors of its own in self-attention (Shaw et al. 2018), or 0."""

    def __init__(self, positions, d=16, heads=2, ffn=24, encoder_layers=1, decoder_layers=2,
                 vocab=48, vocab_target=None, pre_norm=True, final_norm=True, embed_norm=False,
                 activation="relu", scale=True, norm_epsilon=1e-5, gated=False, rms=False,
                 attention_bias=True, relative=0):
        self.positions, self.relative = positions, relative
        self.d, self.heads, self.ffn = d, heads, ffn
        self.encoder_layers, self.decoder_layers = encoder_layers, decoder_layers
        self.vocab, self.vocab_target = vocab, vocab_target or vocab
        self.pre_norm, self.final_norm, self.embed_norm = pre_norm, final_norm, embed_norm
        self.activation = {"relu": torch.relu, "gelu": gelu, "silu": silu}[activation]
        self.scale = math.sqrt(d) if scale else 1.0
        self.norm_epsilon = norm_epsilon
        self.gated, self.rms, self.attention_bias = gated, rms, attention_bias


def gelu(x):
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def silu(x):
    return x / (1 + torch.exp(-x))


def halves(first, frequencies):
    """Positions p = first, first + 1, ...: sin(p f) in the first half, cos(p f) in the second."""
    def positions(n):
        angles = torch.arange(first, first + n, dtype=torch.float64)[:, None] * frequencies
        return torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)
    return positions


def in_turn(first, frequencies):
    """Positions p = first, first + 1, ...: sin(p f) and cos(p f) side by side."""
    def positions(n):
        angles = torch.arange(first, first + n, dtype=torch.float64)[:, None] * frequencies
        return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).reshape(n, -1)
    return positions


def random_weights(shape, seed, dtype=torch.float32):
    """{name: tensor}: maps [out, in], named as in fairseq; rounded to `dtype`."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}

    def add(name, *size, spread=1.0, middle=0.0):
        values = torch.randn(*size, generator=generator) * spread + middle
        weights[name] = values.to(dtype).double()

    def linear(name, out, size_in, bias=True):
        add(name + ".weight", out, size_in, spread=2.5 / math.sqrt(size_in))
        if bias:
            add(name + ".bias", out, spread=0.1)

    def norm(name):
        add(name + ".weight", shape.d, spread=0.1, middle=1.0)
        if not shape.rms:
            add(name + ".bias", shape.d, spread=0.1)

    for stack, layers in (("encoder", shape.encoder_layers), ("decoder", shape.decoder_layers)):
        vocab = shape.vocab if stack == "encoder" else shape.vocab_target
        add(stack + ".embed_tokens.weight", vocab, shape.d, spread=0.7 / math.sqrt(shape.d))
        if shape.embed_norm:
            norm(stack + ".layernorm_embedding")
        if shape.final_norm:
            norm(stack + ".layer_norm")
        for i in range(layers):
            layer = "%s.layers.%d." % (stack, i)
            for attention in ["self_attn"] + (["encoder_attn"] if stack == "decoder" else []):
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    linear(layer + attention + "." + part, shape.d, shape.d, shape.attention_bias)
                norm(layer + attention + "_layer_norm")
            if shape.relative:
                add(layer + "self_attn.relative", 2 * shape.relative + 1, shape.d // shape.heads)
            linear(layer + "fc1", shape.ffn, shape.d)
            linear(layer + "fc2", shape.d, shape.ffn)
            if shape.gated:
                linear(layer + "fc3", shape.ffn, shape.d)
            norm(layer + "final_layer_norm")
    return weights


class Transformer:
    """One sentence at a time, no caches. `output`: name of the output matrix [V, d]."""

    def __init__(self, shape, weights, output="decoder.embed_tokens.weight", output_bias=None):
        self.shape, self.weights = shape, weights
        self.output, self.output_bias = output, output_bias

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights.get(name + ".bias", 0)

    def norm(self, name, x):
        if self.shape.rms:
            square = (x ** 2).mean(-1, keepdim=True)
            return x / torch.sqrt(square + self.shape.norm_epsilon) * self.weights[name + ".weight"]
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + self.shape.norm_epsilon)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attention(self, name, x, memory, causal):
        head = self.shape.d // self.shape.heads
        split = lambda t: t.view(-1, self.shape.heads, head).transpose(0, 1)
        q = split(self.linear(name + ".q_proj", x))
        k = split(self.linear(name + ".k_proj", memory))
        v = split(self.linear(name + ".v_proj", memory))
        # What is added to the key and to the value of position j for the query of position i, [i, j, head].
        added = self.weights.get(name + ".relative", torch.zeros(1, head))
        most = len(added) // 2
        distances = torch.arange(len(memory))[None, :] - torch.arange(len(x))[:, None]
        added = added[distances.clamp(-most, most) + most]
        scores = (q @ k.transpose(1, 2) + torch.einsum("hid,ijd->hij", q, added)) / math.sqrt(head)
        if causal:
            later = torch.ones(len(x), len(memory)).triu(1).bool()
            scores = scores.masked_fill(later, -math.inf)
        weights = scores.softmax(-1)
        context = weights @ v + torch.einsum("hij,ijd->hid", weights, added)
        return self.linear(name + ".out_proj", context.transpose(0, 1).reshape(len(x), -1))

    def feed_forward(self, layer, x):
        inner = self.shape.activation(self.linear(layer + "fc1", x))
        if self.shape.gated:
            inner = inner * self.linear(layer + "fc3", x)
        return self.linear(layer + "fc2", inner)

    def sublayer(self, norm, x, f):
        if self.shape.pre_norm:
            return x + f(self.norm(norm, x))
        return self.norm(norm, x + f(x))

    def stack(self, stack, layers, ids, memory):
        x = self.weights[stack + ".embed_tokens.weight"][ids] * self.shape.scale
        x = x + self.shape.positions(len(ids))
        if self.shape.embed_norm:
            x = self.norm(stack + ".layernorm_embedding", x)
        for i in range(layers):
            layer = "%s.layers.%d." % (stack, i)
            x = self.sublayer(layer + "self_attn_layer_norm", x, lambda y: self.attention(
                layer + "self_attn", y, y, causal=memory is not None))
            if memory is not None:
                x = self.sublayer(layer + "encoder_attn_layer_norm", x, lambda y: self.attention(
                    layer + "encoder_attn", y, memory, causal=False))
            x = self.sublayer(layer + "final_layer_norm", x,
                              lambda y: self.feed_forward(layer, y))
        return self.norm(stack + ".layer_norm", x) if self.shape.final_norm else x

    def greedy(self, source, start, suppressed, eos, steps):
        """The most probable token, again and again: (tokens without EOS, log-probabilities)."""
        memory = self.stack("encoder", self.shape.encoder_layers, source, None)
        tokens, scores = [], []
        while len(scores) < steps:
            hidden = self.stack("decoder", self.shape.decoder_layers, start + tokens, memory)[-1]
            logits = self.weights[self.output] @ hidden
            if self.output_bias is not None:
                logits = logits + self.weights[self.output_bias].view(-1)
            logits[suppressed] = -math.inf
            if not scores:
                logits[eos] = -math.inf  # min_decoding_length is 1
            best = logits.log_softmax(-1).topk(2)
            assert best.values[0] - best.values[1] > 2e-4, "a near tie; take another seed"
            scores.append(best.values[0].item())
            if best.indices[0] == eos:
                break
            tokens.append(best.indices[0].item())
        return tokens, scores


def train_sentencepiece(path, vocab_size, corpus=CORPUS):
    text = path + ".txt"
    with open(text, "w") as f:
        f.write("\n".join(corpus * 20) + "\n")
    sentencepiece.SentencePieceTrainer.train(
        input=text, model_prefix=path, vocab_size=vocab_size, model_type="unigram",
        normalization_rule_name="identity", minloglevel=2)
    os.remove(text)
    os.remove(path + ".vocab")
    pieces = sentencepiece.SentencePieceProcessor()
    pieces.load(path + ".model")
    return pieces


def write_json(path, value):
    """A list has a line for each element."""
    with open(path, "w") as f:
        if isinstance(value, list):
            lines = [json.dumps(element, ensure_ascii=False) for element in value]
            f.write("[" + ",\n".join(lines) + "]\n")
        else:
            f.write(json.dumps(value, ensure_ascii=False) + "\n")


def check_cases(cases, steps):
    """Some sentences end and some do not, and their tokens differ."""
    lengths = {len(case["tokens"]) for case in cases}
    assert max(lengths) == steps and min(lengths) < steps, "no sentence ends; take another seed"
    different = sum(len(set(case["tokens"])) for case in cases) / len(cases)
    assert different > 1.8, "dull translations; take another seed"
    for case in cases:
        case["token_scores"] = [round(score, 6) for score in case["token_scores"]]


def words(seed, count):
    generator = random.Random(seed)
    found = set()
    while len(found) < count:
        found.add("".join(generator.choice("abdeghiklmnoprstuv") for _ in range(3)))
    return sorted(found, key=lambda word: (word[1], word))


def cases(model, source_tokens, target_tokens, seed, steps, suffix, start, suppressed, eos):
    """Greedy translations of random sources, whose ids are those behind the first four."""
    generator = random.Random(seed)
    expected = []
    for length in (1, 3, 6, 9, 4, 7):
        source = [generator.randrange(4, len(source_tokens)) for _ in range(length)]
        tokens, scores = model.greedy(source + suffix, start, suppressed, eos, steps)
        expected.append({"text": " ".join(source_tokens[i] for i in source), "source": source,
                         "tokens": tokens, "token_scores": scores,
                         "translation": " ".join(target_tokens[i] for i in tokens)})
    check_cases(expected, steps)
    return expected


def first_good_seed(write, first):
    for seed in range(first, first + 1000):
        try:
            return write(seed)
        except AssertionError:
            pass  # near ties, or dull
    raise SystemExit("no seed will do")


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in sorted(tensors.items()):
        raw = tensor.float().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
