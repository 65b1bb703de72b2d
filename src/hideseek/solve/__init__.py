"""Solving games: closed forms, the double oracle, the full program, and the certificate over all of them."""

from hideseek.solve.certificate import Answer, Certificate, certify
from hideseek.solve.curve import Curve, trade_off
from hideseek.solve.preference import prefer
from hideseek.solve.solution import Method, Solution, Status, solve
from hideseek.solve.worst_case import solve_worst_case

__all__ = [
    "Answer",
    "Certificate",
    "Curve",
    "Method",
    "Solution",
    "Status",
    "certify",
    "prefer",
    "solve",
    "solve_worst_case",
    "trade_off",
]
