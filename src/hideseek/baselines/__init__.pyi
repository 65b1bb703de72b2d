from .geo_indistinguishable import geo_indistinguishable_rows as geo_indistinguishable_rows
from .geo_indistinguishable import joint_optimum as joint_optimum
from .geo_indistinguishable import optimal_geo_indistinguishable as optimal_geo_indistinguishable
from .geo_indistinguishable import spanner as spanner
from .geo_indistinguishable import with_distortion as with_distortion
from .information import blahut_arimoto as blahut_arimoto
from .laplace import draw_planar_laplace as draw_planar_laplace
from .laplace import planar_laplace as planar_laplace
from .laplace import remapped as remapped
from .plain import coin as coin
from .plain import constant as constant
from .plain import exponential as exponential
from .plain import truth as truth
from .plain import uniform_squares as uniform_squares
from .rival import Rival as Rival
from .rival import Setting as Setting
from .rivals import RIVALS as RIVALS
from .through_time import DeltaLocationSet as DeltaLocationSet
from .through_time import Predictive as Predictive
from .through_time import predictive as predictive

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
