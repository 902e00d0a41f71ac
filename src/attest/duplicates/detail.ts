// Confirms that two pictures with nearly the same hash are one picture. The hash knows the lowest frequencies alone, in which all
// invoices of one letterhead are alike. Here two squares of 64 x 64 greys are compared block by block, after one is placed on the
// other: a copy may lack a few hundredths at its edges. Pure.

/** Side of the square of greys. */
export const DETAIL_SIDE = 64

// The greys by which the block that differs most may differ; and less in a picture with little contrast, as a part of its standard
// deviation. docs/attest/duplicates.md has the shares of copies and of different documents that stay below.
const MAX_DIFFERENCE = 4.7
const MAX_OF_CONTRAST = 0.3

const SIDE = DETAIL_SIDE
const CELLS = SIDE * SIDE
const BLOCK = 8
// Where greys change from one cell to the next, a displacement by a fraction of a cell looks like a difference: each unit of squared
// change allows this much of the squared difference.
const EDGE_WEIGHT = 0.01

/** How much more of the picture a square shows than another at both ends of an axis, as parts of its side; negative: less. */
type Crop = readonly [near: number, far: number]
const WHOLE: Crop = [0, 0]
// The hashes of larger crops rarely match.
const MAX_CROP = 0.06
// The search for a crop begins at the best of these; then it moves one end, both ends the same way or both outwards, by smaller
// steps. Lines of text fit onto their neighbours too: with starts twice as far apart it ends at such a place in one cropped invoice
// of five.
const OFFSETS = [-0.04, -0.03, -0.02, -0.01, 0, 0.01, 0.02, 0.03, 0.04]
const STARTS: readonly Crop[] = OFFSETS.flatMap((near) => OFFSETS.map((far) => [near, far] as const))
const MOVES = [1, -1].flatMap((way) => [
  [way, 0] as const,
  [0, way] as const,
  [way, -way] as const,
  [way, way] as const,
])
const STEPS = [0.005, 0.0025]
const MAX_MOVES = 4

/** @param one, other 64 rows of 64 greys, 0 to 255. */
export function isSamePicture(one: Uint8Array, other: Uint8Array): boolean {
  const [own, given] = [smooth(one), smooth(other)]
  const edges = edgesOf(own)
  const most = Math.min(MAX_DIFFERENCE, MAX_OF_CONTRAST * Math.min(contrastOf(own), contrastOf(given)))
  return differenceOf(own, edges, given) <= most || differenceOf(own, edges, placeOn(own, given)) <= most
}

/** 32 rows of 32 greys, each the mean of four. */
export function halve(greys: Uint8Array): Uint8Array {
  check(greys)
  const half = SIDE / 2
  return Uint8Array.from({ length: half * half }, (_, index) => {
    const first = 2 * SIDE * Math.floor(index / half) + 2 * (index % half)
    const sum = at(greys, first) + at(greys, first + 1) + at(greys, first + SIDE) + at(greys, first + SIDE + 1)
    return Math.round(sum / 4)
  })
}

function check(greys: Uint8Array): void {
  if (greys.length !== CELLS) throw new RangeError(`expected ${CELLS} greys, not ${greys.length}`)
}

const at = (values: Uint8Array | Float64Array, index: number): number => values[index] ?? 0
const bounded = (index: number): number => Math.max(0, Math.min(SIDE - 1, index))

// By (1, 2, 1) across and down: against the noise of compression, and letters that fill one cell in one picture and parts of two in
// the other.
function smooth(greys: Uint8Array): Float64Array {
  check(greys)
  const across = new Float64Array(CELLS)
  const both = new Float64Array(CELLS)
  for (let y = 0; y < SIDE; y += 1) {
    const row = y * SIDE
    for (let x = 0; x < SIDE; x += 1) {
      across[row + x] = (at(greys, row + bounded(x - 1)) + 2 * at(greys, row + x) + at(greys, row + bounded(x + 1))) / 4
    }
  }
  for (let y = 0; y < SIDE; y += 1) {
    const [above, row, below] = [bounded(y - 1) * SIDE, y * SIDE, bounded(y + 1) * SIDE]
    for (let x = 0; x < SIDE; x += 1) {
      both[row + x] = (at(across, above + x) + 2 * at(across, row + x) + at(across, below + x)) / 4
    }
  }
  return both
}

