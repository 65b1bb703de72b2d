from .game import Alternatives as Alternatives
from .game import Game as Game
from .game import Objective as Objective
from .game import Rows as Rows
from .mechanism import Mechanism as Mechanism
from .mechanism import Policy as Policy

__all__ = ["Alternatives", "Game", "Mechanism", "Objective", "Policy", "Rows"]
