from .certificate import Certificate as Certificate
from .certificate import certify as certify
from .claim import Claim as Claim
from .curve import Curve as Curve
from .curve import trade_off as trade_off
from .dispatch import solve as solve
from .interior_point import LeastLoss as LeastLoss
from .interior_point import least_loss as least_loss
from .solution import Method as Method
from .solution import Solution as Solution
from .solution import Status as Status
from .tie_break import prefer as prefer
from .worst_case import solve_worst_case as solve_worst_case

__all__ = [
    "Certificate",
    "Claim",
    "Curve",
    "LeastLoss",
    "Method",
    "Solution",
    "Status",
    "certify",
    "least_loss",
    "prefer",
    "solve",
    "solve_worst_case",
    "trade_off",
]
