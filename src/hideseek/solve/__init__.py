"""Solving games: closed forms, double oracle, interior point, full program, and the certificate over all of them."""

from hideseek.solve.certificate import Answer, Certificate, certify
from hideseek.solve.curve import Curve, trade_off
from hideseek.solve.interior_point import LeastLoss, least_loss
from hideseek.solve.preference import prefer
from hideseek.solve.solution import Method, Solution, Status, solve
from hideseek.solve.worst_case import solve_worst_case

__all__ = [
    "Answer",
    "Certificate",
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
