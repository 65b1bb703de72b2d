"""What a reproduction leaves in its folder: tables, figures, and one report that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from hideseek.experiments.report import Section, Table, html_report
from hideseek.experiments.reproduction.findings import Finding, Reproduction, compared, of_the_coin
from hideseek.experiments.reproduction.numbers import LAST
from hideseek.experiments.reproduction.robustness_study import SHARE, kept_of_claim
from hideseek.experiments.user_days import COVERED, steps_a_day
from hideseek.model.regions import Grid, Regions
from hideseek.plots.paper_figures import attacks_figure, location_figure, robustness_figure, transition_figure
from hideseek.plots.style import save
from hideseek.util.harmless import csv_bytes
from hideseek.util.private_files import write_privately

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Hide and seek, played again"
KNOWS = {"the same": "the profile of the mechanism", "the attacked": "the attacked days"}
REMEMBERS = {"one": "one release", "all": "every release so far"}
PAPERS_PLACES = 23.4  # visited by a user in the paper, on average


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure with the name of its files and the words that describe it."""

    name: str
    figure: Figure
    words: str


def figures_of(found: Reproduction) -> tuple[Drawn, Drawn, Drawn]:
    """The paper's three figures, each with what the choice of optimum or the entropy rate does to it."""
    entropy = found.users.set_index("user")["entropy_rate"]
    last = found.location[found.location["step"] == LAST]
    most = found.location[found.location["step"] == 1]
    kept = compared(last).merge(most, on=["user", "budget", "choice"], suffixes=("", "_at_first"))
    kept["share"] = kept["privacy"] / kept["privacy_at_first"]
    return (
        Drawn(
            "sporadic",
            attacks_figure(of_the_coin(found.sporadic), compared(found.sporadic), entropy),
            "Privacy under the correlation-aware attack against privacy under the sporadic one, by user and by optimum",
        ),
        Drawn(
            "location",
            location_figure(of_the_coin(last), kept, entropy, LAST),
            "Privacy of the current place against the quality loss allowed, by user and by optimum",
        ),
        Drawn(
            "transition",
            transition_figure(
                found.transition[found.transition["route"] == "unknown"],
                found.candidates,
                entropy,
            ),
            "Privacy of this place and the next against the quality loss allowed, and plateaus against entropy rates",
        ),
    )


def sections_of(found: Reproduction, drawn: tuple[Drawn, Drawn, Drawn], robust: Section) -> list[Section]:
    """The report, section by section."""
    sporadic, location, transition = [[(one.figure, one.words)] for one in drawn]
    steps = steps_a_day(found.step, "reproduce")
    return [
        Section(
            "The findings",
            "What the paper says about its figures, in its own words with the section, and what it leaves open, "
            "checked on these users. A number is in probability of error, between 0 and 1, unless it says otherwise.",
            table=findings_table(found.findings),
        ),
        Section(
            "The users",
            f"One day of each, {steps} steps of {found.step}. Before anything is exposed, an adversary who knows a "
            "user's habits guesses the place wrongly, and the place and the next, with the probabilities on the right. "
            "No mechanism gives more privacy than that.",
            table=users_table(found.users, steps),
        ),
        Section(
            "1. A mechanism for single places, attacked along a trajectory",
            "The best mechanism for single places, used at every step. An adversary who remembers the release before "
            "has a smaller expected error than it promises: every point lies below the diagonal, up to the saturating "
            "budget, at which releases reveal nothing. How far below is not a property of the user and the budget "
            "alone. On the right are four mechanisms that are all optimal for single places; the paper does not say "
            "which one it attacked.",
            figures=sporadic,
        ),
        Section(
            "2. The current place, after the exposure before",
            "The best mechanism after every release, on average over these. Curves rise to a plateau, which is the "
            "prior risk of the user: there releases reveal nothing, so that nothing is remembered either. Before it "
            "they may bend either way, since the distribution of releases changes with the budget; after a fixed "
            "release they are concave. On the right, the same privacy as a share of what would be had if nothing had "
            "been exposed before. Mechanisms chosen among the optimal ones with the next step in mind keep nearly "
            "all.",
            figures=location,
        ),
        Section(
            "3. This place and the next",
            "Both are released and both are protected. Whether the next place is known in advance (planned) or not "
            "makes no difference here: the same coin is optimal for both. The plateau is what the likeliest place, or "
            "pair of places, leaves to be missed. How predictable the moves are, the entropy rate, is another matter: "
            "it goes along with the plateau more or less, as the right panel shows and the rank correlations say.",
            figures=transition,
        ),
        robust,
        Section(
            "Where the paper is silent, and what was chosen here",
            "The figures of the paper cannot be redrawn point by point from its text. These choices had to be made.",
            table=choices_table(found),
        ),
    ]


def robustness_of(left: pd.DataFrame) -> tuple[list[Drawn], Section]:
    """What is left of the claim when people do not move as their profiles say, as a figure and as a section."""
    heading = "When people do not move as their profiles say"
    if not len(left):
        return [], Section(heading, "No user has enough full days to learn from some and to attack others.")
    kept = kept_of_claim(left)
    drawn = Drawn("robustness", robustness_figure(kept), "Privacy left on other days, as a share of what was claimed")
    spent = (left["quality_loss"] / left["budget"]).groupby(left["days"]).mean()
    rows = tuple(
        (
            KNOWS[adversary],
            REMEMBERS[memory],
            f"{days}",
            f"{round(1 - mean, 2) + 0.0:.0%}",
            f"{1 - high:.0%} to {1 - low:.0%}" if count > 1 else "",
            f"{spent[days]:.0%}",
        )
        for days, adversary, memory, mean, count, low, high in kept.itertuples(index=False)
    )
    header = (
        "the adversary knows",
        "and remembers",
        "days learned from",
        "privacy lost",
        "95 % interval",
        "of the budget spent",
    )
    return [drawn], Section(
        heading,
        "The best mechanism for single places, in metres, of a profile that was learned from a few days, with "
        f"{SHARE:.0%} of the saturating budget, at which releases reveal nothing. Other days of "
        f"{left['user'].nunique()} users are exposed through it. The claim is the adversary's expected error if they "
        "moved like a profile that the adversary knows; what is lost of it on those days is in shares of the claim. "
        "One adversary knows the profile that the mechanism was made for, the other learned one from the very days "
        "that are attacked, which is better than any user's can be.",
        table=Table(header, rows, words=2),
        figures=[(drawn.figure, drawn.words)],
    )


