"""The boundary of the package: arguments of public functions are checked against the annotations, here for all."""

from __future__ import annotations

import errno
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import wraps
from numbers import Real
from pkgutil import resolve_name
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from hideseek.errors import HideseekError, OutputError, ParameterError, broken_rule
from hideseek.util.limits import refuse_large_array

Target = TypeVar("Target", bound=Callable[..., Any])
Fits = Callable[[Any], bool]
Rule = tuple[Fits, str]  # a test of a value, and the same rule in words

ARRAY_LIKE = set(get_args(npt.ArrayLike))
SEVERAL = "a sequence"
LONGEST = 10**7  # values of a sequence; each one is checked
SHORT = f"an array, or at most {LONGEST} values"
CONSTRUCTORS = ("__init__", "__new__")
# names in annotations whose modules are imported only where they are used
DEFERRED = {
    "pd": "pandas",
    "sparse": "scipy.sparse",
    "Axes": "matplotlib.axes:Axes",
    "MapPage": "hideseek.maps.page:MapPage",
}
NO_NAME = "embedded null byte"  # Python's message about a name that no file can have


def checked(target: Target) -> Target:
    """Check the types of a function's arguments at every call, before the function runs.

    Of a class, the constructor and all public methods are checked.

    >>> @checked
    ... def twice(number: int) -> int:
    ...     return 2 * number
    >>> twice(2)
    4
    >>> twice("2")
    Traceback (most recent call last):
    hideseek.errors.ParameterError: The 'number' parameter of twice must be an integer. Got str instead.
    """
    if not isinstance(target, type):
        return cast("Target", checking(target))
    lists = hasattr(target, "__post_init__")  # such a class makes arrays from lists itself
    for name, member in list(vars(target).items()):
        if name in CONSTRUCTORS or not name.startswith("_"):
            if isinstance(member, classmethod):
                setattr(target, name, classmethod(checking(member.__func__)))
            elif isinstance(member, staticmethod):
                setattr(target, name, staticmethod(checking(member.__func__)))
            elif isinstance(member, types.FunctionType):
                setattr(target, name, checking(member, lists and name == "__init__"))
    return target


def checking(function: Callable[..., Any], lists: bool = False) -> Callable[..., Any]:
    """The function with the check before it. An error of the operating system becomes an OutputError.

    ``lists`` says whether a list may be given for an array.
    """
    rules: dict[str, Rule] = {}
    owner = owner_of(function)

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if not rules:  # made at the first call, when all names in annotations are defined
            rules.update(rules_of(function, lists))
        for name, value in (*zip(rules, arguments, strict=False), *named.items()):
            if name in rules:
                refuse_large_array(value, name, owner)
                if not rules[name][0](value):
                    raise refused(owner, name, rules[name][1], value)
        try:
            return function(*arguments, **named)
        except (OSError, ValueError) as error:
            if isinstance(error, HideseekError):
                raise
            if isinstance(error, OSError) and error.errno is not None:  # without a number it is not the system's
                raise OutputError(error.errno, error.strerror, error.filename) from error
            if str(error) == NO_NAME or isinstance(error, UnicodeEncodeError):
                raise OutputError(errno.EINVAL, NO_NAME) from error
            raise

    return call


def refused(owner: str, parameter: str, rule: str, value: object) -> ParameterError:
    """The error for a wrong argument. It names the type and never the value, which may be a true location."""
    got = "one that is too large" if type(value) is int and abs(value) >= 2**63 else type(value).__name__
    if rule.startswith(SEVERAL) and isinstance(value, list | tuple) and value:
        got += f" of {' and '.join(sorted({type(one).__name__ for one in value}))}"
    if isinstance(value, np.ndarray):
        got += f" of {value.dtype} and the shape {value.shape}"
    elif isinstance(value, Sequence) and not is_countable(value):
        got += f" of {length_of(value)} values, more than the {LONGEST} that are looked at"
    return broken_rule(parameter, owner, rule, got)


def owner_of(function: Callable[..., Any]) -> str:
    """The name by which errors call a function; a constructor has that of its class."""
    whole, _, name = function.__qualname__.rpartition(".")
    return whole if name in CONSTRUCTORS else function.__qualname__


def length_of(value: Sequence[Any]) -> str:
    """The length as text. Python cannot give a length above ``sys.maxsize``."""
    try:
        return str(len(value))
    except OverflowError:
        return f"over {sys.maxsize}"


def rules_of(function: Callable[..., Any], lists: bool) -> dict[str, Rule]:
    """The rule of each parameter, in the order of the signature."""
    hints = get_type_hints(function, localns=cast("dict[str, Any]", DeferredNames()))
    names = inspect.signature(function).parameters
    return {name: rule_of(hints[name], lists) if name in hints else (anything, "") for name in names}


class DeferredNames(dict[str, Any]):
    """Resolves names in annotations that their module imports for type checkers only."""

    def __missing__(self, name: str) -> Any:
        return resolve_name(DEFERRED[name])  # a KeyError leaves the name to the module itself


def anything(_: object) -> bool:
    """No rule here: the function checks the value itself."""
    return True


