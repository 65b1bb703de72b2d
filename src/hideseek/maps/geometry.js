"use strict";
// The formulas of projection.py, for the view that moves; tests hold both against each other.

function latitudeOf(y) {
  return Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180 / Math.PI;
}

function longitudeOf(x) {
  return ((x * 360) % 360 + 360) % 360 - 180;
}

function metresPerWorld(latitude) {
  const phi = latitude * Math.PI / 180, flattening = 1 / 298.257223563;
  const eccentricity = flattening * (2 - flattening);
  return 2 * Math.PI * 6378137 * Math.cos(phi) / Math.sqrt(1 - eccentricity * Math.sin(phi) ** 2);
}

// the longest of 1, 2, 5, 10, ... metres that has room in so many pixels
function scaleBar(metresPerPixel, room) {
  const most = metresPerPixel * room, power = 10 ** Math.floor(Math.log10(most));
  const metres = power * [5, 2, 1].find((digit) => digit * power <= most * (1 + 1e-12));
  const words = metres >= 1000 ? `${metres / 1000} km` : metres >= 1 ? `${metres} m` : `${Math.round(metres * 100)} cm`;
  return { metres, words, pixels: metres / metresPerPixel };
}
