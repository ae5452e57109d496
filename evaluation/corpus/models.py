"""Public architectures at toy size with random weights: name -> (build, example inputs).

No weights are downloaded. Sizes are small so that every export takes seconds.
"""

import torch
import transformers as T


def _ids(n=16, vocab=200):
    return torch.randint(3, vocab, (1, n))


def _text(n=16):
    return dict(input_ids=_ids(n), attention_mask=torch.ones(1, n, dtype=torch.long))


def _image(size=64):
    return dict(pixel_values=torch.randn(1, 3, size, size))


def _seq2seq():
    return dict(**_text(), decoder_input_ids=_ids(8))


def _encoder(config, model, **extra):
    sizes = dict(
        vocab_size=200,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    return lambda: model(config(**{**sizes, **extra}))


def _decoder(config, model, **extra):
    sizes = dict(
        vocab_size=200,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        use_cache=False,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    return lambda: model(config(**{**sizes, **extra}))


def _bart_like(config, model, **extra):
    sizes = dict(
        vocab_size=200,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        use_cache=False,
    )
    return lambda: model(config(**{**sizes, **extra}))


_VIT = dict(
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    image_size=64,
    patch_size=16,
)


def bert_tiny():
    """The structure of google/bert_uncased_L-2_H-128_A-2."""
    return T.BertModel(
        T.BertConfig(
            hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512
        )
    )


MODELS = {
    "bert_tiny": (bert_tiny, _text),
    "bert_mlm": (_encoder(T.BertConfig, T.BertForMaskedLM), _text),
    "roberta": (_encoder(T.RobertaConfig, T.RobertaModel), _text),
    "albert": (_encoder(T.AlbertConfig, T.AlbertModel, embedding_size=16), _text),
    "mobilebert": (
        _encoder(
            T.MobileBertConfig, T.MobileBertModel, embedding_size=16, intra_bottleneck_size=32
        ),
        _text,
    ),
    "distilbert": (
        lambda: T.DistilBertModel(
            T.DistilBertConfig(
                vocab_size=200,
                dim=32,
                hidden_dim=64,
                n_layers=2,
                n_heads=4,
                max_position_embeddings=64,
            )
        ),
        _text,
    ),
    "deberta_v2": (
        _encoder(
            T.DebertaV2Config,
            T.DebertaV2Model,
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
        ),
        _text,
    ),
    "gpt2": (
        lambda: T.GPT2LMHeadModel(
            T.GPT2Config(
                vocab_size=200, n_embd=32, n_layer=2, n_head=4, n_positions=64, use_cache=False
            )
        ),
        _text,
    ),
    "opt": (
        lambda: T.OPTForCausalLM(
            T.OPTConfig(
                vocab_size=200,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                ffn_dim=64,
                max_position_embeddings=64,
                word_embed_proj_dim=32,
                use_cache=False,
            )
        ),
        _text,
    ),
    "llama": (_decoder(T.LlamaConfig, T.LlamaForCausalLM), _text),
    "qwen2": (_decoder(T.Qwen2Config, T.Qwen2ForCausalLM), _text),
    "gemma2": (_decoder(T.Gemma2Config, T.Gemma2ForCausalLM, head_dim=8), _text),
    "mamba": (
        lambda: T.MambaForCausalLM(
            T.MambaConfig(
                vocab_size=200, hidden_size=32, num_hidden_layers=2, state_size=4, use_cache=False
            )
        ),
        lambda: dict(input_ids=_ids(8)),
    ),
    "bart": (_bart_like(T.BartConfig, T.BartModel), _seq2seq),
    "t5": (
        lambda: T.T5Model(
            T.T5Config(
                vocab_size=200,
                d_model=32,
                d_kv=8,
                d_ff=64,
                num_layers=2,
                num_heads=4,
                use_cache=False,
            )
        ),
        _seq2seq,
    ),
    "wav2vec2": (
        lambda: T.Wav2Vec2Model(
            T.Wav2Vec2Config(
                vocab_size=32,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=64,
                conv_dim=(16, 16, 16),
                conv_stride=(5, 2, 2),
                conv_kernel=(10, 3, 3),
                num_conv_pos_embeddings=16,
                num_conv_pos_embedding_groups=4,
                num_feat_extract_layers=3,
            )
        ),
        lambda: dict(input_values=torch.randn(1, 1600)),
    ),
    "vit": (lambda: T.ViTModel(T.ViTConfig(**_VIT)), _image),
    "swin": (
        lambda: T.SwinModel(
            T.SwinConfig(
                image_size=64,
                patch_size=4,
                embed_dim=16,
                depths=[2, 2],
                num_heads=[2, 4],
                window_size=4,
            )
        ),
        _image,
    ),
    "convnext": (
        lambda: T.ConvNextModel(
            T.ConvNextConfig(hidden_sizes=[16, 32], depths=[2, 2], num_stages=2)
        ),
        _image,
    ),
    "resnet": (
        lambda: T.ResNetForImageClassification(
            T.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32], depths=[2, 2], num_labels=10)
        ),
        _image,
    ),
    "segformer": (
        lambda: T.SegformerForSemanticSegmentation(
            T.SegformerConfig(
                num_encoder_blocks=2,
                depths=[1, 1],
                sr_ratios=[4, 2],
                hidden_sizes=[16, 32],
                num_attention_heads=[2, 4],
                patch_sizes=[7, 3],
                strides=[4, 2],
                mlp_ratios=[2, 2],
                decoder_hidden_size=16,
            )
        ),
        _image,
    ),
    "clip": (
        lambda: T.CLIPModel(
            T.CLIPConfig(
                text_config=dict(
                    vocab_size=200,
                    hidden_size=32,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    intermediate_size=64,
                    max_position_embeddings=32,
                    eos_token_id=2,
                    bos_token_id=1,
                    pad_token_id=0,
                ),
                vision_config=dict(**_VIT),
                projection_dim=16,
            )
        ),
        lambda: dict(**_text(), **_image()),
    ),
}
