"""Solving games: closed forms, the double oracle, the full program, and the certificate over all of them."""

from hideseek.solve.certificate import Answer, Certificate, certify
from hideseek.solve.curve import Curve, trade_off
from hideseek.solve.solution import Method, Solution, Status, solve

__all__ = ["Answer", "Certificate", "Curve", "Method", "Solution", "Status", "certify", "solve", "trade_off"]
