"""Writes small random OpenNMT-py checkpoints and what they must translate to.

    python3 opennmt.py ../testdata

opennmt-2: as version 2 saves them, vocabularies as torchtext's objects, interleaved positions.
opennmt-3: as version 3 saves them, vocabularies as lists, no biases in attention, gated feed-forward
layers (SiLU), RMS norms, positions in halves, another token to start from.
opennmt-relative: relative position vectors (Shaw et al. 2018) in place of positions, which keys and
values share; embeddings are not scaled then. Reference: Klein et al. 2017, Vaswani et al. 2017, and
the names and shapes in published checkpoints; <blank> is never generated.
"""

import argparse
import collections
import functools
import os
import sys
import types

import torch

import transformer as t

D = 16
STEPS = 12
EOS = 3
SPECIAL = ["<unk>", "<blank>", "<s>", "</s>"]

PARTS = {"q_proj": "linear_query", "k_proj": "linear_keys", "v_proj": "linear_values",
         "out_proj": "final_linear"}


def opennmt_name(name):
    if ".embed_tokens." in name:
        return name.replace(".embed_tokens.", ".embeddings.make_embedding.emb_luts.0.")
    pieces = name.split(".")
    if pieces[1] != "layers":
        return name
    is_decoder = pieces[0] == "decoder"
    pieces[1] = "transformer_layers" if is_decoder else "transformer"
    part = pieces[3]
    if pieces[-1] == "relative":
        pieces[-1] = "relative_positions_embeddings.weight"
    elif part in ("self_attn", "encoder_attn"):
        pieces[3:5] = [part.replace("encoder_attn", "context_attn"), PARTS[pieces[4]]]
    elif part.startswith("fc"):
        pieces[3] = "feed_forward.w_" + part[2]
    else:
        pieces[3] = {"self_attn_layer_norm": "layer_norm_1" if is_decoder else "layer_norm",
                     "encoder_attn_layer_norm": "layer_norm_2",
                     "final_layer_norm": "feed_forward.layer_norm"}[part]
    return ".".join(pieces)


def module(name, **members):
    """A stand-in for a module, so that its objects are pickled by their names."""
    found = sys.modules[name] = types.ModuleType(name)
    for member, value in members.items():
        value.__module__, value.__name__, value.__qualname__ = name, member, member
        setattr(found, member, value)


class Attributes:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


Vocab, Field, RawField, TextMultiField = (
    type(name, (Attributes,), {}) for name in ("Vocab", "Field", "RawField", "TextMultiField"))


def _feature_tokenize():
    pass


def text_field(name, tokens, starts):
    vocab = Vocab(itos=tokens, stoi={token: i for i, token in enumerate(tokens)}, vectors=None,
                  freqs=collections.Counter(tokens), unk_index=0)
    field = Field(vocab=vocab, sequential=True, dtype=torch.int64, unk_token="<unk>",
                  pad_token="<blank>", init_token="<s>" if starts else None,
                  eos_token="</s>" if starts else None, preprocessing=None,
                  tokenize=functools.partial(_feature_tokenize, layer=None, feat_delim=None))
    return TextMultiField(fields=[(name, field)], preprocessing=None)


