"""What the encoder makes of the sentences, read once and kept beside a training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from lamina_encoder.reading import ReadingEncoder

from lamina.language.hearing import Hearing
from lamina.language.sorts import Wholes
from lamina.language.understanding import LONG, windows, words

#: So many texts are read before it is said how far it is.
_TOLD = 4000


class States:
    """An encoder that remembers: a training hears every sentence several times."""

    def __init__(self, kept: Path | None = None) -> None:
        self._model, self._kept = ReadingEncoder(), kept
        self._known: dict[str, Wholes] = {}
        if kept is not None and kept.exists():
            with np.load(kept) as file:
                if str(file["encoder"]) == self.embedder_id:
                    texts = file["texts"].tobytes().decode("utf-8").split("\0")
                    self._known = dict(zip(texts, file["rows"].astype(np.int64), strict=True))

    @property
    def embedder_id(self) -> str:
        return self._model.embedder_id

    def midway(self, texts: Sequence[str]) -> Wholes:
        self.read(texts)
        return np.stack([self._known[text] for text in texts])

    def read(self, texts: Iterable[str]) -> None:
        """Read what was not read yet, texts of a length together."""
        new = sorted({text for text in texts if text not in self._known}, key=lambda text: (len(text), text))
        for at in range(0, len(new), _TOLD):
            part = new[at : at + _TOLD]
            self._known |= zip(part, self._model.read(part)[1], strict=True)
            if len(new) > _TOLD:
                print(f"read {at + len(part)} of {len(new)}", flush=True)

    def keep(self) -> None:
        """Write down what was read, for the next training."""
        if self._kept is not None:
            texts = np.frombuffer("\0".join(self._known).encode("utf-8"), dtype=np.uint8)
            rows = np.stack(list(self._known.values())).astype(np.int16)
            np.savez(self._kept, encoder=np.array(self.embedder_id), texts=texts, rows=rows)


def stretches(hearing: Hearing) -> list[str]:
    """The texts in a message that a listener may have read: sentences, and clauses of long ones."""
    spans = [(one.start, one.end) for one in hearing.sentences]
    long = [one for one in hearing.sentences if one.end - one.start > LONG]
    spans += [span for one in long for span in windows(hearing, one)]
    return [words(hearing, *span) for span in spans]
