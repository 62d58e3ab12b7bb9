"""Writes models of Hugging Face's as CTranslate2 directories, for tests: MarianMT, and M2M-100 with its kin.

The weights keep their type, which CTranslate2's format has, too, so that no numbers have to be computed but those of
the positions.
"""

import array
import collections
import json
import math
import os
import pathlib
import pickle
import struct
import zipfile

FLOAT32, INT8, INT16, FLOAT16 = 0, 1, 2, 4
SIZES = {FLOAT32: 4, FLOAT16: 2}
POSITIONS = 512


class Safetensors:
    """The tensors of a file: shape, type and bytes by name."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        size = struct.unpack_from("<Q", data)[0]
        self.tensors = {}
        for name, entry in json.loads(data[8:8 + size]).items():
            if name != "__metadata__":
                begin, end = (8 + size + offset for offset in entry["data_offsets"])
                kind = {"F16": FLOAT16, "F32": FLOAT32}[entry["dtype"]]
                self.tensors[name] = entry["shape"], kind, data[begin:end]

    def __getitem__(self, name):
        return self.tensors[name]

    def joined(self, names):
        """Tensors one below the other."""
        parts = [self[name] for name in names]
        shapes = [shape for shape, _, _ in parts]
        return [sum(shape[0] for shape in shapes)] + shapes[0][1:], parts[0][1], b"".join(data for _, _, data in parts)


class TorchFile(Safetensors):
    """The tensors of a pytorch_model.bin: shape, type and bytes by name."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            folder = archive.namelist()[0].split("/")[0]

            def rebuild(storage, offset, shape, *_):
                kind, data = storage
                size = SIZES[kind]
                return list(shape), kind, data[size * offset:size * (offset + math.prod(shape))]

            class Unpickler(pickle.Unpickler):
                """Makes tensors of what a state_dict consists of."""

                def persistent_load(self, pid):
                    kind = {"HalfStorage": FLOAT16, "FloatStorage": FLOAT32}[pid[1]]
                    return kind, archive.read(f"{folder}/data/{pid[2]}")

                def find_class(self, module, name):
                    known = {"OrderedDict": collections.OrderedDict, "_rebuild_tensor_v2": rebuild}
                    return known.get(name, name)  # the name of a type

            with archive.open(f"{folder}/data.pkl") as file:
                self.tensors = dict(Unpickler(file).load())


def text(value):
    encoded = value.encode() + b"\0"
    return struct.pack("<H", len(encoded)) + encoded


def variable(name, shape, kind, data):
    return text(name) + struct.pack(f"<B{len(shape)}IBI", len(shape), *shape, kind, len(data)) + data


def positions(width, first, step):
    """Sinusoids from position `first` on: the sines of all frequencies, and then the cosines."""
    half = width // 2
    values = array.array("f")
    for position in range(first, first + POSITIONS):
        angles = [position / 10000 ** (i / step) for i in range(half)]
        values.extend([math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles])
    return [POSITIONS, width], FLOAT32, values.tobytes()


def variables(config, weights):
    """The variables of model.bin: name, shape, type and bytes."""
    is_marian = config["model_type"] == "marian"
    width = config["d_model"]
    for stack in ("encoder", "decoder"):
        norms = {} if is_marian else {f"model.{stack}.layer_norm": f"{stack}/layer_norm"}
        linears = {}
        attention = {"self_attn": "self_attention"} | ({"encoder_attn": "attention"} if stack == "decoder" else {})
        for layer in range(config[f"{stack}_layers"]):
            source, target = f"model.{stack}.layers.{layer}.", f"{stack}/layer_{layer}/"
            linears |= {target + f"ffn/linear_{i - 1}": [f"{source}fc{i}"] for i in (1, 2)}
            norms[source + "final_layer_norm"] = target + "ffn/layer_norm"
            for theirs, ours in attention.items():
                query, key, value, out = (f"{source}{theirs}.{part}_proj" for part in ("q", "k", "v", "out"))
                parts = [[query, key, value], [out]] if theirs == "self_attn" else [[query], [key, value], [out]]
                linears |= {f"{target}{ours}/linear_{i}": names for i, names in enumerate(parts)}
                norms[f"{source}{theirs}_layer_norm"] = f"{target}{ours}/layer_norm"
        for name, parts in linears.items():
            for field in ("weight", "bias"):
                yield f"{name}/{field}", *weights.joined([f"{part}.{field}" for part in parts])
        for theirs, ours in norms.items():
            yield f"{ours}/gamma", *weights[theirs + ".weight"]
            yield f"{ours}/beta", *weights[theirs + ".bias"]
        yield f"{stack}/num_heads", [], INT16, struct.pack("<h", config[f"{stack}_attention_heads"])
        for name, value in {"activation": {"swish": 2, "relu": 0}[config["activation_function"]],
                            "pre_norm": int(not is_marian), "scale_embeddings": 1}.items():
            yield f"{stack}/{name}", [], INT8, struct.pack("<b", value)
    tokens = config["vocab_size"] - is_marian  # without Marian's <pad>
    _, kind, data = weights["model.shared.weight"]
    yield "decoder/embeddings/weight", [tokens, width], kind, data[:SIZES[kind] * tokens * width]
    if is_marian:
        yield "decoder/start_from_zero_embedding", [], INT8, b"\1"
        _, kind, data = weights["final_logits_bias"]
        yield "decoder/projection/bias", [tokens], kind, data[:SIZES[kind] * tokens]
    first, step = (0, width / 2) if is_marian else (2, width // 2 - 1)
    yield "decoder/position_encodings/encodings", *positions(width, first, step)


def write(model, folder, tokens, shortlist=None):
    """Writes `model`, a directory of Hugging Face's with these tokens, into `folder` for CTranslate2.

    `shortlist`: the content of a vmap.txt.
    """
    config = json.loads(pathlib.Path(model, "config.json").read_text(encoding="utf-8"))
    safetensors = pathlib.Path(model, "model.safetensors")
    weights = Safetensors(safetensors) if safetensors.exists() else TorchFile(pathlib.Path(model, "pytorch_model.bin"))
    os.makedirs(folder, exist_ok=True)
    target = pathlib.Path(folder)
    parts = [variable(*each) for each in variables(config, weights)]
    aliases = {"decoder/projection/weight": "decoder/embeddings/weight",
               "encoder/embeddings_0/weight": "decoder/embeddings/weight",
               "encoder/position_encodings/encodings": "decoder/position_encodings/encodings"}
    (target / "model.bin").write_bytes(
        struct.pack("<I", 6) + text("TransformerSpec") + struct.pack("<II", 7, len(parts)) + b"".join(parts)
        + struct.pack("<I", len(aliases)) + b"".join(text(a) + text(b) for a, b in aliases.items()))
    (target / "config.json").write_text(json.dumps({
        "add_source_bos": False, "add_source_eos": config["model_type"] == "marian", "bos_token": "<s>",
        "decoder_start_token": "</s>", "eos_token": "</s>", "unk_token": "<unk>"}), encoding="utf-8")
    (target / "shared_vocabulary.json").write_text(json.dumps(tokens), encoding="utf-8")
    if shortlist is not None:
        (target / "vmap.txt").write_text(shortlist, encoding="utf-8")
    return str(folder)
