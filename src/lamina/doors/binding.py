"""Where a network surface may listen, and the names by which it lets itself be addressed."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from itertools import chain

from lamina.engine import Engine
from lamina.errors import ConfigError
from lamina.lifecycle.tokens import list_tokens

#: The label of the token that the owner's own machine makes for itself.
LOCAL_LABEL = "local"

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_binding(engine: Engine) -> None:
    """ConfigError (`bind_refused`) when others could reach us and nobody has made a token for them."""
    host, now = engine.config.host, engine.now()
    if is_loopback(host):
        return
    others = () if engine.tenants is None else map(engine.tenants.glance, engine.tenants.names())
    made = (token for one in chain((engine,), others) for token in list_tokens(one))
    if not any(
        one.label != LOCAL_LABEL
        and one.revoked_at is None
        and (one.expires_at is None or one.expires_at > now)
        for one in made
    ):
        raise ConfigError(
            f"{host or 'Every address'} can be reached from other machines, and there is no token for them.",
            code="bind_refused",
            hint="Run `lamina token create` first, or listen on 127.0.0.1.",
        )


def further_hosts(engine: Engine) -> list[str]:
    """The names that whoever runs the server vouches for, such as a proxy's."""
    return [name.strip() for name in engine.config.allowed_hosts.split(",") if name.strip()]


def host_headers(host: str, port: int) -> list[str]:
    """Every `Host` header that means us. Any other is a page that had its name point here.

    A server on every address answers to the machine's own name and addresses.
    """
    names = [*_LOOPBACK, host]
    if host in ("", "0.0.0.0", "::"):  # noqa: S104 compared, not listened on
        names = [*_LOOPBACK, socket.gethostname(), *_own_addresses()]
    headers = []
    for name in dict.fromkeys(name.lower() for name in names):
        bracketed = f"[{name}]" if ":" in name else name
        headers += [f"{bracketed}:{port}", *([bracketed] if port == 80 else [])]
    return headers


def _own_addresses() -> list[str]:
    found: list[str] = []
    with suppress(OSError):  # a machine that does not know its own name still has its loopback
        found = [str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)]
    return found
