"""Plain PyTorch nets of a few lines each, for things that no transformers model does.

Modules in dictionaries, one layer under two names, code outside any module, recurrent layers,
skip connections: a tagger that only knows transformer blocks fails here.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Expert(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Routed(nn.Module):
    """Modules in a ModuleDict, mixed by a gate."""

    def __init__(self, width=16):
        super().__init__()
        names = ("left", "right", "wide")
        self.gate = nn.Linear(width, len(names))
        self.experts = nn.ModuleDict({n: Expert(width, 48 if n == "wide" else 24) for n in names})

    def forward(self, x):
        weights = torch.softmax(self.gate(x), dim=-1)
        mixed = [e(x) * weights[..., i : i + 1] for i, e in enumerate(self.experts.values())]
        return torch.stack(mixed).sum(0) + x


class RoutedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Routed() for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Mixer(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.tanh(self.proj(self.norm(x)))


class SharedNet(nn.Module):
    """One block that runs three times, twice under a second name."""

    def __init__(self):
        super().__init__()
        self.block = Mixer()
        self.again = self.block
        self.own = Mixer()

    def forward(self, x):
        return self.again(self.own(self.again(self.block(x)))).mean(dim=1)


class FunctionalNet(nn.Module):
    """Parameters of the root itself, and code between the modules."""

    def __init__(self, width=16):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.table = nn.Parameter(torch.randn(8, width))
        self.first = Mixer(width)
        self.second = Mixer(width)

    def forward(self, x):
        x = x * self.scale + self.table[: x.shape[1]]
        left = self.first(x)
        score = torch.softmax(left @ x.transpose(1, 2) / x.shape[-1] ** 0.5, dim=-1)
        return self.second(F.layer_norm(score @ left, x.shape[-1:])) - x


class Recurrent(nn.Module):
    """LSTM and GRU layers, each of them one node in ONNX."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 12, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(24, 10, num_layers=2, batch_first=True)
        self.head = Mixer(10)

    def forward(self, ids):
        x, _ = self.lstm(self.embed(ids))
        x, _ = self.gru(x)
        return self.head(x)[:, -1]


class DoubleConv(nn.Sequential):
    def __init__(self, inside, outside):
        super().__init__(
            nn.Conv2d(inside, outside, 3, padding=1),
            nn.BatchNorm2d(outside),
            nn.ReLU(),
            nn.Conv2d(outside, outside, 3, padding=1),
            nn.BatchNorm2d(outside),
            nn.ReLU(),
        )


class Up(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.up = nn.ConvTranspose2d(inside, outside, 2, stride=2)
        self.conv = DoubleConv(2 * outside, outside)

    def forward(self, x, skip):
        return self.conv(torch.cat([skip, self.up(x)], dim=1))


class UNet(nn.Module):
    """Skip connections that cross the whole net."""

    def __init__(self, widths=(8, 16, 32)):
        super().__init__()
        self.down = nn.ModuleList(DoubleConv(a, b) for a, b in zip((3, *widths), widths))
        self.pool = nn.MaxPool2d(2)
        pairs = list(zip(widths[::-1], widths[-2::-1]))
        self.up = nn.ModuleList(Up(a, b) for a, b in pairs)
        self.out = nn.Conv2d(widths[0], 2, 1)

    def forward(self, image):
        skips = []
        for i, stage in enumerate(self.down):
            image = stage(self.pool(image) if i else image)
            skips.append(image)
        for stage, skip in zip(self.up, skips[-2::-1]):
            image = stage(image, skip)
        return self.out(image)


class Basic(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.downsample = None
        if stride != 1 or inside != outside:
            self.downsample = nn.Sequential(
                nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)
            )

    def forward(self, x):
        same = x if self.downsample is None else self.downsample(x)
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + same)


class Staged(nn.Module):
    """Blocks in `Sequential`s called layer1, layer2: the same index below two parents."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.layer1 = nn.Sequential(Basic(8, 8, 1), Basic(8, 8, 1))
        self.layer2 = nn.Sequential(Basic(8, 16, 2), Basic(16, 16, 1))
        self.fc = nn.Linear(16, 5)

    def forward(self, image):
        x = self.layer2(self.layer1(self.stem(image)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Tower(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 2, 32, batch_first=True) for _ in range(2)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x).mean(1)


class TwoTowers(nn.Module):
    """Two towers of torch.nn's own transformer layers, compared by code of the root."""

    def __init__(self):
        super().__init__()
        self.query = Tower()
        self.document = Tower()

    def forward(self, query, document):
        a, b = F.normalize(self.query(query), dim=-1), F.normalize(self.document(document), dim=-1)
        return a @ b.T


def _sequence(name="x"):
    return lambda: {name: torch.randn(1, 6, 16)}


def _image(size=32):
    return lambda: {"image": torch.randn(1, 3, size, size)}


PLAIN = {
    "module_dict": (RoutedNet, _sequence()),
    "shared_layers": (SharedNet, _sequence()),
    "functional": (FunctionalNet, _sequence()),
    "recurrent": (Recurrent, lambda: {"ids": torch.randint(0, 50, (1, 7))}),
    "unet": (UNet, _image()),
    "staged_cnn": (Staged, _image()),
    "two_towers": (TwoTowers, lambda: {**_sequence("query")(), **_sequence("document")()}),
}
