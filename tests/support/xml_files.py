"""Small KML and TCX files of every shape."""

from __future__ import annotations

KML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2" '
    'xmlns:gx="http://www.google.com/kml/ext/2.2"><Document><name>a day</name>'
)
KML_FIX = (
    "<Placemark><name>here</name><TimeStamp><when>2020-01-01T10:00:00Z</when></TimeStamp>"
    "<Point><coordinates>6.5,46.5,400</coordinates></Point></Placemark>"
)
KML_STAY = (
    "<Placemark><name>home</name><ExtendedData><Data name='Distance'><value>0</value></Data></ExtendedData>"
    "<Point><coordinates>6.6,46.6,0</coordinates></Point>"
    "<TimeSpan><begin>2020-01-01T11:00:00+01:00</begin><end>2020-01-01T12:00:00+01:00</end></TimeSpan></Placemark>"
)
KML_WAY = (
    "<Placemark><name>Driving</name><LineString><tessellate>1</tessellate>"
    "<coordinates>\n6.6,46.6,0 6.65,46.65,0\n6.7,46.7,0\n</coordinates></LineString>"
    "<TimeSpan><begin>2020-01-01T13:00:00Z</begin><end>2020-01-01T14:00:00Z</end></TimeSpan></Placemark>"
)
KML_LINE = "<Placemark><LineString><coordinates>1,1 2,2</coordinates></LineString></Placemark>"
KML_TRACK = (
    "<Folder><Placemark><gx:MultiTrack>"
    "<gx:Track><when>2020-01-02T10:00:00Z</when><when>2020-01-02T10:01:00Z</when>"
    "<gx:coord>6.1 46.1 0</gx:coord><gx:coord>6.2 46.2 0</gx:coord></gx:Track>"
    "<gx:Track><when>2020-01-02T10:02:00Z</when><gx:coord>6.3 46.3</gx:coord>"
    "<when>2020-01-02T10:03:00Z</when><gx:coord>6.4 46.4</gx:coord></gx:Track>"
    "</gx:MultiTrack></Placemark></Folder>"
)
KML_TAIL = "</Document></kml>\n"
KML = KML_HEAD + KML_FIX + KML_STAY + KML_WAY + KML_LINE + KML_TRACK + KML_TAIL

TCX_POINT = (
    "<Trackpoint><Time>{}</Time><Position><LatitudeDegrees>{}</LatitudeDegrees>"
    "<LongitudeDegrees>{}</LongitudeDegrees></Position><AltitudeMeters>400</AltitudeMeters></Trackpoint>"
)
TCX_INDOORS = "<Trackpoint><Time>2020-01-01T10:00:30Z</Time><DistanceMeters>3</DistanceMeters></Trackpoint>"
TCX = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<TrainingCenterDatabase '
    'xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2"><Activities><Activity Sport="Running">'
    '<Id>2020-01-01T10:00:00Z</Id><Lap StartTime="2020-01-01T10:00:00Z"><Track>'
    + TCX_POINT.format("2020-01-01T10:00:00Z", 46.5, 6.5)
    + TCX_INDOORS
    + TCX_POINT.format("2020-01-01T12:00:00+01:00", 46.6, 6.6)
    + TCX_POINT.format("2020-01-01T12:00:00Z", 46.7, 6.7)
    + "</Track></Lap></Activity></Activities><Courses><Course><Track>"
    + TCX_POINT.format("2020-01-01T13:00:00Z", 1, 1)
    + "</Track></Course></Courses></TrainingCenterDatabase>\n"
)
