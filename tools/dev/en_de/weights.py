"""Turns the weights of a Hugging Face directory into a state from which the kit's convert.py makes a raw one.

  weights.py MODEL STATE.pt

The state has the weights as the running average, no optimizer, step 0 and the target tokens that the card of the bundled
model names. convert.py then writes zeros as momentum, and the trainer's warm-up begins anew.
"""
import json
import struct
import sys

import numpy
import torch

TOKENS = 72_200_000


def read(path):
    """Returns the tensors of a safetensors file in float16, by name."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, blob = json.loads(file.read(size)), file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] != "F16":
            sys.exit(f"{path}: {name} is {entry['dtype']}, not F16")
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(blob[begin:end], numpy.float16).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy()).float()
    return tensors


def kit_name(name):
    """Returns the name that general.py gives to a tensor of a MarianMT model."""
    return name.removeprefix("model.").replace(".layers.", ".", 1)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model, state = sys.argv[1:]
    average = {kit_name(name): tensor for name, tensor in read(model + "/model.safetensors").items()}
    average["final_logits_bias"] = average["final_logits_bias"].reshape(-1)
    torch.save({"average": average, "step": 0, "tokens": TOKENS}, state)


main()
