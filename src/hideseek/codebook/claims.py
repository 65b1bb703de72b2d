"""What a codebook claims: of every stage, and of the run of all of them."""

from __future__ import annotations

import msgspec

from hideseek.codebook.stage import Worth
from hideseek.errors import CodebookError
from hideseek.storage.documents import Amount
from hideseek.storage.sealed_file import Count
from hideseek.util.choices import ACCESS
from hideseek.util.display import html_table

TINY = 1e-12  # a loss that is none
AGREE = 1e-9  # numbers of the certificate, stored and computed again


class Summary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stage in five numbers: privacy on average and after the worst history, its bound, and the loss likewise."""

    privacy: Amount
    worst_privacy: Amount
    bound: Amount
    quality_loss: Amount
    worst_loss: Amount


class GapCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The access number ``access`` after a gap of ``gap`` accesses that began when ``after`` accesses had passed."""

    after: Count
    gap: Count
    access: Count


class Deployed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The claims of a run from the first access on: averages over ``accesses``, and the worst access and history.

    A history is what the codebook remembers of the releases before an access. These are the designer's claims until
    :func:`hideseek.verify` has computed them again.

    ``settled``: by then neither the joint distribution nor that after any history changed any more, so that nothing new
    follows. ``gap_privacy`` is the least expected privacy right after a gap that begins after any of these accesses,
    ``gap_worst_loss`` the worst loss there and later, and ``gap_worst_case`` where it occurs (None in a file of 0.1.0,
    which looked at gaps after the first accesses and in the settled run only). ``second_privacy`` is that of the second
    access, ``plain_second_privacy`` the most it could be if the first one took the solver's own of the optimal tables.
    ``worst_average_loss`` is the largest loss of an access on average over its histories, where the budget limits that.
    """

    accesses: Count
    settled: bool
    privacy: Amount
    worst_privacy: Amount
    quality_loss: Amount
    worst_loss: Amount
    gap_privacy: Amount | None
    gap_worst_loss: Amount | None
    second_privacy: Amount
    plain_second_privacy: Amount
    gap_worst_case: GapCase | None = None
    worst_average_loss: Amount | None = None

    @property
    def window(self) -> float:
        """The privacy, by the name of its adversary: one with a window, who remembers what the codebook does."""
        return self.privacy

    @property
    def worst_window(self) -> float:
        """The least privacy at an access after a history, by the same name."""
        return self.worst_privacy

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={getattr(self, name):.6g}" for name in ("privacy", "quality_loss", "worst_loss"))
        return f"Deployed(accesses={self.accesses}, settled={self.settled}, {facts})"

    def _repr_html_(self) -> str:
        return html_table("A codebook as deployed", msgspec.structs.asdict(self))


def summary(worth: Worth) -> Summary:
    """Five numbers of a stage."""
    return Summary(
        privacy=float(worth.weight @ worth.privacy),
        worst_privacy=float(worth.privacy.min()),
        bound=float(worth.weight @ worth.bound),
        quality_loss=float(worth.weight @ worth.loss),
        worst_loss=float(worth.loss.max()),
    )


def check_certificate(claimed: Summary, found: Summary, budget: float, over: str) -> None:
    """Refuse a certificate that does not hold for the tables, or tables that lose more than a budget over this."""
    for name in Summary.__struct_fields__:
        said, is_so = getattr(claimed, name), getattr(found, name)
        if not abs(said - is_so) <= AGREE * said + TINY:  # what is said is finite
            raise CodebookError(f"Its certificate says {name} {said:.9g}; the tables give {is_so:.9g}.")
    refuse_above("Its tables lose", found.worst_loss if over == ACCESS else found.quality_loss, budget, over)


def refuse_above(what: str, loss: float, budget: float, over: str) -> None:
    """Refuse the largest loss that a budget over this limits, where it is above it."""
    if not loss <= budget * (1 + AGREE) + TINY:
        where = "after some history" if over == ACCESS else "on average over the histories of an access"
        raise CodebookError(f"{what} {loss:.9g} {where}; the budget is {budget:.9g}.")
