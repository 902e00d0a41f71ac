// The perceptual hash of a picture: the signs of its 64 lowest frequencies (DCT-II over 32x32 greys) relative to their
// median. Recompression, resizing and a change of format preserve the low frequencies. Pure.

/** Side of the square of greys that is hashed. */
export const SIDE = 32

const LOW = 8

export interface PictureHash {
  /** 64 bits as 16 hexadecimal digits: the low frequencies row by row, starting with the constant one. */
  hash: string
  /** Standard deviation of the greys, 0 to 127.5: how much content the picture has. */
  contrast: number
}

/** @param greys 32 rows of 32 greys, 0 to 255. */
export function hashGreys(greys: Uint8Array): PictureHash {
  if (greys.length !== SIDE * SIDE) throw new RangeError(`expected ${SIDE * SIDE} greys, not ${greys.length}`)
  const low: number[] = []
  for (let v = 0; v < LOW; v += 1) {
    for (let u = 0; u < LOW; u += 1) low.push(frequencyOf(greys, u, v))
  }
  const sorted = [...low].sort((a, b) => a - b)
  const median = ((sorted[31] ?? 0) + (sorted[32] ?? 0)) / 2
  const bits = low.reduce((hash, value) => (hash << 1n) | (value > median ? 1n : 0n), 0n)
  return { hash: bits.toString(16).padStart(16, '0'), contrast: deviationOf(greys) }
}

/** The number of differing bits, 0 to 64. */
export function distanceOf(one: string, other: string): number {
  let differing = 0
  for (let bits = BigInt(`0x${one}`) ^ BigInt(`0x${other}`); bits > 0n; bits &= bits - 1n) differing += 1
  return differing
}

const COSINES = Array.from({ length: LOW }, (_, k) =>
  Float64Array.from({ length: SIDE }, (__, n) => Math.cos((Math.PI * k * (2 * n + 1)) / (2 * SIDE))),
)

// Unscaled except for the first row and column, whose terms are each larger by the square root of two.
function frequencyOf(greys: Uint8Array, u: number, v: number): number {
  const [across, down] = [COSINES[u] ?? [], COSINES[v] ?? []]
  let sum = 0
  for (let y = 0; y < SIDE; y += 1) {
    let row = 0
    for (let x = 0; x < SIDE; x += 1) row += (greys[y * SIDE + x] ?? 0) * (across[x] ?? 0)
    sum += row * (down[y] ?? 0)
  }
  return sum * (u === 0 ? Math.SQRT1_2 : 1) * (v === 0 ? Math.SQRT1_2 : 1)
}

function deviationOf(greys: Uint8Array): number {
  const mean = greys.reduce((sum, grey) => sum + grey, 0) / greys.length
  return Math.sqrt(greys.reduce((sum, grey) => sum + (grey - mean) ** 2, 0) / greys.length)
}
