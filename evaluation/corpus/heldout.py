"""Architectures to which no rule or threshold of HTP was fitted: the held-out half of the evaluation.

In the same form as models.py. Look only at the scores, never at single nodes, except to find a bug that any
model could show. The models of wider.py and nets.py were inspected once, which is noted there.
"""

import torch
import transformers as T

from models import _VIT, _bart_like, _decoder, _encoder, _ids, _image, _seq2seq, _text
from nets import NETS
from plain import PLAIN
from wider import WIDER


def _audio():
    return dict(input_values=torch.randn(1, 1600))


def _mel():
    return dict(input_features=torch.randn(1, 16, 60), decoder_input_ids=_ids(8))


_CONV_STEM = dict(
    conv_dim=(16, 16),
    conv_stride=(5, 2),
    conv_kernel=(10, 3),
    num_feat_extract_layers=2,
    num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=4,
)

TRANSFORMERS = {
    "electra": (_encoder(T.ElectraConfig, T.ElectraModel, embedding_size=16), _text),
    "mpnet": (_encoder(T.MPNetConfig, T.MPNetModel), _text),
    "squeezebert": (_encoder(T.SqueezeBertConfig, T.SqueezeBertModel, embedding_size=32), _text),
    "bloom": (
        lambda: T.BloomForCausalLM(
            T.BloomConfig(vocab_size=200, hidden_size=32, n_layer=2, n_head=4, use_cache=False)
        ),
        _text,
    ),
    "gpt_neox": (_decoder(T.GPTNeoXConfig, T.GPTNeoXForCausalLM), _text),
    "gptj": (
        lambda: T.GPTJForCausalLM(
            T.GPTJConfig(
                vocab_size=200,
                n_embd=32,
                n_layer=2,
                n_head=4,
                n_positions=64,
                rotary_dim=4,
                use_cache=False,
            )
        ),
        _text,
    ),
    "phi": (_decoder(T.PhiConfig, T.PhiForCausalLM), _text),
    "falcon": (
        lambda: T.FalconForCausalLM(
            T.FalconConfig(
                vocab_size=200,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                use_cache=False,
            )
        ),
        _text,
    ),
    "qwen3": (_decoder(T.Qwen3Config, T.Qwen3ForCausalLM, head_dim=8), _text),
    "pegasus": (_bart_like(T.PegasusConfig, T.PegasusModel), _seq2seq),
    "whisper": (
        lambda: T.WhisperModel(
            T.WhisperConfig(
                vocab_size=200,
                num_mel_bins=16,
                d_model=32,
                encoder_layers=2,
                decoder_layers=2,
                encoder_attention_heads=4,
                decoder_attention_heads=4,
                encoder_ffn_dim=64,
                decoder_ffn_dim=64,
                max_source_positions=30,
                max_target_positions=32,
                use_cache=False,
                pad_token_id=0,
                bos_token_id=1,
                eos_token_id=2,
                decoder_start_token_id=1,
            )
        ),
        _mel,
    ),
    "hubert": (
        lambda: T.HubertModel(
            T.HubertConfig(
                vocab_size=32,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=64,
                **_CONV_STEM,
            )
        ),
        _audio,
    ),
    "dinov2": (lambda: T.Dinov2Model(T.Dinov2Config(**_VIT)), _image),
    "beit": (lambda: T.BeitModel(T.BeitConfig(**_VIT)), _image),
    "data2vec_vision": (
        lambda: T.Data2VecVisionModel(
            T.Data2VecVisionConfig(**_VIT, use_relative_position_bias=True)
        ),
        _image,
    ),
    "siglip": (
        lambda: T.SiglipModel(
            T.SiglipConfig(
                text_config=dict(
                    vocab_size=200,
                    hidden_size=32,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    intermediate_size=64,
                    max_position_embeddings=32,
                ),
                vision_config=dict(**_VIT),
            )
        ),
        lambda: dict(**_text(), **_image()),
    ),
    "poolformer": (
        lambda: T.PoolFormerModel(
            T.PoolFormerConfig(
                num_encoder_blocks=2,
                depths=[1, 2],
                hidden_sizes=[16, 32],
                patch_sizes=[7, 3],
                strides=[4, 2],
                padding=[2, 1],
            )
        ),
        _image,
    ),
    "regnet": (
        lambda: T.RegNetForImageClassification(
            T.RegNetConfig(
                embedding_size=16,
                hidden_sizes=[16, 32],
                depths=[1, 2],
                groups_width=8,
                num_labels=10,
            )
        ),
        _image,
    ),
    "mobilenet_v2": (
        lambda: T.MobileNetV2ForImageClassification(
            T.MobileNetV2Config(image_size=64, depth_multiplier=0.35, num_labels=10)
        ),
        _image,
    ),
}

MODELS = {**TRANSFORMERS, **PLAIN, **WIDER, **NETS}
#: Whose nodes were looked at one by one, and led to rules. Of the others only scores are known.
LOOKED_AT = frozenset(WIDER) | frozenset(NETS)