/** Standard deviation of the greys. */
function contrastOf(greys: Float64Array): number {
  const mean = greys.reduce((sum, grey) => sum + grey, 0) / CELLS
  return Math.sqrt(greys.reduce((sum, grey) => sum + (grey - mean) ** 2, 0) / CELLS)
}

/** The squared change of the greys at each cell. */
function edgesOf(greys: Float64Array): Float64Array {
  const edges = new Float64Array(CELLS)
  for (let y = 0; y < SIDE; y += 1) {
    const [above, row, below] = [bounded(y - 1) * SIDE, y * SIDE, bounded(y + 1) * SIDE]
    for (let x = 0; x < SIDE; x += 1) {
      const across = (at(greys, row + bounded(x + 1)) - at(greys, row + bounded(x - 1))) / 2
      const down = (at(greys, below + x) - at(greys, above + x)) / 2
      edges[row + x] = across * across + down * down
    }
  }
  return edges
}

/** The difference of the block that differs most. Cells that `other` lacks (NaN) are left out. */
function differenceOf(own: Float64Array, edges: Float64Array, other: Float64Array): number {
  const { slope, offset } = scaleTo(own, other)
  let largest = 0
  for (let top = 0; top < SIDE; top += BLOCK) {
    for (let left = 0; left < SIDE; left += BLOCK) {
      let squares = 0
      let allowed = 0
      let cells = 0
      for (let cell = 0; cell < BLOCK * BLOCK; cell += 1) {
        const index = (top + Math.floor(cell / BLOCK)) * SIDE + left + (cell % BLOCK)
        const difference = at(own, index) - slope * at(other, index) - offset
        if (Number.isNaN(difference)) continue
        squares += difference * difference
        allowed += 1 + EDGE_WEIGHT * at(edges, index)
        cells += 1
      }
      // A strip of the edge that a copy lacks is no block.
      if (cells >= BLOCK) largest = Math.max(largest, squares / allowed)
    }
  }
  return Math.sqrt(largest)
}

/**
 * The slope and offset that bring `other` to the brightness and contrast of `own`, by least squares, and the mean square that remains.
 * Cells that `other` lacks (NaN) are left out.
 */
function scaleTo(own: Float64Array, other: Float64Array): { slope: number; offset: number; mismatch: number } {
  let [count, ownSum, otherSum, ownSquares, products, otherSquares] = [0, 0, 0, 0, 0, 0]
  for (let index = 0; index < own.length; index += 1) {
    const one = at(own, index)
    const two = at(other, index)
    if (Number.isNaN(two)) continue
    count += 1
    ownSum += one
    otherSum += two
    ownSquares += one * one
    products += one * two
    otherSquares += two * two
  }
  const variance = otherSquares - (otherSum * otherSum) / count
  const covariance = products - (ownSum * otherSum) / count
  const slope = variance > 0 ? covariance / variance : 0
  const rest = ownSquares - (ownSum * ownSum) / count - slope * covariance
  return { slope, offset: (ownSum - slope * otherSum) / count, mismatch: rest / count }
}

/** The other square as it lies on `own`. Each axis is aligned by the part that the other axis has in common. */
function placeOn(own: Float64Array, other: Float64Array): Float64Array {
  const alignBy = (lines: Lines, common: Crop, starts: readonly Crop[]) => {
    const weights = weightsOf(common)
    return align(meansOf(own, lines, weights.own), meansOf(other, lines, weights.other), starts)
  }
  let across = alignBy('columns', WHOLE, STARTS)
  const down = alignBy('rows', across, STARTS)
  across = alignBy('columns', down, [across])
  return place(other, across, alignBy('rows', across, [down]))
}

