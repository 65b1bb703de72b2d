"""Results of experiments, small and made by hand."""

from __future__ import annotations

from hideseek.adversary import Estimate
from hideseek.experiments import Comparison, Study
from hideseek.experiments.comparison import ComparisonRow
from hideseek.experiments.planner_study import StudyRow
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
