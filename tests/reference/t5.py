"""Writes small random T5 directories and what they must translate to.

    python3 t5.py ../testdata

t5: version 1.0, ReLU, the output layer tied to the embedding; weights in bfloat16, some of them
twice, as published. madlad: version 1.1, gated GELU, an output layer of its own, heads that do not
add up to d_model, language pieces <2xx>. expected.json in each holds greedy translations: texts, ids,
log-probabilities. Written from Raffel et al. 2020, Shazeer 2020 and the published tokenizers'
documentation.
"""

import math
import os
import struct
import sys

import torch

import transformer as t

D = 16
BUCKETS = 8
MAX_DISTANCE = 10
STEPS = 12


class T5(t.Transformer):
    """weights: {published name: tensor}; `heads` of `head` columns each."""

    def __init__(self, weights, heads, head, layers, gated, output, scale_output):
        self.weights, self.output, self.output_bias = weights, output, None
        self.heads, self.head, self.layers, self.gated = heads, head, layers, gated
        self.scale_output = scale_output
        self.shape = t.Shape(None, d=D)
        self.shape.encoder_layers, self.shape.decoder_layers = layers

    def norm(self, name, x):
        return x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-6) * self.weights[name]

    def bucket(self, distance, buckets):
        """Returns the bucket of a key `distance` positions before its query."""
        exact = buckets // 2
        if distance < exact:
            return distance
        part = math.log(distance / exact) / math.log(MAX_DISTANCE / exact)
        return min(exact + int(part * (buckets - exact)), buckets - 1)

    def bias(self, stack, n):
        """Returns the biases [heads, query, key] for the self-attention of n positions."""
        name = stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        rows = torch.zeros(n, n, dtype=torch.long)
        for query in range(n):
            for key in range(n):
                if stack == "encoder":
                    rows[query, key] = self.bucket(abs(query - key), BUCKETS // 2)
                    rows[query, key] += BUCKETS // 2 if key > query else 0
                else:
                    rows[query, key] = self.bucket(max(query - key, 0), BUCKETS)
        return self.weights[name][rows].permute(2, 0, 1)

    def attend(self, name, x, memory, bias, causal):
        split = lambda part, y: (y @ self.weights[name + part + ".weight"].T).view(
            -1, self.heads, self.head).transpose(0, 1)
        q, k, v = split(".q", x), split(".k", memory), split(".v", memory)
        scores = q @ k.transpose(1, 2)
        if bias is not None:
            scores = scores + bias
        if causal:
            scores = scores.masked_fill(torch.ones(len(x), len(x)).triu(1).bool(), -math.inf)
        y = (scores.softmax(-1) @ v).transpose(0, 1).reshape(len(x), -1)
        return y @ self.weights[name + ".o.weight"].T

    def feed_forward(self, name, x):
        if not self.gated:
            return torch.relu(x @ self.weights[name + ".wi.weight"].T) @ \
                self.weights[name + ".wo.weight"].T
        y = x @ self.weights[name + ".wi_0.weight"].T
        y = 0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y ** 3)))
        y = y * (x @ self.weights[name + ".wi_1.weight"].T)
        return y @ self.weights[name + ".wo.weight"].T

    def stack(self, stack, layers, ids, memory):
        x = self.weights["shared.weight"][ids]
        bias = self.bias(stack, len(ids))
        for i in range(layers):
            layer = "%s.block.%d.layer." % (stack, i)
            y = self.norm(layer + "0.layer_norm.weight", x)
            x = x + self.attend(layer + "0.SelfAttention", y, y, bias, memory is not None)
            if memory is not None:
                y = self.norm(layer + "1.layer_norm.weight", x)
                x = x + self.attend(layer + "1.EncDecAttention", y, memory, None, False)
            last = layer + ("1" if memory is None else "2")
            y = self.norm(last + ".layer_norm.weight", x)
            x = x + self.feed_forward(last + ".DenseReluDense", y)
        x = self.norm(stack + ".final_layer_norm.weight", x)
        return x * D ** -0.5 if memory is not None and self.scale_output else x


