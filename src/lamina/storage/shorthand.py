"""What nearly every event and every memory says in the same words, kept as one character each.

Canonical JSON has no control characters: each of them stands for a piece of it, wherever it occurs. What
people said stays as it is, so that what is forgotten can be looked for in the files.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Only ever longer: what is stored says `n` for the piece at that place. At most 27.
_PIECES = (
    '{"ai_profile":"',
    'assistant","reason":"interaction_recorded","session":"',
    '","trace_version":"2024-10-01","type":"memory_',
    'write","written":[{"created_at":',
    ',"id":"',
    ',"importance":',
    ',"kind":"',
    '","meta":{"authority":"',
    '","authority_reason":"source:',
    '","dedup_key":"',
    '","event_type":"',
    '"importance_reason":["event:',
    '","source:',
    '"],"owner":"',
    '","phase_id":"phase-',
    '"phase_name":null,"phase_reason":"auto","phase_started_at":',
    '"policy_tags":["allowed_by:privacy","allowed_by:write_policy:normal",'
    '"allowed_by:policy_event_types","allowed_by:promotion_rule"]',
    '"},"scope":"session","source":"',
    '","text":"',
    '"}]}',
    '{"action":"write",',
    '"ai_profile":"assistant","allowed":true,"from_space":"',
    '","policy_snapshot":"policy:',
    '","reason":"allowed","session":"',
    '","to_space":"',
    'border_check"}',
)
_SIGNS = [chr(code) for code in range(1, 32) if chr(code) not in "\t\n\r"]
EVENT = tuple(zip(_PIECES, _SIGNS, strict=False))
#: Of a memory's own JSON only what is whole: queries look for names in quotes in it.
MEMORY = tuple((piece, sign) for piece, sign in EVENT if piece.startswith('"policy_tags"'))
_WHOLE = {ord(sign): piece for piece, sign in EVENT}


def shortened(text: str, pieces: Sequence[tuple[str, str]] = EVENT) -> str:
    """Canonical JSON as it is kept."""
    for piece, sign in pieces:
        text = text.replace(piece, sign)
    return text


def whole(text: str) -> str:
    """What `shortened` was given; JSON that never was shortened as it is."""
    return text.translate(_WHOLE)
