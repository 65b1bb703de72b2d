"""Planners on one scale: the same people and budgets, what each planner keeps, and what nothing exceeds."""

from hideseek.study.run import Mean, Row, Study, study

__all__ = ["Mean", "Row", "Study", "study"]
