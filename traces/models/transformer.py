"""A transformer's size from its layers, hidden width, vocabulary and sequence length."""

from __future__ import annotations

from dataclasses import dataclass

from traces.models.layers import ModelSize, fully_connected, normalisation, table

_FEED_FORWARD = 4  # its width over the hidden width (Vaswani et al. 2017)


@dataclass(frozen=True)
class Transformer:
    """An encoder or a decoder, trained on sequences of ``tokens``.

    positions, token_types: rows of their embedding tables.
    outer_norms: layer normalisations besides two in each layer.
    pooler: BERT's dense layer on the first token.
    predicts_tokens: a decoder multiplies every token with the (tied) token embeddings.
    """

    layers: int
    hidden: int
    vocabulary: int
    positions: int
    tokens: int
    token_types: int = 0
    outer_norms: int = 1
    pooler: bool = False
    predicts_tokens: bool = False

    @property
    def layer(self) -> ModelSize:
        """Query, key, value and output; tokens by tokens twice; feed-forward; two norms."""
        hidden, wide = self.hidden, self.hidden * _FEED_FORWARD
        scores_and_values = ModelSize(0, 2 * self.tokens**2 * hidden)
        return (
            fully_connected(hidden, hidden, self.tokens).times(4)
            + scores_and_values
            + fully_connected(hidden, wide, self.tokens)
            + fully_connected(wide, hidden, self.tokens)
            + normalisation(hidden).times(2)
        )

    @property
    def size(self) -> ModelSize:
        """The whole model."""
        found = self.layer.times(self.layers) + normalisation(self.hidden).times(self.outer_norms)
        found += table(self.vocabulary + self.positions + self.token_types, self.hidden)
        if self.pooler:
            found += fully_connected(self.hidden, self.hidden)
        if self.predicts_tokens:
            found += ModelSize(0, self.tokens * self.hidden * self.vocabulary)
        return found

    @property
    def numbers_between_layers(self) -> int:
        """Numbers of one sample that a layer hands to the next."""
        return self.tokens * self.hidden
