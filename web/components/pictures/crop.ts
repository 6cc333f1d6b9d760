/** Size of a picture in its own pixels. */
export type Size = { width: number; height: number }

/**
 * Part of a picture that is shown as a square: its center, from 0 to 1 of width and height, and its zoom. With zoom 1
 * the square covers as much as it can without an edge.
 */
export type Crop = { x: number; y: number; zoom: number }

export const zoomMax = 4

/** Returns the smallest zoom: a logo may be shown whole, with room beside it; a person fills the square. */
export function zoomMin({ width, height }: Size, isWhole: boolean): number {
  return isWhole ? Math.min(width, height) / Math.max(width, height) : 1
}

/** Returns the crop that is shown first: the middle, of a logo the whole. */
export function firstCrop(size: Size, isWhole: boolean): Crop {
  return { x: 0.5, y: 0.5, zoom: zoomMin(size, isWhole) }
}

/** Returns the side of the square in pixels of the picture. */
function sideOf({ width, height }: Size, zoom: number): number {
  return Math.min(width, height) / zoom
}

/** Moves and zooms a crop as far as the picture reaches: no edge gets into the square that needs not be there. */
export function changeCrop(size: Size, crop: Crop, isWhole: boolean): Crop {
  const zoom = Math.min(zoomMax, Math.max(zoomMin(size, isWhole), crop.zoom))
  const side = sideOf(size, zoom)
  return { zoom, x: clampCenter(crop.x, side / size.width), y: clampCenter(crop.y, side / size.height) }
}

/** Keeps the center so far from the edges that the square is inside, or in the middle if it is larger. */
function clampCenter(center: number, part: number): number {
  const half = Math.min(1, part) / 2
  return Math.min(1 - half, Math.max(half, center))
}

/** Moves a crop by a distance, as parts of the square: what is dragged to the right shows what was on the left. */
export function moveCrop(size: Size, crop: Crop, by: { x: number; y: number }, isWhole: boolean): Crop {
  const side = sideOf(size, crop.zoom)
  const moved = { ...crop, x: crop.x - (by.x * side) / size.width, y: crop.y - (by.y * side) / size.height }
  return changeCrop(size, moved, isWhole)
}

/** Returns where the whole picture is drawn on a square canvas, so that the canvas shows the crop. */
export function placeOf({ width, height }: Size, { x, y, zoom }: Crop, canvasSide: number) {
  const scale = canvasSide / sideOf({ width, height }, zoom)
  return {
    left: canvasSide / 2 - x * width * scale,
    top: canvasSide / 2 - y * height * scale,
    width: width * scale,
    height: height * scale,
  }
}
