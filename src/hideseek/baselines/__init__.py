"""The mechanisms that others have proposed, each a table (or a policy) that the same adversaries attack."""

import numpy as np

from hideseek.baselines.geo_indistinguishable import (
    AFFORDABLE,
    geo_indistinguishable_rows,
    joint_optimum,
    optimal_geo_indistinguishable,
    spanner,
    with_distortion,
)
from hideseek.baselines.information import blahut_arimoto
from hideseek.baselines.laplace import draw_planar_laplace, planar_laplace, remapped
from hideseek.baselines.plain import coin, constant, exponential, truth, uniform_squares
from hideseek.baselines.rival import COARSE, FINE, Rival, Setting
from hideseek.baselines.through_time import DeltaLocationSet, Predictive, predictive

RIVALS = (
    Rival(
        "coin",
        "Oya et al. 2017",
        "probability of the constant place",
        lambda setting, noise: coin(setting.game, noise),
        lambda _: (0.0, 1.0),
    ),
    Rival(
        "uniform squares",
        "Theodorakopoulos et al. 2014",
        "half side of the square, m",
        lambda setting, noise: uniform_squares(setting.mapped, noise),
        lambda setting: (0.0, float(np.ptp(setting.mapped, axis=0).max())),
    ),
    Rival(
        "exponential",
        "McSherry and Talwar 2007",
        "1 / epsilon, m",
        lambda setting, noise: exponential(setting.metres, 1 / noise),
    ),
    Rival(
        "planar Laplace",
        "Andres et al. 2013",
        "1 / epsilon, m",
        lambda setting, noise: planar_laplace(setting.points, 1 / noise),
    ),
    Rival(
        "planar Laplace, remapped",
        "Chatzikokolakis et al. 2017",
        "1 / epsilon, m",
        lambda setting, noise: remapped(planar_laplace(setting.points, 1 / noise), setting.game),
    ),
    Rival(
        "optimal geo-indistinguishable",
        "Bordenabe et al. 2014",
        "1 / epsilon, m",
        lambda setting, noise: optimal_geo_indistinguishable(setting, 1 / noise, dilation=1.0).mechanism,
    ),
    Rival(
        "optimal geo-ind., 1.1 spanner",
        "Bordenabe et al. 2014",
        "1 / epsilon, m",
        lambda setting, noise: optimal_geo_indistinguishable(setting, 1 / noise, dilation=1.1).mechanism,
    ),
    Rival(
        "geo-ind. with distortion",
        "Shokri 2014",
        f"1 / epsilon, m; on a spanner beyond {AFFORDABLE} places",
        lambda setting, noise: with_distortion(setting, 1 / noise),
    ),
    Rival(
        "Blahut-Arimoto",
        "Oya et al. 2017",
        "1 / slope, units of the loss",
        lambda setting, noise: blahut_arimoto(setting.prior, setting.loss, 1 / noise),
        lambda setting: (FINE * setting.loss[setting.loss > 0].min(), COARSE * setting.loss.max()),
    ),
    Rival(
        "predictive",
        "Chatzikokolakis et al. 2014",
        "1 / epsilon of fresh noise, m",
        lambda setting, noise: predictive(setting.points, noise),
    ),
    Rival(
        "delta-location set",
        "Xiao and Xiong 2015",
        "1 / epsilon",
        lambda setting, noise: DeltaLocationSet(setting.profile, 1 / noise),
        lambda _: (FINE, COARSE),
    ),
)

__all__ = [
    "RIVALS",
    "DeltaLocationSet",
    "Predictive",
    "Rival",
    "Setting",
    "blahut_arimoto",
    "coin",
    "constant",
    "draw_planar_laplace",
    "exponential",
    "geo_indistinguishable_rows",
    "joint_optimum",
    "optimal_geo_indistinguishable",
    "planar_laplace",
    "predictive",
    "remapped",
    "spanner",
    "truth",
    "uniform_squares",
    "with_distortion",
]
