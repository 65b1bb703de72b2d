from .alternatives import Alternatives as Alternatives
from .alternatives import Objective as Objective
from .game import Game as Game
from .linear_rows import LinearRows as LinearRows
from .mechanism import Mechanism as Mechanism
from .mechanism import Policy as Policy

__all__ = ["Alternatives", "Game", "LinearRows", "Mechanism", "Objective", "Policy"]
