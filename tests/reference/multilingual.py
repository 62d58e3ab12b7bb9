"""Writes small random M2M-100, NLLB and mBART directories and what they must translate to.

    python3 multilingual.py ../testdata

The directories are laid out as the published ones are; expected.json in each holds greedy
translations: texts, frames, ids, log-probabilities. Beside the tokens that are no text (<s>, <pad>,
<mask>, languages, unused ids), which nibu never generates, all is as the papers and the published
tokenizers' documentation say.
"""

import os
import sys

import torch

import transformer as t

D = 16
STEPS = 12
TEXTS = ["the cat sat on the mat", "a man", "an ape ate the apple and a hat", "dog"]


def frequencies():
    half = D // 2
    return 10000.0 ** (-torch.arange(half) / (half - 1))


def hugging_face_names(weights):
    return {"model." + name: value for name, value in weights.items()}


def write_directory(path, kind, seed):
    os.makedirs(path, exist_ok=True)
    pieces = t.train_sentencepiece(os.path.join(path, "sentencepiece.bpe"), 36)
    names = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
    assert names[:3] == ["<unk>", "<s>", "</s>"]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    codes = {"m2m": ["de", "en", "fr"], "nllb": ["deu_Latn", "eng_Latn", "fra_Latn"],
             "mbart50": ["fr_XX", "de_DE", "en_XX"], "mbart": ["fr_XX", "de_DE", "en_XX"]}[kind]
    languages = ["__%s__" % code for code in codes] if kind == "m2m" else codes
    if kind == "m2m":  # ids of its own: not SentencePiece's order
        table = special + sorted(names[3:], key=lambda piece: (len(piece), piece))
        t.write_json(os.path.join(path, "vocab.json"), {p: i for i, p in enumerate(table)})
    else:
        table = special + names[3:]
    ids = {token: i for i, token in enumerate(table)}
    first_language = len(table)
    for i, language in enumerate(languages):
        ids[language] = first_language + i
    vocab = first_language + len(languages) + 3  # <mask>, unused
    is_mbart = kind.startswith("mbart")

    learned = None
    if is_mbart:
        generator = torch.Generator().manual_seed(seed + 1000)
        learned = torch.randn(2 + 40, D, generator=generator).float().double() * 0.5
        positions = lambda n: learned[2:2 + n]
    else:
        positions = t.halves(2, frequencies())
    shape = t.Shape(positions, d=D, vocab=vocab, embed_norm=is_mbart,
                    activation="gelu" if is_mbart else "relu")
    dtype = torch.float16 if kind == "nllb" else torch.float32
    weights = t.random_weights(shape, seed, dtype)
    weights["decoder.embed_tokens.weight"] = weights["encoder.embed_tokens.weight"]
    model = t.Transformer(shape, weights)

    stored = hugging_face_names(weights)
    stored["model.shared.weight"] = stored.pop("model.encoder.embed_tokens.weight")
    del stored["model.decoder.embed_tokens.weight"]
    config = {"model_type": "mbart" if is_mbart else "m2m_100", "d_model": D, "vocab_size": vocab,
              "encoder_layers": shape.encoder_layers, "decoder_layers": shape.decoder_layers,
              "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24,
              "decoder_ffn_dim": 24, "max_position_embeddings": 40, "pad_token_id": 1,
              "bos_token_id": 0, "eos_token_id": 2, "scale_embedding": True,
              "activation_function": "gelu" if is_mbart else "relu"}
    generation = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "num_beams": 5}
    tokenizer = {"src_lang": None, "tgt_lang": None}
    if kind != "mbart":
        generation["decoder_start_token_id"] = 2
    if is_mbart:
        bias = torch.randn(1, vocab, generator=torch.Generator().manual_seed(seed + 2)) * 0.3
        weights["bias"] = stored["final_logits_bias"] = bias.float().double()
        model.output_bias = "bias"
        stored["model.encoder.embed_positions.weight"] = learned
        stored["model.decoder.embed_positions.weight"] = learned
        tokenizer["tokenizer_class"] = "MBart50Tokenizer" if kind == "mbart50" else "MBartTokenizer"
    if kind == "mbart50":
        generation["forced_bos_token_id"] = ids["en_XX"]
    elif kind == "mbart":
        config["decoder_start_token_id"] = ids["de_DE"]

    # Each of the places in which language tokens are found.
    special_map = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    if kind in ("m2m", "mbart50"):
        special_map["additional_special_tokens"] = languages
    elif kind == "nllb":
        added = [{"id": ids[token], "content": token, "special": True}
                 for token in special + languages]
        t.write_json(os.path.join(path, "tokenizer.json"),
                     {"version": "1.0", "added_tokens": added, "model": {"type": "BPE"}})
        tokenizer.update(src_lang="eng_Latn", legacy_behaviour=False)
    else:
        tokenizer["added_tokens_decoder"] = {
            str(ids[token]): {"content": token, "special": True} for token in languages}
    t.write_json(os.path.join(path, "special_tokens_map.json"), special_map)
    t.write_json(os.path.join(path, "config.json"), config)
    t.write_json(os.path.join(path, "generation_config.json"), generation)
    t.write_json(os.path.join(path, "tokenizer_config.json"), tokenizer)
    if kind == "nllb":
        half = {name: value.half() for name, value in stored.items()}
        half["lm_head.weight"] = half["model.shared.weight"]
        torch.save(half, os.path.join(path, "pytorch_model.bin"))
    else:
        t.write_safetensors(os.path.join(path, "model.safetensors"), stored)

    # Unused ids have no token in any file.
    suppressed = [0, 1] + list(range(first_language, vocab))
    tokens_of = {i: token for token, i in ids.items()}
    expected = []
    for source, target in ((2, 0), (0, 1)):
        source, target = languages[source], languages[target]
        if kind == "mbart":
            frame = {"source_prefix": [], "source_suffix": [2, ids[source]],
                     "decoder_start": [ids[target]]}
        else:
            frame = {"source_prefix": [ids[source]], "source_suffix": [2],
                     "decoder_start": [2, ids[target]]}
        for text in TEXTS:
            source_ids = [ids[piece] for piece in pieces.encode(text, out_type=str)]
            tokens, scores = model.greedy(
                frame["source_prefix"] + source_ids + frame["source_suffix"],
                frame["decoder_start"], suppressed, 2, STEPS)
            expected.append({
                "src_lang": source.strip("_"), "tgt_lang": target.strip("_"), "text": text,
                "frame": frame, "source": source_ids, "tokens": tokens, "token_scores": scores,
                "translation": pieces.decode([tokens_of[i] for i in tokens])})
    t.check_cases(expected, STEPS)
    t.write_json(os.path.join(path, "expected.json"), expected)


if __name__ == "__main__":
    for number, kind in enumerate(("m2m", "nllb", "mbart50", "mbart")):
        t.first_good_seed(
            lambda seed: write_directory(os.path.join(sys.argv[1], kind), kind, seed),
            10000 * number)
