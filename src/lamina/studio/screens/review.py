"""Review: everything that waits for the person's word, answered with a key, a click, or many at once."""

from __future__ import annotations

from starlette.responses import Response

from lamina.errors import LaminaError, NotFound
from lamina.lifecycle.review import DISTINCT, Review, ReviewItem
from lamina.model import Outcome, Receipt
from lamina.studio.visit import StudioPage, Visit

PATH = "/review"
_LEARNT = "learning."


def review(visit: Visit) -> StudioPage:
    """The queue."""
    found: Review = visit.ask_once("review")
    decided = [one for one in visit.ask("pending", decided=True) if one.status != "proposed"][-10:]
    return StudioPage(
        template="review.html", title="review", data={"review": found, "decided": decided[::-1]}
    )


def decide(visit: Visit) -> Response:
    """Yes or no to one or to many; with other words, those are kept and the guess is not."""
    queue: Review = visit.ask("review")
    known = {one.id: one for one in queue.items}
    visit.session.answers.clear()
    answer, done = visit.field("answer"), 0
    for name in visit.fields("id"):
        item = known.get(name)
        try:
            if item is None:
                raise NotFound(visit.words("decided_elsewhere"))
            _settle(visit, item, answer)
            done += 1
        except LaminaError as error:  # the others of a batch are still to be answered
            visit.tell(f"{error.message} {error.hint}".strip(), sort="problem")
    if done:
        visit.tell(visit.words(f"did.{answer}", count=done))
    return visit.back_to(PATH)


def _settle(visit: Visit, item: ReviewItem, answer: str) -> None:
    if item.key:
        _decide_guess(visit, item, answer)
    elif answer == "no":  # both stand, and nobody is asked about these two again
        visit.ask("link", memory_id=item.other_id, other=item.id, type=DISTINCT)
    elif item.sort == "double":
        _told(visit.ask("merge", ids=(item.other_id, item.id), reason=visit.words("by_hand")))
    else:
        _told(visit.ask("forget", memory_id=item.other_id, reason=visit.words("by_hand")))


def _decide_guess(visit: Visit, item: ReviewItem, answer: str) -> None:
    text = visit.field("text").strip()
    if answer == "no":
        visit.ask("reject", key=item.key)
    elif text and text != item.text:
        visit.ask("reject", key=item.key)
        if item.key.startswith(_LEARNT):
            _told(visit.ask("learn", text=text, resolution="supersede").receipt)
        else:
            _told(visit.ask("remember", text=text, key=item.key, reason=visit.words("by_hand")))
    else:
        for receipt in visit.ask("confirm", key=item.key):
            _told(receipt)


def _told(receipt: Receipt) -> None:
    if receipt.decision is Outcome.DENIED:
        raise LaminaError(" ".join(receipt.warnings) or receipt.code, code=receipt.code)
