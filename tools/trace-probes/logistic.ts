// Logistic regression by Newton's method, and the principal directions of a cloud of points. Sums have one order, so the
// same data give the same weights.

export interface Linear {
  bias: number
  weights: number[]
}

const STEPS = 12

/** Both classes weigh the same, whatever their numbers. `penalty` is on the weights of features divided by their deviation. */
export function fitLogistic(rows: readonly ArrayLike<number>[], labels: readonly boolean[], penalty: number): Linear {
  const size = rows[0]?.length ?? 0
  const { mean, deviation } = momentsOf(rows, size)
  const scaled = rows.map((row) => [
    1,
    ...Array.from({ length: size }, (_, index) => ((row[index] ?? 0) - at(mean, index)) / at(deviation, index)),
  ])
  const positives = labels.filter(Boolean).length
  const weightOf = (isPositive: boolean) => 0.5 / (isPositive ? positives : labels.length - positives)
  let fitted = new Array<number>(size + 1).fill(0)
  for (let step = 0; step < STEPS; step += 1) {
    const slope = fitted.map((value, index) => (index === 0 ? 0 : penalty * value))
    const curve = fitted.map((_, index) =>
      fitted.map((__, other) => (index === other ? (index === 0 ? 1e-9 : penalty) : 0)),
    )
    scaled.forEach((row, number) => {
      const isPositive = labels[number] === true
      const chance = 1 / (1 + Math.exp(-row.reduce((sum, value, index) => sum + value * at(fitted, index), 0)))
      const error = (chance - (isPositive ? 1 : 0)) * weightOf(isPositive)
      const weight = Math.max(chance * (1 - chance), 1e-9) * weightOf(isPositive)
      for (let index = 0; index <= size; index += 1) {
        const value = at(row, index)
        slope[index] = at(slope, index) + error * value
        const line = curve[index] ?? []
        for (let other = 0; other <= index; other += 1) line[other] = at(line, other) + weight * value * at(row, other)
      }
    })
    const change = solve(curve, slope)
    fitted = fitted.map((value, index) => value - at(change, index))
  }
  const weights = fitted.slice(1).map((value, index) => value / at(deviation, index))
  return { bias: at(fitted, 0) - weights.reduce((sum, value, index) => sum + value * at(mean, index), 0), weights }
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
  for (let step = 0; step < 60; step += 1) {
    directions = orthonormal(directions.map((direction) => covariance.map((line) => product(line, direction))))
  }
  return directions
}

export function product(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0
  for (let index = 0; index < one.length; index += 1) sum += (one[index] ?? 0) * (other[index] ?? 0)
  return sum
}

function orthonormal(vectors: readonly number[][]): number[][] {
  const made: number[][] = []
  for (const vector of vectors) {
    let rest = vector
    for (const other of made) {
      const share = product(rest, other)
      rest = rest.map((value, index) => value - share * at(other, index))
    }
    const length = Math.sqrt(product(rest, rest))
    made.push(rest.map((value) => value / length))
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

/** By Cholesky; of the matrix only the lower half is read. */
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
