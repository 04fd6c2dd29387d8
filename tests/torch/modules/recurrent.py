# SPDX-License-Identifier: Apache-2.0
"""An LSTM that predicts the next value of a series."""
import torch
from torch import nn


class Forecast(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.memory = nn.LSTM(1, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, series):
        states, _ = self.memory(series)
        return self.head(states)


def build():
    series = torch.randn(8, 33, 1).cumsum(1)
    return {"module": Forecast(), "batch": series[:, :-1], "targets": series[:, 1:], "loss": nn.functional.mse_loss,
            "optimizer": lambda parameters: torch.optim.Adam(parameters, lr=1e-3)}
