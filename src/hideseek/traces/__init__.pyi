from .city import synthetic_city as synthetic_city
from .reading import ReadReport as ReadReport
from .reading import TraceWarning as TraceWarning
from .reading import read_traces as read_traces
from .table import check_traces as check_traces
from .timezones import local_zone as local_zone

__all__ = ["ReadReport", "TraceWarning", "check_traces", "local_zone", "read_traces", "synthetic_city"]