def random_weights(vocab, heads, head, ffn, layers, gated, seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    weights = {}

    def add(name, *size, spread, middle=0.0):
        values = torch.randn(*size, generator=generator) * spread + middle
        weights[name + ".weight"] = values.to(dtype).double()

    inner = heads * head
    add("shared", vocab, D, spread=1.0)
    for stack, count in zip(("encoder", "decoder"), layers):
        for i in range(count):
            layer = "%s.block.%d.layer." % (stack, i)
            attentions = ["0.SelfAttention"] + (["1.EncDecAttention"] if stack == "decoder" else [])
            for name in attentions:
                for part in "qk":  # no 1 / sqrt(d): it is in the weights
                    add(layer + name + "." + part, inner, D, spread=1.2 / math.sqrt(D) / head ** .25)
                add(layer + name + ".v", inner, D, spread=2 / math.sqrt(D))
                add(layer + name + ".o", D, inner, spread=2 / math.sqrt(inner))
                add(layer + name[0] + ".layer_norm", D, spread=0.1, middle=1.0)
            last = layer + str(len(attentions))
            for part in ("wi_0", "wi_1") if gated else ("wi",):
                add(last + ".DenseReluDense." + part, ffn, D, spread=2 / math.sqrt(D))
            add(last + ".DenseReluDense.wo", D, ffn, spread=2 / math.sqrt(ffn))
            add(last + ".layer_norm", D, spread=0.1, middle=1.0)
        add(stack + ".block.0.layer.0.SelfAttention.relative_attention_bias", BUCKETS, heads,
            spread=1.5)
        add(stack + ".final_layer_norm", D, spread=0.1, middle=1.0)
    return weights


def write_bfloat16(path, tensors):
    header, data = {}, b""
    for name, tensor in sorted(tensors.items()):
        raw = tensor.to(torch.bfloat16).contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = t.json.dumps(header, separators=(",", ":")).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def train_pieces(path, **special):
    pieces = t.sentencepiece.SentencePieceProcessor()
    text = path + ".txt"
    with open(text, "w") as f:
        f.write("\n".join(t.CORPUS * 20) + "\n")
    t.sentencepiece.SentencePieceTrainer.train(
        input=text, model_prefix=path, model_type="unigram", normalization_rule_name="identity",
        minloglevel=2, **special)
    os.remove(text)
    os.remove(path + ".vocab")
    with open(path + ".model", "rb") as f:
        model = f.read()
    # MADLAD's language pieces are of the normal type, 1, not user defined, 4.
    for symbol in special.get("user_defined_symbols", []):
        piece = b"\x0a" + bytes([len(symbol)]) + symbol.encode() + b"\x15\x00\x00\x00\x00\x18"
        assert model.count(piece + b"\x04") == 1
        model = model.replace(piece + b"\x04", piece + b"\x01")
    with open(path + ".model", "wb") as f:
        f.write(model)
    pieces.load(path + ".model")
    return pieces


def write_directory(path, kind, seed):
    os.makedirs(path, exist_ok=True)
    is_madlad = kind == "madlad"
    if is_madlad:
        pieces = train_pieces(os.path.join(path, "spiece"), vocab_size=36,
                              user_defined_symbols=["<2de>", "<2en>"])
        eos, pad, start = 2, 1, 0
        assert pieces.encode("<2de> a cat", out_type=str)[:2] == ["▁", "<2de>"]
    else:
        pieces = train_pieces(os.path.join(path, "spiece"), vocab_size=36, pad_id=0, eos_id=1,
                              unk_id=2, bos_id=-1)
        eos, pad, start = 1, 0, 0
    size = pieces.get_piece_size()
    vocab = size if is_madlad else size + 5  # three extra ids, two unused ones
    heads, head = (3, 6) if is_madlad else (2, 8)
    layers = (1, 2) if is_madlad else (2, 2)
    ffn = 20 if is_madlad else 24
    dtype = torch.float32 if is_madlad else torch.bfloat16
    weights = random_weights(vocab, heads, head, ffn, layers, is_madlad, seed, dtype)
    if is_madlad:
        weights["lm_head.weight"] = (torch.randn(
            vocab, D, generator=torch.Generator().manual_seed(seed + 1)) * 0.7).float().double()
    else:  # else the logits are those of the input's own tokens, and nothing else
        weights["decoder.final_layer_norm.weight"] *= 2
    model = T5(weights, heads, head, layers, is_madlad,
               "lm_head.weight" if is_madlad else "shared.weight", not is_madlad)

    config = {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_model": D,
              "d_kv": head, "d_ff": ffn, "num_heads": heads, "num_layers": layers[0],
              "relative_attention_num_buckets": BUCKETS, "layer_norm_epsilon": 1e-6,
              "vocab_size": vocab, "pad_token_id": pad, "eos_token_id": eos,
              "decoder_start_token_id": start, "is_encoder_decoder": True,
              "relative_attention_max_distance": MAX_DISTANCE}
    stored = dict(weights)
    if is_madlad:
        config.update(feed_forward_proj="gated-gelu", num_decoder_layers=layers[1],
                      tie_word_embeddings=False)
        stored["decoder.embed_tokens.weight"] = stored.pop("shared.weight")
        t.write_safetensors(os.path.join(path, "model.safetensors"), stored)
    else:
        config.update(n_positions=40)
        for copy in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"):
            stored[copy] = stored["shared.weight"]
        # A leftover that the published files have, too.
        stored["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = \
            torch.zeros(BUCKETS, heads)
        write_bfloat16(os.path.join(path, "model.safetensors"), stored)
        t.write_json(os.path.join(path, "tokenizer_config.json"), {"extra_ids": 3})
    t.write_json(os.path.join(path, "config.json"), config)

    texts = ["the cat sat on the mat", "a man", "dog", "an ape ate the apple and a hat " * 2]
    if is_madlad:
        texts = ["<2%s> %s" % (language, text) for text in texts for language in ("de", "en")]
    expected = []
    for text in texts:
        source = pieces.encode(text)
        tokens, scores = model.greedy(source + [eos], [start], [pad] + list(range(size, vocab)),
                                      eos, STEPS)
        expected.append({"text": text, "source": source, "tokens": tokens, "token_scores": scores,
                         "translation": pieces.decode(tokens)})
    t.check_cases(expected, STEPS)
    t.write_json(os.path.join(path, "expected.json"), expected)


if __name__ == "__main__":
    for number, kind in enumerate(("t5", "madlad")):
        t.first_good_seed(
            lambda seed: write_directory(os.path.join(sys.argv[1], kind), kind, seed),
            10000 * number)
