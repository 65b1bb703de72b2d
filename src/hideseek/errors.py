"""What can go wrong, as one tree.

::

    HideseekError
    ├── ParameterError (also a ValueError): a value breaks a rule
    │   ├── BudgetError: the budget lies below the least possible loss
    │   ├── ReducibleError: the chain has places that cannot be left or reached
    │   └── SizeError: the problem would not fit in memory, or would take more than a week
    ├── TraceError (also a ValueError): a file of traces cannot be used
    │   └── UnusableFileError: one file of a data set gives no rows
    ├── CodebookError (also a ValueError): a codebook cannot be trusted
    ├── PlanError (also a ValueError): a stored plan cannot be trusted, or belongs to another game
    ├── PlaybookError (also a ValueError): a playbook cannot be used
    ├── StateError: a device's state cannot be used, and nothing is exposed
    ├── EngineError: the worker backend of a fleet is unreachable or unusable
    ├── OutputError (also an OSError): results cannot be written
    ├── MissingExtraError (also an ImportError): an optional package is not installed
    └── SolverError: a solver gave no usable answer
        └── CertificateError: an answer from which no certificate can be made

TraceWarning (a UserWarning): some rows or files of an input could not be read; the rest was
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Self

__all__ = [
    "BudgetError",
    "CertificateError",
    "CodebookError",
    "EngineError",
    "HideseekError",
    "MissingExtraError",
    "OutputError",
    "ParameterError",
    "PlanError",
    "PlaybookError",
    "ReducibleError",
    "SizeError",
    "SolverError",
    "StateError",
    "TraceError",
    "TraceWarning",
    "UnusableFileError",
]

LONGEST_VALUE = 200  # characters that a message repeats


class HideseekError(Exception):
    """Base of every error that hideseek raises on purpose.

    Attributes
    ----------
    parameter, owner : str
        The parameter whose value broke a rule (or several, separated by commas), and the function or class that it
        belongs to. Both are empty where no rule was broken; a SizeError names the parameter only.
    rule : str
        What the value must be.
    value : str
        The value that broke the rule, as text, shortened where it is long. It may be a true location.
    hint : str
        What to do about it, where there is something to do.
    """

    parameter: str = ""
    owner: str = ""
    rule: str = ""
    value: str = ""
    hint: str = ""

    @classmethod
    def breaking(cls, parameter: str, owner: str, rule: str, value: object, hint: str = "", **more: Any) -> Self:
        """An error of this kind for a broken rule; ``more`` are the other arguments of its constructor.

        >>> BudgetError.breaking("budget", "Game", "at least 3", 1.0, least=3.0).value
        '1.0'
        """
        text = str(value)
        if len(text) > LONGEST_VALUE:
            text = f"{text[:LONGEST_VALUE]}... ({len(text)} characters)"
        got = f"Got {text} instead."
        error = cls(" ".join(filter(None, (requirement(parameter, owner, rule), got, hint))), **more)
        return error.filled(parameter=parameter, owner=owner, rule=rule, value=text, hint=hint)

    def filled(self, **fields: str) -> Self:
        """This error with some of its fields set; its sentence stays."""
        vars(self).update(fields)
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error that carries more than a message come back from another process as it was."""
        return rebuilt, (type(self), self.args, vars(self))


def rebuilt(kind: type[HideseekError], args: tuple[object, ...], more: dict[str, object]) -> HideseekError:
    """An error of this kind, without asking its constructor.

    >>> import pickle
    >>> pickle.loads(pickle.dumps(BudgetError("too small", least=3.0))).least
    3.0
    """
    error = kind.__new__(kind, *args)
    vars(error).update(more)
    return error


class ParameterError(HideseekError, ValueError):
    """A value breaks a rule: the message and the fields name the parameter, the rule, the value and the way out."""


class BudgetError(ParameterError):
    """The budget lies below the least expected quality loss that any mechanism can reach."""

    def __init__(self, message: str, least: float) -> None:
        super().__init__(message)
        self.least = least


class ReducibleError(ParameterError):
    """The chain does not return to where it was: its long-run distribution would be 0 at most places."""

    def __init__(self, message: str, places: tuple[int, ...]) -> None:
        super().__init__(message)
        self.places = places


class SizeError(ParameterError):
    """The problem would not fit in memory, or take too long; ``needed`` is the estimate in bytes, or in seconds."""

    def __init__(self, message: str, needed: float) -> None:
        super().__init__(message)
        self.needed = needed


class TraceError(HideseekError, ValueError):
    """A file of traces is missing, of an unknown format, or has nothing readable in it."""


class UnusableFileError(TraceError):
    """A file gives no rows; it says why without showing what stands in it, which may be true locations."""


class TraceWarning(UserWarning):
    """Some rows or files of an input could not be read; the rest was."""


class CodebookError(HideseekError, ValueError):
    """A codebook is damaged, of another version, or its certificate does not hold for its tables."""


class PlanError(HideseekError, ValueError):
    """A stored plan is damaged, of another version, or a planner belongs to another game: make a new plan."""


class PlaybookError(HideseekError, ValueError):
    """A playbook is damaged, of another version, or its fields contradict each other: make a new one."""


class StateError(HideseekError):
    """A device's state is damaged, of another codebook, open to others, or cannot be written: nothing is exposed."""


class EngineError(HideseekError):
    """The worker backend of a fleet is unreachable, has no workers, or was lost; finished work is kept."""


class OutputError(HideseekError, OSError):
    """Results, or temporary files on the way to them, cannot be written."""


class MissingExtraError(HideseekError, ImportError):
    """An optional package is needed and not installed."""


class SolverError(HideseekError):
    """A solver gave no usable answer."""


class CertificateError(SolverError):
    """An answer from which no certificate can be made."""


def broken_rule(parameter: str, owner: str, rule: str, value: object, hint: str = "") -> ParameterError:
    """Word a broken rule the same way everywhere.

    >>> str(broken_rule("budget", "solve", "a finite number >= 0", float("nan")))
    "The 'budget' parameter of solve must be a finite number >= 0. Got nan instead."
    """
    return ParameterError.breaking(parameter, owner, rule, value, hint)


def requirement(parameter: str, owner: str, rule: str) -> str:
    """The sentence that states a rule."""
    return f"The '{parameter}' parameter of {owner} must be {rule}."


def without_value(error: HideseekError) -> str:
    """The message of an error without the value that broke the rule: that may be a true location.

    >>> without_value(broken_rule("traces", "fit", "in two places", "only place 7", "Use smaller ones."))
    "The 'traces' parameter of fit must be in two places. Use smaller ones."
    """
    if not error.owner:  # its sentence is not that of a broken rule, and repeats no value of a caller's
        return str(error)
    stated = requirement(error.parameter, error.owner, error.rule)
    return f"{stated} {error.hint}" if error.hint else stated
