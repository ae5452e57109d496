"""Decoders with a cache as output, as input, and as both, as they are deployed."""

from __future__ import annotations

import torch
import transformers as T
from torch import nn
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from .registry import BOTH, case, tokens

_GPT2 = dict(
    vocab_size=64,
    n_embd=16,
    n_layer=2,
    n_head=2,
    n_positions=32,
    use_cache=True,
    bos_token_id=1,
    eos_token_id=2,
)
_LLAMA = dict(
    vocab_size=64,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=32,
    max_position_embeddings=32,
    use_cache=True,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)


def past(layers: int, heads: int, length: int, width: int):
    return [
        (torch.randn(1, heads, length, width), torch.randn(1, heads, length, width))
        for _ in range(layers)
    ]


def filled(pairs) -> DynamicCache:
    cache = DynamicCache()
    for layer, (key, value) in enumerate(pairs):
        cache.update(key, value, layer)
    return cache


def llama() -> nn.Module:
    model = T.LlamaForCausalLM(T.LlamaConfig(**_LLAMA))
    model.set_attn_implementation("eager")  # the TorchScript exporter has no other grouped queries
    return model


def gpt2() -> nn.Module:
    return T.GPT2LMHeadModel(T.GPT2Config(**_GPT2))


@case("GPT-2 that gives back a cache", demanded=BOTH)
def gpt2_gives_cache():
    return gpt2(), lambda: ((), {"input_ids": tokens(5), "use_cache": True})


@case("GPT-2 with a DynamicCache as input and output", demanded=BOTH)
def gpt2_takes_cache():
    def inputs():
        cache = filled(past(2, 2, 4, 8))
        mask = torch.ones(1, 5, dtype=torch.long)
        return (), {
            "input_ids": tokens(1),
            "attention_mask": mask,
            "past_key_values": cache,
            "use_cache": True,
        }

    return gpt2(), inputs


@case(
    "Llama (grouped queries, rotary embedding) with a DynamicCache as input and output",
    demanded=BOTH,
)
def llama_takes_cache():
    def inputs():
        return (), {
            "input_ids": tokens(1),
            "attention_mask": torch.ones(1, 5, dtype=torch.long),
            "past_key_values": filled(past(2, 2, 4, 4)),
            "use_cache": True,
        }

    return llama(), inputs


@case("Llama that gives back a cache", demanded=BOTH)
def llama_gives_cache():
    return llama(), lambda: ((tokens(5),), {"use_cache": True})


# PyTorch's other exporter does not manage T5, with or without a cache.
@case("T5 with use_cache: a cache of self and cross attention as output", demanded=("torchscript",))
def t5_gives_cache():
    config = T.T5Config(
        vocab_size=64,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        use_cache=True,
        decoder_start_token_id=0,
    )
    return T.T5ForConditionalGeneration(config), lambda: (
        (),
        {"input_ids": tokens(6), "decoder_input_ids": tokens(3), "use_cache": True},
    )


def whisper() -> nn.Module:
    return T.WhisperForConditionalGeneration(
        T.WhisperConfig(
            vocab_size=64,
            d_model=16,
            encoder_layers=1,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            num_mel_bins=8,
            max_source_positions=10,
            max_target_positions=16,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
            use_cache=True,
        )
    )


@case("Whisper with use_cache: a cache of self and cross attention as output", demanded=BOTH)
def whisper_gives_cache():
    return whisper(), lambda: (
        (),
        {
            "input_features": torch.randn(1, 8, 20),
            "decoder_input_ids": tokens(3),
            "use_cache": True,
        },
    )


@case("Whisper's decoder step: an EncoderDecoderCache as input", demanded=BOTH)
def whisper_takes_cache():
    def inputs():
        cache = EncoderDecoderCache(filled(past(2, 2, 3, 8)), filled(past(2, 2, 10, 8)))
        for layer in range(2):
            cache.is_updated[layer] = True
        return (), {
            "encoder_outputs": (torch.randn(1, 10, 16),),
            "decoder_input_ids": tokens(1),
            "past_key_values": cache,
            "use_cache": True,
        }

    return whisper(), inputs


class Attention(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x, past):
        key, value = self.k(x), self.v(x)
        if past is not None:
            key, value = torch.cat([past[0], key], 1), torch.cat([past[1], value], 1)
        scores = torch.softmax(self.q(x) @ key.transpose(1, 2), -1)
        return x + scores @ value, (key, value)


class TupleDecoder(nn.Module):
    """The old form of a cache: a tuple of pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Attention() for _ in range(2))

    def forward(self, x, past_key_values=None):
        present = []
        for i, layer in enumerate(self.layers):
            x, kept = layer(x, None if past_key_values is None else past_key_values[i])
            present.append(kept)
        return x, tuple(present)


@case("a cache as a tuple of pairs, as output", demanded=BOTH)
def tuple_gives_cache():
    return TupleDecoder(), lambda: ((torch.randn(1, 3, 8),), {})


@case("a cache as a tuple of pairs, as input and output", demanded=BOTH)
def tuple_takes_cache():
    def inputs():
        pairs = tuple((torch.randn(1, 4, 8), torch.randn(1, 4, 8)) for _ in range(2))
        return (torch.randn(1, 1, 8),), {"past_key_values": pairs}

    return TupleDecoder(), inputs
