"""Writes the bundled English-German model as a CTranslate2 directory, for tests.

The weights stay float16, which CTranslate2's format has, too, so that no numbers have to be computed but those of the
positions.
"""

import array
import json
import math
import os
import pathlib
import struct

FLOAT32, INT8, INT16, FLOAT16 = 0, 1, 2, 4
POSITIONS = 512


class Weights:
    """The tensors of a safetensors file, as bytes."""

    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        size = struct.unpack_from("<Q", self.data)[0]
        self.header = json.loads(self.data[8:8 + size])
        self.begin = 8 + size

    def __getitem__(self, name):
        """A tensor's shape and bytes."""
        entry = self.header[name]
        begin, end = (self.begin + offset for offset in entry["data_offsets"])
        return entry["shape"], self.data[begin:end]

    def joined(self, names):
        """Tensors one below the other."""
        parts = [self[name] for name in names]
        return [sum(shape[0] for shape, _ in parts)] + parts[0][0][1:], b"".join(data for _, data in parts)


def text(value):
    encoded = value.encode() + b"\0"
    return struct.pack("<H", len(encoded)) + encoded


def variable(name, shape, kind, data):
    return text(name) + struct.pack(f"<B{len(shape)}IBI", len(shape), *shape, kind, len(data)) + data


def positions(width):
    """Sinusoids: the sines of all frequencies, and then the cosines."""
    half = width // 2
    values = array.array("f")
    for position in range(POSITIONS):
        angles = [position / 10000 ** (2 * i / width) for i in range(half)]
        values.extend([math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles])
    return [POSITIONS, width], values.tobytes()


def variables(config, weights):
    """The variables of model.bin: name, shape, type and bytes."""
    width = config["d_model"]
    for stack in ("encoder", "decoder"):
        attention = {"self_attn": "self_attention"} | ({"encoder_attn": "attention"} if stack == "decoder" else {})
        for layer in range(config[f"{stack}_layers"]):
            source, target = f"model.{stack}.layers.{layer}.", f"{stack}/layer_{layer}/"
            linears = {target + f"ffn/linear_{i - 1}": [f"{source}fc{i}"] for i in (1, 2)}
            norms = {source + "final_layer_norm": target + "ffn/layer_norm"}
            for theirs, ours in attention.items():
                query, key, value, out = (f"{source}{theirs}.{part}_proj" for part in ("q", "k", "v", "out"))
                parts = [[query, key, value], [out]] if theirs == "self_attn" else [[query], [key, value], [out]]
                linears |= {f"{target}{ours}/linear_{i}": names for i, names in enumerate(parts)}
                norms[f"{source}{theirs}_layer_norm"] = f"{target}{ours}/layer_norm"
            for name, parts in linears.items():
                for field in ("weight", "bias"):
                    yield f"{name}/{field}", *weights.joined([f"{part}.{field}" for part in parts]), FLOAT16
            for theirs, ours in norms.items():
                yield f"{ours}/gamma", *weights[theirs + ".weight"], FLOAT16
                yield f"{ours}/beta", *weights[theirs + ".bias"], FLOAT16
        yield f"{stack}/num_heads", [], struct.pack("<h", config[f"{stack}_attention_heads"]), INT16
        for name, value in {"activation": 2, "pre_norm": 0, "scale_embeddings": 1}.items():
            yield f"{stack}/{name}", [], struct.pack("<b", value), INT8
    yield "decoder/start_from_zero_embedding", [], b"\1", INT8
    tokens = config["vocab_size"] - 1  # without <pad>
    yield "decoder/embeddings/weight", [tokens, width], weights["model.shared.weight"][1][:2 * tokens * width], FLOAT16
    yield "decoder/projection/bias", [tokens], weights["final_logits_bias"][1][:2 * tokens], FLOAT16
    yield "decoder/position_encodings/encodings", *positions(width), FLOAT32


def write(model, folder, add_source_eos=True, shortlist=None):
    """Writes `model`, a Marian model of Hugging Face's, into `folder` for CTranslate2.

    `shortlist`: the content of a vmap.txt.
    """
    config = json.loads(pathlib.Path(model, "config.json").read_text(encoding="utf-8"))
    ids = json.loads(pathlib.Path(model, "vocab.json").read_text(encoding="utf-8"))
    tokens = [token for token, _ in sorted(ids.items(), key=lambda item: item[1]) if token != "<pad>"]
    os.makedirs(folder, exist_ok=True)
    target = pathlib.Path(folder)
    parts = [variable(name, shape, kind, data)
             for name, shape, data, kind in variables(config, Weights(pathlib.Path(model, "model.safetensors")))]
    aliases = {"decoder/projection/weight": "decoder/embeddings/weight",
               "encoder/embeddings_0/weight": "decoder/embeddings/weight",
               "encoder/position_encodings/encodings": "decoder/position_encodings/encodings"}
    (target / "model.bin").write_bytes(
        struct.pack("<I", 6) + text("TransformerSpec") + struct.pack("<II", 7, len(parts)) + b"".join(parts)
        + struct.pack("<I", len(aliases)) + b"".join(text(a) + text(b) for a, b in aliases.items()))
    (target / "config.json").write_text(json.dumps({
        "add_source_bos": False, "add_source_eos": add_source_eos, "bos_token": "<s>", "decoder_start_token": "</s>",
        "eos_token": "</s>", "unk_token": "<unk>"}), encoding="utf-8")
    (target / "shared_vocabulary.json").write_text(json.dumps(tokens), encoding="utf-8")
    if shortlist is not None:
        (target / "vmap.txt").write_text(shortlist, encoding="utf-8")
    return str(folder)
