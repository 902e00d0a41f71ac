// Logistic regression by Newton's method, and the principal directions of a cloud of points. Sums have one order, so the
// same data give the same weights.

export interface Linear {
  bias: number
  weights: number[]
}

const STEPS = 8

/** Both classes weigh the same, whatever their numbers. `penalty` is on the weights of features divided by their deviation. */
export function fitLogistic(rows: readonly ArrayLike<number>[], labels: readonly boolean[], penalty: number): Linear {
  const columns = rows[0]?.length ?? 0
  const size = columns + 1
  const { mean, deviation } = momentsOf(rows, columns)
  const scaled = new Float64Array(rows.length * size)
  rows.forEach((row, number) => {
    scaled[number * size] = 1
    for (let index = 0; index < columns; index += 1) {
      scaled[number * size + index + 1] = ((row[index] ?? 0) - at(mean, index)) / at(deviation, index)
    }
  })
  const positives = labels.filter(Boolean).length
  const weightOf = (isPositive: boolean) => 0.5 / (isPositive ? positives : labels.length - positives)
  const fitted = new Float64Array(size)
  for (let step = 0; step < STEPS; step += 1) {
    const { slope, curve } = derivativesOf(scaled, labels, fitted, weightOf)
    for (let index = 1; index < size; index += 1) {
      slope[index] = at(slope, index) + penalty * at(fitted, index)
      curve[index * size + index] = at(curve, index * size + index) + penalty
    }
    const lines = Array.from({ length: size }, (_, index) => [...curve.subarray(index * size, (index + 1) * size)])
    solve(lines, [...slope]).forEach((change, index) => {
      fitted[index] = at(fitted, index) - change
    })
  }
  const weights = Array.from(fitted.subarray(1), (value, index) => value / at(deviation, index))
  return { bias: at(fitted, 0) - weights.reduce((sum, value, index) => sum + value * at(mean, index), 0), weights }
}

/** First and second derivatives of the weighted loss; of the second the lower half. */
function derivativesOf(
  scaled: Float64Array,
  labels: readonly boolean[],
  fitted: Float64Array,
  weightOf: (isPositive: boolean) => number,
): { slope: Float64Array; curve: Float64Array } {
  const size = fitted.length
  const slope = new Float64Array(size)
  const curve = new Float64Array(size * size)
  for (let number = 0; number < labels.length; number += 1) {
    const row = scaled.subarray(number * size, (number + 1) * size)
    const isPositive = labels[number] === true
    const chance = 1 / (1 + Math.exp(-product(row, fitted)))
    const error = (chance - (isPositive ? 1 : 0)) * weightOf(isPositive)
    const weight = Math.max(chance * (1 - chance), 1e-9) * weightOf(isPositive)
    for (let index = 0; index < size; index += 1) {
      const value = at(row, index)
      const factor = weight * value
      slope[index] = at(slope, index) + error * value
      for (let other = 0; other <= index; other += 1) {
        curve[index * size + other] = at(curve, index * size + other) + factor * at(row, other)
      }
    }
  }
  return { slope, curve }
}

/** `count` orthonormal directions with most of the variance, by orthogonal iteration. */
export function principalDirections(rows: readonly ArrayLike<number>[], count: number): number[][] {
  const size = rows[0]?.length ?? 0
  const { mean } = momentsOf(rows, size)
  const covariance = Array.from({ length: size }, () => new Float64Array(size))
  for (const row of rows) {
    const centred = mean.map((value, index) => (row[index] ?? 0) - value)
    centred.forEach((value, index) => {
      const line = covariance[index] ?? new Float64Array()
      for (let other = 0; other < size; other += 1) line[other] = at(line, other) + value * at(centred, other)
    })
  }
  let directions = Array.from({ length: count }, (_, number) =>
    Array.from({ length: size }, (__, index) => Math.sin(1 + number * 7.3 + index * (number + 1) * 1.7)),
  )
  for (let step = 0; step < 20; step += 1) {
    directions = orthonormal(directions.map((direction) => covariance.map((line) => product(line, direction))))
  }
  return directions
}

export function product(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0
  for (let index = 0; index < one.length; index += 1) sum += (one[index] ?? 0) * (other[index] ?? 0)
  return sum
}

/** Gram-Schmidt; leaves out a vector that is nearly a sum of earlier ones. */
export function orthonormal(vectors: readonly number[][]): number[][] {
  const made: number[][] = []
  for (const vector of vectors) {
    let rest = vector
    for (const other of made) {
      const share = product(rest, other)
      rest = rest.map((value, index) => value - share * at(other, index))
    }
    const length = Math.sqrt(product(rest, rest))
    if (length > 1e-9 * Math.sqrt(product(vector, vector))) made.push(rest.map((value) => value / length))
  }
  return made
}

function momentsOf(rows: readonly ArrayLike<number>[], size: number) {
  const mean = new Array<number>(size).fill(0)
  const squares = new Array<number>(size).fill(0)
  for (const row of rows) {
    for (let index = 0; index < size; index += 1) {
      mean[index] = at(mean, index) + (row[index] ?? 0) / rows.length
      squares[index] = at(squares, index) + (row[index] ?? 0) ** 2 / rows.length
    }
  }
  const deviation = squares.map((value, index) => Math.sqrt(Math.max(value - at(mean, index) ** 2, 1e-12)))
  return { mean, deviation }
}

/** Cholesky decomposition; reads only the lower half of the matrix. */
function solve(matrix: readonly number[][], values: readonly number[]): number[] {
  const size = values.length
  const lower = matrix.map((line) => [...line])
  for (let row = 0; row < size; row += 1) {
    const own = lower[row] ?? []
    for (let column = 0; column <= row; column += 1) {
      const other = lower[column] ?? []
      let sum = at(own, column)
      for (let index = 0; index < column; index += 1) sum -= at(own, index) * at(other, index)
      own[column] = row === column ? Math.sqrt(Math.max(sum, 1e-15)) : sum / at(other, column)
    }
  }
  const half = [...values]
  for (let row = 0; row < size; row += 1) {
    const own = lower[row] ?? []
    for (let index = 0; index < row; index += 1) half[row] = at(half, row) - at(own, index) * at(half, index)
    half[row] = at(half, row) / at(own, row)
  }
  for (let row = size - 1; row >= 0; row -= 1) {
    for (let index = row + 1; index < size; index += 1) {
      half[row] = at(half, row) - at(lower[index] ?? [], row) * at(half, index)
    }
    half[row] = at(half, row) / at(lower[row] ?? [], row)
  }
  return half
}

const at = (values: ArrayLike<number>, index: number): number => values[index] ?? 0
