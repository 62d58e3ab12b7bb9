"""Writes small random fairseq checkpoints and what they must translate to.

    python3 fairseq.py ../testdata

fairseq-new: as saved since 2020 ("cfg"), post-norm, two dictionaries, sinusoidal positions, a zip
file that also has the optimizer's tensors. fairseq-old: as saved in 2019 ("args", fused q, k and v,
numbered norms, counters as objects), pre-norm, one dictionary, learned positions and a norm behind
the embedding, float16, in PyTorch's older container. Reference: Ott et al. 2019 and the names and
shapes in published checkpoints; <pad> is never generated.
"""

import argparse
import collections
import os
import sys
import types

import torch

import transformer as t

D = 16
STEPS = 12


def write_dictionary(path, tokens):
    with open(path, "w") as f:
        for i, token in enumerate(tokens):
            f.write("%s %d\n" % (token, 1000 - i))


def half_frequencies():
    half = D // 2
    return 10000.0 ** (-torch.arange(half) / (half - 1))


def options(shape, **more):
    values = dict(
        encoder_embed_dim=D, decoder_embed_dim=D, encoder_ffn_embed_dim=shape.ffn,
        decoder_ffn_embed_dim=shape.ffn, encoder_layers=shape.encoder_layers,
        decoder_layers=shape.decoder_layers, encoder_attention_heads=shape.heads,
        decoder_attention_heads=shape.heads, encoder_normalize_before=shape.pre_norm,
        decoder_normalize_before=shape.pre_norm, max_source_positions=40, max_target_positions=40,
        adaptive_softmax_cutoff=None, dropout=0.1, layernorm_embedding=shape.embed_norm,
        no_token_positional_embeddings=False)
    values.update(more)
    return values


def stored(weights, dtype):
    return collections.OrderedDict((name, value.to(dtype)) for name, value in weights.items())


def write_new(path, seed):
    os.makedirs(path, exist_ok=True)
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    source_words, target_words = t.words(1, 37), t.words(2, 26) + ["madeupword0000", "madeupword0001"]
    write_dictionary(os.path.join(path, "dict.en.txt"), source_words)
    write_dictionary(os.path.join(path, "dict.de.txt"), target_words)
    shape = t.Shape(t.halves(2, half_frequencies()), d=D, vocab=41, vocab_target=32,
                    pre_norm=False, final_norm=False)
    weights = t.random_weights(shape, seed)
    weights["decoder.output_projection.weight"] = torch.randn(
        32, D, generator=torch.Generator().manual_seed(seed + 1)).float().double() * 0.3
    model = t.Transformer(shape, weights, output="decoder.output_projection.weight")
    state = stored(weights, torch.float32)
    for stack in ("encoder", "decoder"):
        state[stack + ".version"] = torch.tensor([3.0], dtype=torch.float32)
    checkpoint = {
        "args": None,
        "cfg": {"_name": None, "common": {"seed": 1, "fp16": False},
                "task": {"_name": "translation", "data": "bin", "source_lang": "en",
                         "target_lang": "de", "left_pad_source": True},
                "model": argparse.Namespace(**options(
                    shape, _name="transformer_iwslt_de_en", share_all_embeddings=False,
                    share_decoder_input_output_embed=False, lr=[0.0005],
                    activation_fn="relu", encoder_learned_pos=False, decoder_learned_pos=False))},
        "model": state, "criterion": None, "task_state": {},
        "optimizer_history": [{"optimizer_name": "FairseqAdam", "num_updates": 7}],
        "extra_state": {"metrics": collections.OrderedDict(
            default=[(0, "loss", "AverageMeter", {"val": 1.5, "sum": 3.0, "count": 2})]),
            "previous_training_time": 2.5},
        "last_optimizer_state": {"state": {0: {"step": 7, "exp_avg": torch.zeros(3)}}}}
    torch.save(checkpoint, os.path.join(path, "checkpoint_best.pt"))
    t.write_json(os.path.join(path, "expected.json"),
                 t.cases(
        model, special + source_words, special + target_words, 5, STEPS, suffix=[2], start=[2],
        suppressed=[1], eos=2))


class AverageMeter:
    """Stands for fairseq.meters.AverageMeter."""

    def __init__(self):
        self.val, self.count = 1.0, 2


def write_old(path, seed):
    os.makedirs(path, exist_ok=True)
    tokens = t.words(3, 32)
    for language in ("de", "en"):
        write_dictionary(os.path.join(path, "dict.%s.txt" % language), tokens)
    generator = torch.Generator().manual_seed(seed + 1)
    learned = {stack: torch.randn(2 + 40, D, generator=generator).half().double() * 0.5
               for stack in ("encoder", "decoder")}
    position_of = {"now": None}
    shape = t.Shape(lambda n: learned[position_of["now"]][2:2 + n], d=D, vocab=36, embed_norm=True,
                    activation="gelu")
    weights = t.random_weights(shape, seed, torch.float16)
    weights["encoder.embed_tokens.weight"][2] *= 2  # so that some sentences end
    weights["decoder.embed_tokens.weight"] = weights["encoder.embed_tokens.weight"]

    class Model(t.Transformer):
        def stack(self, stack, layers, ids, memory):
            position_of["now"] = stack
            return super().stack(stack, layers, ids, memory)

    model = Model(shape, weights)
    state = stored(weights, torch.float16)
    for name in list(state):
        for fused in ("self_attn", "encoder_attn"):
            if ".%s.q_proj." % fused in name:
                names = [name.replace("q_proj", p) for p in ("q_proj", "k_proj", "v_proj")]
                state[name.replace("q_proj.", "in_proj_")] = torch.cat([state[n] for n in names])
                for n in names:
                    del state[n]
        norms = ["self_attn", "final"] if "encoder.layers" in name else [
            "self_attn", "encoder_attn", "final"]
        for i, norm in enumerate(norms):
            if ".layers." in name and "." + norm + "_layer_norm" in name:
                state[name.replace(norm + "_layer_norm", "layer_norms.%d" % i)] = state.pop(name)
    for stack in ("encoder", "decoder"):
        state[stack + ".embed_positions.weight"] = learned[stack].half()
    checkpoint = {
        "args": argparse.Namespace(**options(
            shape, arch="transformer_wmt_en_de_big_t2t", task="translation", source_lang="de",
            target_lang="en", share_all_embeddings=True, share_decoder_input_output_embed=True,
            encoder_learned_pos=True, decoder_learned_pos=True, activation_fn="gelu", lr=[0.1])),
        "model": state, "optimizer_history": [],
        "extra_state": {"train_meters": collections.OrderedDict(loss=AverageMeter())}}
    module = types.ModuleType("fairseq.meters")
    module.AverageMeter = AverageMeter
    AverageMeter.__module__ = "fairseq.meters"
    sys.modules["fairseq"], sys.modules["fairseq.meters"] = types.ModuleType("fairseq"), module
    torch.save(checkpoint, os.path.join(path, "model.pt"), _use_new_zipfile_serialization=False)
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    t.write_json(os.path.join(path, "expected.json"),
                 t.cases(
        model, special + tokens, special + tokens, 6, STEPS, suffix=[2], start=[2],
        suppressed=[1], eos=2))


if __name__ == "__main__":
    t.first_good_seed(lambda seed: write_new(os.path.join(sys.argv[1], "fairseq-new"), seed), 0)
    t.first_good_seed(lambda seed: write_old(os.path.join(sys.argv[1], "fairseq-old"), seed), 10000)
