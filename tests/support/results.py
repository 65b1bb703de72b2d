"""Results of experiments, small and made by hand."""

from __future__ import annotations

from hideseek.adversary import Estimate
from hideseek.experiments import Comparison, Study
from hideseek.experiments.comparison import ComparisonRow
from hideseek.experiments.planner_study_rows import StudyRow
from hideseek.metrics import hamming
from hideseek.planning import Outlook


def mechanism(name, error, loss=1.0):
    errors = [Estimate(share * error) for share in (1.0, 0.9, 0.8, 0.7)]
    return ComparisonRow(name, "Nobody 2000", "dial", 0.5, *errors, quality_loss=Estimate(loss), ceiling=2.0)


def planned(planner, kept):
    error = Estimate(2 * kept, (1.9 * kept, 2.1 * kept))
    share = Estimate(kept, (0.95 * kept, 1.05 * kept))
    return StudyRow("<ann>", 12, 0.2, planner, error, error, Estimate(0.1), 0.1, share, bound=1.8, ceiling=2.0)


COMPARISON = Comparison((mechanism("<b>best</b>", 1.5), mechanism("truth", 0.0, 0.0)), 1.0, 2.0, 3.0, 50, 200)
STUDY = Study((planned(Outlook.PLAIN, 0.3), planned(Outlook.FAR_SIGHTED, 0.8)), hamming(), hamming(), 300, 0)


def studied(user, budget, planner, reached, half=0.01, bound=0.9):
    error = Estimate(reached, (reached - half, reached + half))
    return StudyRow(user, 12, budget, planner, error, Estimate(reached / 2), Estimate(0.1), 0.1, error, bound, 1.0)


def made_up_study(*users):
    """A study of users who keep so much without and with planning."""
    rows = [
        studied(f"user {number}", 0.2, outlook, far if outlook is Outlook.FAR_SIGHTED else near)
        for number, (near, far) in enumerate(users)
        for outlook in Outlook
    ]
    return Study(tuple(rows), hamming(), hamming(), accesses=100, seed=0)