def findings_table(findings: Sequence[Finding]) -> Table:
    """The findings as text."""
    return Table(
        ("finding", "", "in the paper's words", "the numbers that decide it", "PASS if"),
        tuple((one.name, one.verdict, one.paper or "not in the paper", one.figure, one.rule) for one in findings),
        words=5,
    )


def in_sum(findings: Sequence[Finding]) -> str:
    """How many findings hold, and by name those that do not."""
    failed = [one.name for one in findings if not one.passed]
    told = f"{len(findings) - len(failed)} of {len(findings)} findings PASS"
    return f"{told}; FAIL: {'; '.join(failed)}." if failed else f"{told}."


def users_table(users: pd.DataFrame, steps: int) -> Table:
    """The users as text, without their names."""
    header = ("user", "steps with a fix", "places", "entropy rate (bits per step)", "prior risk", "of the pair")
    rows = [
        (f"user {user}", f"{covered} of {steps}", f"{places}", f"{entropy:.3f}", f"{risk:.4f}", f"{pair:.4f}")
        for user, covered, places, entropy, risk, pair, _ in users.itertuples(index=False)
    ]
    mean = users.mean(numeric_only=True)
    rows.append(
        (
            "mean",
            f"{mean['covered']:.1f}",
            f"{mean['places']:.1f}",
            f"{mean['entropy_rate']:.3f}",
            f"{mean['prior_risk']:.4f}",
            f"{mean['pair_risk']:.4f}",
        )
    )
    return Table(header, tuple(rows))


def map_words(regions: Regions) -> str:
    """Where the places of a study lie.

    >>> map_words(Grid(37.5, 37.8, -122.5, -122.1, rows=10, columns=25))
    'latitudes 37.5 to 37.8, longitudes -122.5 to -122.1, 10 x 25 cells'
    """
    if not isinstance(regions, Grid):
        return f"{len(regions)} {type(regions).__name__.lower()}"
    box = f"latitudes {regions.south:g} to {regions.north:g}, longitudes {regions.west:g} to {regions.east:g}"
    return f"{box}, {regions.rows} x {regions.columns} cells"


def choices_table(found: Reproduction) -> Table:
    """What the paper leaves open, and what was taken."""
    places = found.users["places"].mean()
    chosen = {
        "which users": f"{len(found.users)} of {len(found.candidates)}, drawn by the seed {found.seed} among those who "
        f"have a day with a fix on the map in {COVERED:.0%} of its steps, and in two places or more",
        "which day": f"the one with the most steps covered, from midnight to midnight, {found.clock} from UTC",
        "which places": f"{map_words(found.regions)}; a user visits {places:.1f} of them on average (in the paper "
        f"{PAPERS_PLACES})",
        "steps with many fixes, or none": "the first fix counts; what follows a gap follows what came before it",
        "the end of the day": "leads back to its start, since a chain that ends somewhere has no long-run distribution",
        "which optimum": "the coin, which releases the true or the likeliest place. Beside it: where the simplex "
        "method ends (vertex), where it ends when the places are numbered otherwise (relabelled), and the one that "
        "leaves the most privacy for the next step (uninformative)",
        "which step t": f"t = {LAST}, as the figure's name in the paper's source hints; location.csv has 1 and 2 too",
        "which budgets": "from 0 to 1, the same at every step and after every history",
        "whether the next place is known in advance": "solved both ways, with the same privacy",
        "how predictable a user is": "the entropy rate of the chain, held against privacy by rank correlation",
    }
    return Table(("left open", "taken here"), tuple(chosen.items()), words=2)


def write_pages(found: Reproduction, left: pd.DataFrame, source: str, out: Path) -> dict[str, Path]:
    """Write the tables, the figures and the report, readable by the owner only; gives the paths by name.

    ``left`` is what :func:`robustness` found, and ``source`` says in words whose traces these are.
    """
    files = {}
    names = ("users", "candidates", "sporadic", "location", "transition", "programs")
    tables = {name: getattr(found, name) for name in names}
    left = left.assign(user=left["user"].map({name: number for number, name in enumerate(found.names, start=1)}))
    for name, table in (tables | {"robustness": left}).items():
        files[name] = out / f"{name}.csv"
        write_privately(files[name], csv_bytes(table))
    drawn, (more, robust) = figures_of(found), robustness_of(left)
    for suffix in ("pdf", "png"):  # of an earlier run into the same folder
        (out / f"robustness.{suffix}").unlink(missing_ok=True)
    for one in (*drawn, *more):
        for path in save(one.figure, out / one.name):
            files[f"{one.name} figure, {path.suffix[1:]}"] = path
    files["report"] = out / "report.html"
    lead = (
        f"The evaluation of Theodorakopoulos, Shokri, Troncoso, Hubaux and Le Boudec (WPES 2014), repeated on "
        f"{len(found.users)} {source}. {in_sum(found.findings)}"
    )
    write_privately(files["report"], html_report(TITLE, lead, sections_of(found, drawn, robust)).encode())
    return files
