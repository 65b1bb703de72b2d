"""How often the adversary names each place: a simulation with a filter of its own, against what is printed of it."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import PlaybookDevice
from hideseek.adversary.belief_exposer import follow_beliefs
from hideseek.codebook.weights import WORDS
from hideseek.model.exposed_walks import at_beliefs
from tests.support.devices import BEGIN, STEP
from tests.support.playbooks import on_a_line

WALKS, ACCESSES = 60, 12
TIE = 1e-6  # errors that differ by less are equal, and the likelier place is named


def attacked(moves, error, start, happened):
    """The guess at every access, from the tables and the releases alone: Bayes' rule and one step after the other."""
    belief, before, guesses = start, None, []
    for step, table, release in happened:
        for _ in range(0 if before is None else step - before):
            belief = [sum(belief[s] * moves[s][t] for s in range(len(start))) for t in range(len(start))]
        joint = [belief[s] * table[s][release] for s in range(len(start))]
        belief, before = [share / sum(joint) for share in joint], step
        errors = [sum(row[s] * belief[s] for s in range(len(start))) for row in error]
        good = [g for g in range(len(errors)) if errors[g] <= min(errors) + TIE * np.max(error)]
        guesses.append(max(good, key=lambda guess: belief[guess]))
    return guesses


def simulated(game, book, folder, waits, monkeypatch):
    """Walks of a person with a device: where they were, and what was guessed, [walk, access]."""
    generator = np.random.default_rng(7)
    monkeypatch.setattr("hideseek.device.belief_device.random_word", lambda: int(generator.integers(WORDS)))
    monkeypatch.setattr("os.fsync", lambda _: None)  # nobody pulls a plug here
    true, named = [], []
    for walk in range(len(waits)):
        device, tables = PlaybookDevice(book, state=folder / f"{walk}"), []
        original = device._table_for
        device._table_for = lambda *one, ask=original, kept=tables: kept.append(ask(*one)) or kept[-1]
        place, step, happened = int(generator.choice(4, p=game.start)), 0, []
        true.append([])
        for wait in waits[walk].tolist():
            answer = device.expose(46.5, 6.5 + place, at=BEGIN + step * STEP)
            weights = tables[-1].weights[:-1] / WORDS
            happened.append((step, weights.tolist(), answer.place))
            true[-1].append(place)
            step += wait
            for _ in range(wait):
                place = int(generator.choice(4, p=game.moves[place]))
        named.append(attacked(game.moves.tolist(), game.error.tolist(), game.start.tolist(), happened))
    return np.array(true), np.array(named)


def test_hit_rates_of_every_place_are_those_of_an_independent_simulation(tmp_path, monkeypatch):
    """Within four standard errors of both: of the simulation's walks, and of the walks that are followed exactly."""
    game, _, rehearsal = on_a_line(0)
    waits = np.random.default_rng(2).geometric(1 / 2, size=(WALKS, ACCESSES))
    true, named = simulated(game, rehearsal.playbook, tmp_path, waits, monkeypatch)
    found = follow_beliefs(
        game,
        at_beliefs(lambda belief: rehearsal.playbook.play(belief).by_state),
        accesses=ACCESSES,
        walks=WALKS,
        waits=waits,
        seed=11,
    )
    for naming in found.namings:
        there, guessed = true == naming.place, named == naming.place
        for rate, chosen in ((naming.there, there), (naming.elsewhere, ~there)):
            count, whole = (guessed & chosen).sum(axis=1), chosen.sum(axis=1)
            simulation = count.sum() / whole.sum()
            spread = np.sqrt(((count - simulation * whole) ** 2).sum()) / whole.sum()
            spread = max(spread, np.sqrt(rate * (1 - rate) / whole.sum()))  # where nothing was seen, too
            exact = (rate.interval[1] - rate.interval[0]) / 4  # about a standard error
            assert abs(rate - simulation) <= 4 * (spread + exact)
            assert spread < 0.1
    hit = float((true == named).mean())
    assert hit == pytest.approx(sum(one.share * one.there for one in found.namings), abs=0.1)


def test_the_error_of_the_label_is_what_the_filter_errs_by(tmp_path, monkeypatch):
    """On average over walks: the mean error of the guesses, and the mean of what the labels say, within 4 errors."""
    game, _, rehearsal = on_a_line(1)
    waits = np.random.default_rng(3).geometric(1 / 2, size=(WALKS, ACCESSES))
    true, named = simulated(game, rehearsal.playbook, tmp_path, waits, monkeypatch)
    erred = game.error[named, true].mean(axis=1)
    told = np.array(
        [PlaybookDevice(rehearsal.playbook, state=tmp_path / f"{walk}").label().filter for walk in range(WALKS)]
    )
    off = erred - told
    assert abs(off.mean()) <= 4 * off.std(ddof=1) / np.sqrt(WALKS)
    assert off.std(ddof=1) / np.sqrt(WALKS) < 0.06
