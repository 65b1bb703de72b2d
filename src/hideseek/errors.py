"""What can go wrong, as one tree.

::

    HideseekError
    ├── ParameterError (also a ValueError): a value breaks a rule
    │   ├── BudgetError: the budget lies below the least possible loss
    │   ├── ReducibleError: the chain has places that cannot be left or reached
    │   └── SizeError: the problem would not fit in memory, or take more than a week
    ├── TraceError (also a ValueError): a file of traces cannot be used
    ├── CodebookError (also a ValueError): a codebook cannot be trusted
    ├── PlanError (also a ValueError): a stored plan cannot be trusted, or is not of this game
    ├── StateError: a device's state cannot be used, and nothing is exposed
    ├── EngineError: who is to do the work of a fleet cannot be reached, or not be used
    ├── OutputError (also an OSError): results cannot be written
    ├── MissingExtraError (also an ImportError): an optional package is not installed
    └── SolverError: a solver gave no usable answer
        └── CertificateError: an answer from which no certificate can be made
"""

from __future__ import annotations

LONGEST_VALUE = 200  # characters that a message repeats


class HideseekError(Exception):
    """Base of every error that hideseek raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        """So that an error with more than a message comes back from another process as it was."""
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
    """A value breaks a rule; the message names the parameter, the rule, the value and the way out."""


class BudgetError(ParameterError):
    """The budget lies below the least expected quality loss that any mechanism can reach."""

    def __init__(self, message: str, least: float) -> None:
        super().__init__(message)
        self.least = least


class ReducibleError(ParameterError):
    """The chain does not return to where it was: its long-run law would forget most places."""

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


class CodebookError(HideseekError, ValueError):
    """A codebook is damaged, of another version, or its certificate does not hold for its tables."""


class PlanError(HideseekError, ValueError):
    """A stored plan is damaged, of another version, or a planner belongs to another game: plan anew."""


class StateError(HideseekError):
    """A device's state is damaged, of another codebook, open to others, or cannot be written: nothing is exposed."""


class EngineError(HideseekError):
    """The engine of a fleet cannot be reached, has nobody to work, or was lost; what is finished stays."""


class OutputError(HideseekError, OSError):
    """Results or what they need on the way cannot be written."""


class MissingExtraError(HideseekError, ImportError):
    """An optional package is needed and not installed."""


class SolverError(HideseekError):
    """A solver gave no usable answer."""


class CertificateError(SolverError):
    """An answer from which no certificate can be made."""


def broken_rule(parameter: str, owner: str, rule: str, got: object, way_out: str = "") -> ParameterError:
    """Word a broken rule the same way everywhere.

    >>> str(broken_rule("budget", "solve", "a finite number >= 0", float("nan")))
    "The 'budget' parameter of solve must be a finite number >= 0. Got nan instead."
    """
    return ParameterError(rule_text(parameter, owner, rule, got, way_out))


def rule_text(parameter: str, owner: str, rule: str, got: object, way_out: str = "") -> str:
    """The sentence of :func:`broken_rule`, for the errors that carry more than a message."""
    value = str(got)
    if len(value) > LONGEST_VALUE:
        value = f"{value[:LONGEST_VALUE]}... ({len(value)} characters)"
    text = f"The '{parameter}' parameter of {owner} must be {rule}. Got {value} instead."
    return f"{text} {way_out}" if way_out else text


def without_value(error: HideseekError) -> str:
    """What an error says, less the value that broke the rule: that may be a true location.

    >>> without_value(broken_rule("traces", "fit", "in two places", "only place 7", "Use smaller ones."))
    "The 'traces' parameter of fit must be in two places. Use smaller ones."
    """
    text, _, got = str(error).partition(" Got ")
    way_out = got.partition(" instead.")[2]
    return text + way_out