def rule_of(annotation: Any, lists: bool) -> Rule:
    """The rule for values of an annotated type. A type that is not known here has no rule."""
    kind, inner = get_origin(annotation) or annotation, get_args(annotation)
    if kind in (Union, types.UnionType):
        return one_of_several(inner, lists)
    if kind is Literal:
        return (lambda value: isinstance(value, str) and value in inner), f"one of {', '.join(map(repr, inner))}"
    if lists and (kind is np.ndarray or is_sparse_type(kind)):
        return (is_array_like if kind is np.ndarray else is_matrix_like), CHECKS[np.ndarray][1]
    if kind is Callable and inner and isinstance(inner[0], list):
        return (lambda value: takes(value, len(inner[0]))), f"a function of {len(inner[0])}"
    known = CHECKS.get(annotation) or CHECKS.get(kind)
    if known:
        return known
    if kind in (tuple, Sequence, Iterable):
        return several(kind, inner, lists)
    if kind is Mapping:
        (key, keys), (content, contents) = (rule_of(one, lists) for one in inner)
        return (
            lambda value: isinstance(value, Mapping) and all(map(key, value)) and all(map(content, value.values())),
            f"a mapping from {keys} to {contents}",
        )
    if getattr(kind, "_is_protocol", False):
        names = [name for name in vars(kind) if not name.startswith("_")]
        # the type is asked, as it may take long to evaluate a property of the value
        return lambda value: all(hasattr(type(value), name) or name in fields(value) for name in names), named(kind)
    if isinstance(kind, type) and issubclass(kind, StrEnum):  # the function checks the name itself
        return CHECKS[str][0], f"one of {', '.join(map(repr, map(str, kind)))}"
    if isinstance(kind, type):
        return (lambda value: isinstance(value, kind)), named(kind)
    return anything, ""


def named(kind: type) -> str:
    """The name of a type with its article, and with its package where that is not hideseek or Python."""
    package = kind.__module__.partition(".")[0]
    own = kind.__module__.startswith("hideseek") or package in sys.stdlib_module_names
    name = kind.__name__ if own else f"{package} {kind.__name__}"
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def fields(value: object) -> Mapping[str, object]:
    """The attributes of the object itself, without those of its type."""
    return getattr(value, "__dict__", {})


def one_of_several(annotations: Sequence[Any], lists: bool) -> Rule:
    """The rule of a union: a value must fit one of its members. An array-like is left to numpy."""
    if set(annotations) >= ARRAY_LIKE:
        return (lambda value: not isinstance(value, Sequence) or is_countable(value)), SHORT
    rules = [rule_of(one, lists) for one in annotations]
    if any(rule is CHECKS[os.PathLike] for rule in rules):
        rules = [rule for rule in rules if rule is not CHECKS[str]]
    fit, (*first, last) = [fits for fits, _ in rules], [words for _, words in rules]
    return (lambda value: any(fits(value) for fits in fit)), f"{', '.join(first)} or {last}" if first else last


def several(kind: Any, inner: Sequence[Any], lists: bool) -> Rule:
    """The rule of a sequence or an iterable. The values of an iterator are not checked: that would use them up."""
    rules = [rule_of(one, lists) for one in inner if one is not Ellipsis]
    every = kind is not tuple or Ellipsis in inner

    def fit(value: object) -> bool:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable) or is_sparse(value):
            return False
        if hasattr(value, "__array__") and not isinstance(value, np.ndarray):  # a masked array stays masked
            value = np.asarray(value)
        if not isinstance(value, Sequence | np.ndarray):
            return kind is Iterable
        if not is_countable(value):
            return False
        if every:
            return all(map(rules[0][0], value))
        return len(value) == len(rules) and all(fits(one) for (fits, _), one in zip(rules, value, strict=True))

    words = dict.fromkeys(words for _, words in rules)
    return fit, f"{SEVERAL}{'' if every else f' of {len(rules)}'} (each {' or '.join(words)})"


def is_countable(value: Sequence[Any] | npt.NDArray[Any]) -> bool:
    """Whether it has a length, of at most ``LONGEST``. Some have no length, some one that Python cannot give."""
    try:
        return len(value) <= LONGEST
    except (TypeError, OverflowError):
        return False


def is_integer(value: object) -> bool:
    """Whether it is an integer of Python or numpy that fits in 64 bits."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and -(2**63) <= int(value) < 2**63


def is_number(value: object) -> bool:
    """Whether it is a real number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real | np.floating | np.integer):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def is_array(value: object, kinds: str = "biuf") -> bool:
    """Whether it is a numpy array of numbers."""
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds


def is_array_like(value: object) -> bool:
    """Whether numpy can make an array of numbers from it."""
    if is_sparse(value):
        return False
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different length
        return False
    return array.ndim > 0 and array.dtype.kind in "biuf"


def is_matrix_like(value: object) -> bool:
    """Whether it is a sparse matrix, or numpy can make an array of numbers from it."""
    return is_sparse(value) or is_array_like(value)


def is_sparse(value: object) -> bool:
    """Whether it is a sparse matrix of scipy. If scipy is not loaded, there are none."""
    return "scipy.sparse" in sys.modules and bool(sys.modules["scipy.sparse"].issparse(value))


def is_sparse_type(kind: object) -> bool:
    """Whether an annotation names a sparse matrix of scipy."""
    return getattr(kind, "__module__", "").startswith("scipy.sparse")


def takes(value: object, count: int) -> bool:
    """Whether it can be called with ``count`` arguments. Built-in functions without a signature are accepted."""
    if not callable(value):
        return False
    try:
        inspect.signature(value).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        pass
    return True


CHECKS: dict[Any, Rule] = {
    bool: ((lambda value: isinstance(value, bool | np.bool_)), "True or False"),
    int: (is_integer, "an integer"),
    float: (is_number, "a number"),
    str: ((lambda value: isinstance(value, str)), "text"),
    type(None): ((lambda value: value is None), "None"),
    os.PathLike: ((lambda value: isinstance(value, str | os.PathLike)), "the path of a file"),
    Callable: (callable, "a function"),
    np.ndarray: (is_array, "an array of numbers"),
    npt.NDArray[np.int64]: ((lambda value: is_array(value, "iu")), "an array of whole numbers"),
    npt.NDArray[np.bool_]: ((lambda value: is_array(value, "b")), "an array of True and False"),
}