type Lines = 'columns' | 'rows'

/** How much each cell of an axis counts in the mean of what both squares have of it. */
function weightsOf(crop: Crop): { own: Float64Array; other: Float64Array } {
  const [own, other] = [new Float64Array(SIDE), new Float64Array(SIDE)]
  let count = 0
  for (let index = 0; index < SIDE; index += 1) {
    const position = positionOf(index, crop)
    if (!isInside(position)) continue
    const [first, part] = [Math.floor(position), position - Math.floor(position)]
    count += 1
    own[index] = 1
    other[bounded(first)] = at(other, bounded(first)) + 1 - part
    other[bounded(first + 1)] = at(other, bounded(first + 1)) + part
  }
  return { own: own.map((weight) => weight / count), other: other.map((weight) => weight / count) }
}

/** The mean of each column or row. */
function meansOf(greys: Float64Array, lines: Lines, weights: Float64Array): Float64Array {
  const [step, stride] = lines === 'columns' ? [SIDE, 1] : [1, SIDE]
  const means = new Float64Array(SIDE)
  for (let line = 0; line < SIDE; line += 1) {
    let sum = 0
    for (let cell = 0; cell < SIDE; cell += 1) sum += at(weights, cell) * at(greys, line * stride + cell * step)
    means[line] = sum
  }
  return means
}

/** Finds by descent what `other` has more than `own` along an axis, from the means of their columns or rows. */
function align(own: Float64Array, other: Float64Array, starts: readonly Crop[]): Crop {
  let best = WHOLE
  let least = Number.POSITIVE_INFINITY
  const placed = new Float64Array(SIDE)
  const tryCrop = (crop: Crop) => {
    if (Math.abs(crop[0]) > MAX_CROP || Math.abs(crop[1]) > MAX_CROP) return
    for (let index = 0; index < SIDE; index += 1) placed[index] = interpolate(other, positionOf(index, crop))
    const { mismatch } = scaleTo(own, placed)
    if (mismatch < least) [best, least] = [crop, mismatch]
  }
  for (const crop of starts) tryCrop(crop)
  for (const step of STEPS) {
    for (let move = 0; move < MAX_MOVES; move += 1) {
      const [[near, far], before] = [best, least]
      for (const [one, two] of MOVES) tryCrop([near + step * one, far + step * two])
      if (least === before) break
    }
  }
  return best
}

/** Where a cell of the one square lies in the other. */
function positionOf(index: number, [near, far]: Crop): number {
  return (index + 0.5) * (1 - near - far) + near * SIDE - 0.5
}

const isInside = (position: number): boolean => position >= -0.5 && position <= SIDE - 0.5

/** NaN outside. */
function interpolate(line: Float64Array, position: number): number {
  if (!isInside(position)) return Number.NaN
  const first = Math.floor(position)
  const part = position - first
  return at(line, bounded(first)) * (1 - part) + at(line, bounded(first + 1)) * part
}

function place(other: Float64Array, across: Crop, down: Crop): Float64Array {
  const wide = new Float64Array(CELLS)
  for (let y = 0; y < SIDE; y += 1) {
    const row = other.subarray(y * SIDE, (y + 1) * SIDE)
    for (let x = 0; x < SIDE; x += 1) wide[y * SIDE + x] = interpolate(row, positionOf(x, across))
  }
  const placed = new Float64Array(CELLS)
  const column = new Float64Array(SIDE)
  for (let x = 0; x < SIDE; x += 1) {
    for (let y = 0; y < SIDE; y += 1) column[y] = at(wide, y * SIDE + x)
    for (let y = 0; y < SIDE; y += 1) placed[y * SIDE + x] = interpolate(column, positionOf(y, down))
  }
  return placed
}
