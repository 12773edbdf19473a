"""A Lightning trainer whose TensorBoardLogger writes through Sonde."""

import sys

import sonde

sonde.patch()

import lightning
import torch
from lightning.pytorch.loggers import TensorBoardLogger


class Regression(lightning.LightningModule):
    def __init__(self, width: int = 16, rate: float = 0.05) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layers = torch.nn.Sequential(torch.nn.Linear(1, width), torch.nn.Tanh(), torch.nn.Linear(width, 1))

    def training_step(self, batch, _):
        x = batch[0]
        loss = (self.layers(x) - torch.sin(3 * x)).square().mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), self.hparams.rate)


def main(folder: str) -> None:
    data = torch.utils.data.TensorDataset(torch.rand(512, 1) * 2 - 1)
    trainer = lightning.Trainer(
        max_epochs=5,
        logger=TensorBoardLogger(folder, name="sine"),
        log_every_n_steps=1,
        accelerator="cpu",
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Regression(), torch.utils.data.DataLoader(data, batch_size=32))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/lightning")
