from .game import Alternatives as Alternatives
from .game import Game as Game
from .game import LinearRows as LinearRows
from .game import Objective as Objective
from .mechanism import Mechanism as Mechanism
from .mechanism import Policy as Policy

__all__ = ["Alternatives", "Game", "LinearRows", "Mechanism", "Objective", "Policy"]
