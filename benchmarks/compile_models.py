"""The models of benchmarks/compile.py: transformers' configurations with random weights."""

import re

#: What layered compilation may take of flat.
LIMITS = {
    "llama32": 0.4,
    "bert12": 0.6,
    "gpt2_12": 0.6,
    "vit12": 0.6,
    "llama8_cache": 0.7,
    "llama8_cache_dynamic": 0.7,
}
QUICK = {"bert12": 0.6, "llama8_cache": 0.7}

WIDTH = dict(vocab_size=1000, hidden_size=64, num_attention_heads=4)


def llama(layers, **options):
    import transformers

    config = transformers.LlamaConfig(
        **WIDTH,
        num_hidden_layers=layers,
        num_key_value_heads=2,
        intermediate_size=128,
        max_position_embeddings=128,
        **options,
    )
    return transformers.LlamaForCausalLM(config)


def build(name):
    """(model, inputs of its forward by name)."""
    import torch
    import transformers

    ids = torch.randint(3, 900, (1, 16))
    if name.startswith("llama"):
        layers = int(re.match(r"llama(\d+)", name)[1])
        act = "gelu" if name.endswith("_all") else "silu"
        model = llama(layers, hidden_act=act, use_cache="cache" in name)
        if name.endswith("_one"):
            model.model.layers[layers // 2].mlp.act_fn = torch.nn.GELU()
        return model, {"input_ids": ids}
    if name == "bert12":
        config = transformers.BertConfig(
            **WIDTH, num_hidden_layers=12, intermediate_size=128, max_position_embeddings=128
        )
        return transformers.BertModel(config), {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
        }
    if name == "gpt2_12":
        config = transformers.GPT2Config(
            vocab_size=1000, n_embd=64, n_head=4, n_positions=128, n_layer=12, use_cache=False
        )
        return transformers.GPT2LMHeadModel(config), {"input_ids": ids}
    if name == "vit12":
        config = transformers.ViTConfig(
            hidden_size=64,
            num_hidden_layers=12,
            num_attention_heads=4,
            intermediate_size=128,
            image_size=64,
            patch_size=16,
        )
        return transformers.ViTModel(config), {"pixel_values": torch.randn(1, 3, 64, 64)}
    raise SystemExit(f"no model {name!r}")


def sizes(name):
    """Lengths of symbolic dimensions."""
    return {}


def distinct(model):
    """As after training: no two parameters are equal, which an exporter would store once."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    return model.eval()


def with_cache(model, inputs, dynamic):
    """A decoder's step: `inputs` and caches of an earlier text."""
    import torch
    import transformers

    ids = inputs["input_ids"][:, :1].repeat(2 if dynamic else 1, 1)
    past = transformers.DynamicCache()
    config = model.config
    shape = (ids.shape[0], config.num_key_value_heads, 15, config.hidden_size // 4)
    for layer in range(config.num_hidden_layers):
        past.update(torch.randn(shape), torch.randn(shape), layer)
    mask = torch.ones(ids.shape[0], 16, dtype=torch.long)
    return {"input_ids": ids, "attention_mask": mask, "past_key_values": past, "use_cache": True}


def export(name, path):
    import torch

    import htp

    torch.manual_seed(0)
    model, inputs = build(name)
    dynamic = name.endswith("dynamic")
    if "cache" in name:
        inputs = with_cache(model, inputs, dynamic)
    htp.export(
        distinct(model),
        (),
        path,
        kwargs=inputs,
        exporter="dynamo",
        dynamic_shapes="auto" if dynamic else None,
    )
