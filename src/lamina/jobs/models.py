"""Writers on the network: endpoints that speak OpenAI's protocol or Anthropic's, through pydantic-ai."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from pydantic_ai import Agent, ModelSettings, StructuredDict, UsageLimits
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from lamina.errors import ConfigError, Unavailable
from lamina.jobs.writer import Asking, Cost, Written
from lamina.records import dataclass


@dataclass(frozen=True, slots=True)
class NetworkWriter:
    """One model of one provider; the key is read when it is asked, and appears nowhere else."""

    protocol: str  #: openai or anthropic
    url: str
    model: str
    key_variable: str
    environment: Mapping[str, str]

    def write(self, asking: Asking) -> Written:
        """One answer in the asked form, at temperature 0, in one request; Unavailable when there is none."""
        agent = Agent(
            self._model(),
            output_type=StructuredDict(dict(asking.schema), name="answer"),
            instructions=asking.instructions,
            model_settings=ModelSettings(
                temperature=0.0, max_tokens=asking.max_tokens, timeout=asking.timeout_s
            ),
            retries=0,
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an unknown price or setting is no concern of the reader
                result = agent.run_sync(asking.material, usage_limits=UsageLimits(request_limit=1))
        except (AgentRunError, UserError, OSError, TimeoutError) as error:
            raise Unavailable(
                f"The language model did not answer ({type(error).__name__}).",
                code="writer_unavailable",
                hint="Check `writer` and its key.",
                retryable=True,
            ) from error
        used = result.usage
        tokens = {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
        return Written(dict(result.output), Cost(calls=1, usd=None, **tokens))

    def _model(self) -> Model:
        key = self.environment.get(self.key_variable, "")
        if not key:
            raise ConfigError(
                f"The environment variable {self.key_variable} has no key for the language model.",
                code="writer_key_missing",
                hint="Set it, or set `writer` to none.",
            )
        if self.protocol == "anthropic":
            return AnthropicModel(self.model, provider=AnthropicProvider(api_key=key, base_url=self.url))
        return OpenAIChatModel(self.model, provider=OpenAIProvider(base_url=self.url, api_key=key))
