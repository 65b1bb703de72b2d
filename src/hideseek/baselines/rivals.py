"""The rivals that are compared: mechanisms of the literature, each with one dial."""

import numpy as np

from hideseek.baselines.geo_indistinguishable import AFFORDABLE, optimal_geo_indistinguishable, with_distortion
from hideseek.baselines.information import blahut_arimoto
from hideseek.baselines.laplace import planar_laplace, remapped
from hideseek.baselines.plain import coin, exponential, uniform_squares
from hideseek.baselines.rival import COARSE, FINE, Rival
from hideseek.baselines.through_time import DeltaLocationSet, predictive

RIVALS = (
    Rival(
        "coin",
        "Oya et al. 2017",
        dial="probability of the constant place",
        make=lambda setting, noise: coin(setting.game, probability=noise),
        span=lambda _: (0.0, 1.0),
    ),
    Rival(
        "uniform squares",
        "Theodorakopoulos et al. 2014",
        dial="half side of the square, m",
        make=lambda setting, noise: uniform_squares(setting.mapped, half_side=noise),
        span=lambda setting: (0.0, float(np.ptp(setting.mapped, axis=0).max())),
    ),
    Rival(
        "exponential",
        "McSherry and Talwar 2007",
        dial="1 / epsilon, m",
        make=lambda setting, noise: exponential(setting.metres, epsilon=1 / noise),
    ),
    Rival(
        "planar Laplace",
        "Andres et al. 2013",
        dial="1 / epsilon, m",
        make=lambda setting, noise: planar_laplace(setting.points, epsilon=1 / noise),
    ),
    Rival(
        "planar Laplace, remapped",
        "Chatzikokolakis et al. 2017",
        dial="1 / epsilon, m",
        make=lambda setting, noise: remapped(setting.game, planar_laplace(setting.points, epsilon=1 / noise)),
    ),
    Rival(
        "optimal geo-indistinguishable",
        "Bordenabe et al. 2014",
        dial="1 / epsilon, m",
        make=lambda setting, noise: optimal_geo_indistinguishable(setting, epsilon=1 / noise, dilation=1.0).mechanism,
    ),
    Rival(
        "optimal geo-ind., 1.1 spanner",
        "Bordenabe et al. 2014",
        dial="1 / epsilon, m",
        make=lambda setting, noise: optimal_geo_indistinguishable(setting, epsilon=1 / noise, dilation=1.1).mechanism,
    ),
    Rival(
        "geo-ind. with distortion",
        "Shokri 2014",
        dial=f"1 / epsilon, m; on a spanner beyond {AFFORDABLE} places",
        make=lambda setting, noise: with_distortion(setting, epsilon=1 / noise),
    ),
    Rival(
        "Blahut-Arimoto",
        "Oya et al. 2017",
        dial="1 / slope, units of the loss",
        make=lambda setting, noise: blahut_arimoto(setting.prior, setting.loss, slope=1 / noise),
        span=lambda setting: (FINE * setting.loss[setting.loss > 0].min(), COARSE * setting.loss.max()),
    ),
    Rival(
        "predictive",
        "Chatzikokolakis et al. 2014",
        dial="1 / epsilon of fresh noise, m",
        make=lambda setting, noise: predictive(setting.points, noise=noise),
    ),
    Rival(
        "delta-location set",
        "Xiao and Xiong 2015",
        dial="1 / epsilon",
        make=lambda setting, noise: DeltaLocationSet(setting.profile, epsilon=1 / noise),
        span=lambda _: (FINE, COARSE),
    ),
)
