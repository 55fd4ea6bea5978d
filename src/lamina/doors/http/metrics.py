"""What a server does, in numbers for whoever watches over it: never whose, and never what was said."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from lamina.engine import Engine
from lamina.errors import LaminaError

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The counts of one server since it started, and its store as it is when it is asked."""

    def __init__(self, engine: Engine) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._registry.register(_StoreCollector(engine))
        self._requests = Counter(
            "lamina_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "lamina_request_seconds",
            "How long answers took.",
            ("route",),
            registry=self._registry,
            buckets=_BUCKETS,
        )

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer; a route is one of ours or empty, so that nobody's words become a name here."""
        known = method if method in ("GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS") else "other"
        self._requests.labels(known, route or "none", str(status)).inc()
        self._seconds.labels(route or "none").observe(seconds)

    def page(self) -> bytes:
        """Everything, in the text form that Prometheus reads."""
        return generate_latest(self._registry)


class _StoreCollector(Collector):
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> list[GaugeMetricFamily]:
        try:
            size, up = self._engine.database.size_bytes(), 1
        except LaminaError:
            size, up = 0, 0
        tenants = self._engine.tenants
        return [
            GaugeMetricFamily(
                "lamina_tenants_open",
                "Stores of tenants that are open beside the server's own.",
                0 if tenants is None else len(tenants.open_now()),
            ),
            GaugeMetricFamily("lamina_store_up", "Whether the store answers.", up),
            GaugeMetricFamily("lamina_store_bytes", "How much room the store takes.", size),
        ]
