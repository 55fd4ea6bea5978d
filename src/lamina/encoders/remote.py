"""Embeddings from a server that speaks OpenAI's protocol, on this machine or elsewhere."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from lamina.encoders.port import UNCALIBRATED, Calibration, Vectors, unit
from lamina.errors import ConfigError, Unauthenticated, Unavailable
from lamina.records import dataclass

_RETRY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LONGEST_ANSWER = 256 * 1024 * 1024


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would take the key and the texts to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_StayHere)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where to ask, for what, and how patiently."""

    url: str  #: up to and without `/embeddings`
    model: str
    key_variable: str = "OPENAI_API_KEY"  #: the environment variable that holds the key
    timeout_s: float = 30.0
    batch: int = 64
    attempts: int = 4
    first_pause_s: float = 0.5  #: doubled after every failed attempt


class RemoteEncoder:
    """Asks an endpoint in batches; what fails for a moment is tried again, what fails for good says why."""

    def __init__(
        self, endpoint: Endpoint, environment: Mapping[str, str], pause: Callable[[float], None]
    ) -> None:
        parts = urlsplit(endpoint.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise ConfigError(
                "The embedder's address is not an http or https URL.",
                code="encoder_address",
                hint="Give it as https://host/v1, with the key in the environment and not in the address.",
            )
        self._endpoint = endpoint
        self._key = environment.get(endpoint.key_variable, "")
        self._pause = pause

    @property
    def embedder_id(self) -> str:
        return f"remote-{urlsplit(self._endpoint.url).hostname}-{self._endpoint.model}-{self.dimension}"

    @cached_property
    def dimension(self) -> int:
        return int(self._batch(["dimension"]).shape[1])

    @property
    def calibration(self) -> Calibration:
        return UNCALIBRATED

    def embed(self, texts: Sequence[str]) -> Vectors:
        size = self._endpoint.batch
        parts = [self._batch(texts[at : at + size]) for at in range(0, len(texts), size)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), dtype=np.float32)

    def reach(self, text: str) -> float:
        """One: which languages it understands is for whoever chose it to know."""
        return 1.0 if text.strip() else 0.0

    def _batch(self, texts: Sequence[str]) -> Vectors:
        # An empty input is an error to most servers.
        body = {"model": self._endpoint.model, "input": [text or " " for text in texts]}
        answer = self._asked(json.dumps(body).encode())
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise self._broken("answered something that is not a list of embeddings") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise self._broken(f"sent {len(rows)} embeddings for {len(texts)} texts, or broken ones")
        return unit(vectors)

    def _asked(self, body: bytes) -> Any:
        pause = self._endpoint.first_pause_s
        for attempt in range(1, self._endpoint.attempts + 1):
            try:
                return self._once(body)
            except Unavailable as error:
                if not error.retryable or attempt == self._endpoint.attempts:
                    raise
            self._pause(pause)
            pause *= 2
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _once(self, body: bytes) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked when the encoder was made
            f"{self._endpoint.url.rstrip('/')}/embeddings", body, headers
        )
        try:
            with _OPENER.open(request, timeout=self._endpoint.timeout_s) as answer:
                return json.loads(answer.read(_LONGEST_ANSWER))
        except urllib.error.HTTPError as error:
            error.close()
            raise self._refused(error.code) from error
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(f"could not be reached ({type(error).__name__})", retryable=True) from error
        except ValueError as error:
            raise self._broken("answered something that is not JSON") from error

    def _refused(self, status: int) -> Unauthenticated | Unavailable:
        if status in {401, 403}:
            return Unauthenticated(
                f"The embedding server refused the key ({status}).",
                code="encoder_key",
                hint=f"Put a valid key into the environment variable {self._endpoint.key_variable}.",
            )
        return self._broken(f"answered with status {status}", retryable=status in _RETRY)

    def _broken(self, what: str, *, retryable: bool = False) -> Unavailable:
        return Unavailable(
            f"The embedding server at {urlsplit(self._endpoint.url).hostname} {what}.",
            code="encoder_unavailable",
            hint="Check its address, the model's name and that it is up; nothing was stored.",
            retryable=retryable,
        )