def make_model(shape, seed):
    weights = t.random_weights(shape, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    weights["output"] = torch.randn(shape.vocab_target, D, generator=generator).float() * 0.3
    weights["output_bias"] = torch.randn(shape.vocab_target, generator=generator).float() * 0.3
    weights = {name: value.double() for name, value in weights.items()}
    return t.Transformer(shape, weights, output="output", output_bias="output_bias")


def model_state(model):
    return collections.OrderedDict((opennmt_name(name), value.float())
                                   for name, value in model.weights.items()
                                   if not name.startswith("output"))


def write_2(path, seed):
    os.makedirs(path, exist_ok=True)
    source_tokens = SPECIAL[:2] + t.words(1, 38)
    target_tokens = SPECIAL + t.words(2, 26)
    half = D // 2
    shape = t.Shape(t.in_turn(0, 10000.0 ** (-torch.arange(half) / half)), d=D,
                    vocab=len(source_tokens), vocab_target=len(target_tokens), norm_epsilon=1e-6)
    model = make_model(shape, seed)
    state = model_state(model)
    for stack in ("encoder", "decoder"):
        state[stack + ".embeddings.make_embedding.pe.pe"] = shape.positions(20).float()[:, None]
    module("onmt")
    module("onmt.inputters")
    module("onmt.inputters.text_dataset", TextMultiField=TextMultiField,
           _feature_tokenize=_feature_tokenize)
    module("torchtext")
    module("torchtext.data")
    module("torchtext.data.field", Field=Field, RawField=RawField)
    module("torchtext.vocab", Vocab=Vocab)
    options = argparse.Namespace(
        model_type="text", model_task="seq2seq", encoder_type="transformer",
        decoder_type="transformer", layers=-1, enc_layers=shape.encoder_layers,
        dec_layers=shape.decoder_layers, rnn_size=D, enc_rnn_size=D, dec_rnn_size=D,
        heads=shape.heads, transformer_ff=shape.ffn, position_encoding=True,
        max_relative_positions=0, self_attn_type="scaled-dot", copy_attn=False, dropout=[0.1],
        share_embeddings=False, share_decoder_embeddings=False, generator_function="softmax",
        pos_ffn_activation_fn="relu", src_word_vec_size=D, tgt_word_vec_size=D)
    torch.save({
        "model": state,
        "generator": collections.OrderedDict([("0.weight", model.weights["output"].float()),
                                              ("0.bias", model.weights["output_bias"].float())]),
        "vocab": {"src": text_field("src", source_tokens, False),
                  "tgt": text_field("tgt", target_tokens, True),
                  "indices": Field(use_vocab=False, dtype=torch.int64),
                  "src_ex_vocab": RawField()},
        "opt": options, "optim": {"training_step": 8, "optimizer": {"state": {}}},
    }, os.path.join(path, "model_step_8.pt"))
    t.write_json(os.path.join(path, "expected.json"), t.cases(
        model, source_tokens, target_tokens, 7, STEPS, suffix=[], start=[2], suppressed=[1],
        eos=EOS))


def write_3(path, seed):
    os.makedirs(path, exist_ok=True)
    tokens = SPECIAL + t.words(3, 34) + ["averyunlikelytoken0", "averyunlikelytoken1"]
    half = D // 2
    shape = t.Shape(t.halves(0, 10000.0 ** (-torch.arange(half) / (half - 1))), d=D,
                    vocab=len(tokens), norm_epsilon=1e-5, activation="silu", gated=True, rms=True,
                    attention_bias=False)
    model = make_model(shape, seed)
    options = argparse.Namespace(
        model_type="text", model_task="seq2seq", encoder_type="transformer",
        decoder_type="transformer", layers=-1, enc_layers=shape.encoder_layers,
        dec_layers=shape.decoder_layers, hidden_size=D, enc_hid_size=D, dec_hid_size=D,
        heads=shape.heads, transformer_ff=shape.ffn, position_encoding=True,
        position_encoding_type="SinusoidalConcat", max_relative_positions=0,
        self_attn_type="scaled-dot-flash", copy_attn=False, layer_norm="rms", norm_eps=1e-5,
        pos_ffn_activation_fn="silu", add_qkvbias=False, add_ffnbias=True, num_kv=0,
        parallel_residual=False, lora_layers=[], quant_layers=[], quant_type="", num_experts=0,
        sliding_window=0, n_src_feats=0, share_vocab=True)
    torch.save({
        "model": model_state(model),
        "generator": collections.OrderedDict([("weight", model.weights["output"].float()),
                                              ("bias", model.weights["output_bias"].float())]),
        "vocab": {"src": tokens, "tgt": tokens, "data_task": "seq2seq",
                  "decoder_start_token": "</s>"},
        "opt": options, "optim": {"training_step": 8},
    }, os.path.join(path, "model_step_8.pt"))
    t.write_json(os.path.join(path, "expected.json"), t.cases(
        model, tokens, tokens, 8, STEPS, suffix=[], start=[EOS], suppressed=[1], eos=EOS))


def write_relative(path, seed):
    os.makedirs(path, exist_ok=True)
    tokens = SPECIAL + t.words(4, 30)
    shape = t.Shape(lambda n: torch.zeros(n, D), d=D, vocab=len(tokens), norm_epsilon=1e-6,
                    encoder_layers=2, scale=False, relative=3)
    model = make_model(shape, seed)
    options = argparse.Namespace(
        model_type="text", model_task="seq2seq", encoder_type="transformer",
        decoder_type="transformer", enc_layers=shape.encoder_layers,
        dec_layers=shape.decoder_layers, hidden_size=D, heads=shape.heads,
        transformer_ff=shape.ffn, position_encoding=False, max_relative_positions=shape.relative,
        relative_positions_buckets=0, self_attn_type="scaled-dot")
    torch.save({
        "model": model_state(model),
        "generator": collections.OrderedDict([("weight", model.weights["output"].float()),
                                              ("bias", model.weights["output_bias"].float())]),
        "vocab": {"src": tokens, "tgt": tokens, "data_task": "seq2seq",
                  "decoder_start_token": "<s>"},
        "opt": options, "optim": {"training_step": 8},
    }, os.path.join(path, "model_step_8.pt"))
    t.write_json(os.path.join(path, "expected.json"), t.cases(
        model, tokens, tokens, 9, STEPS, suffix=[], start=[2], suppressed=[1], eos=EOS))


if __name__ == "__main__":
    t.first_good_seed(lambda seed: write_2(os.path.join(sys.argv[1], "opennmt-2"), seed), 0)
    t.first_good_seed(lambda seed: write_3(os.path.join(sys.argv[1], "opennmt-3"), seed), 10000)
    t.first_good_seed(lambda seed: write_relative(os.path.join(sys.argv[1], "opennmt-relative"), seed), 0)
