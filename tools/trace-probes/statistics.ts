// The figures of a card.

/** The chance that a positive scores above a negative; equal scores count half. */
export function areaUnderCurve(positives: readonly number[], negatives: readonly number[]): number {
  const all = [...positives.map((score) => ({ score, own: 1 })), ...negatives.map((score) => ({ score, own: 0 }))]
  all.sort((one, other) => one.score - other.score)
  let wins = 0
  let below = 0
  for (let from = 0; from < all.length; ) {
    let to = from
    let [ties, tiedNegatives] = [0, 0]
    while (to < all.length && all[to]?.score === all[from]?.score) {
      if (all[to]?.own === 1) ties += 1
      else tiedNegatives += 1
      to += 1
    }
    wins += ties * (below + tiedNegatives / 2)
    below += tiedNegatives
    from = to
  }
  return positives.length === 0 || negatives.length === 0 ? 0 : wins / (positives.length * negatives.length)
}

/** The lowest value that at most this share of the values lie above. */
export function upperQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => other - one)
  return sorted[Math.floor(values.length * share)] ?? Number.POSITIVE_INFINITY
}

export function shareAt(values: readonly number[], threshold: number): number {
  return values.length === 0 ? 0 : values.filter((value) => value >= threshold).length / values.length
}

/** Wilson's interval of a share, for 95 %. */
export function wilsonInterval(share: number, count: number): [number, number] {
  const z = 1.959964
  const middle = share + (z * z) / (2 * count)
  const spread = z * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count))
  const whole = 1 + (z * z) / count
  return [Math.max(0, (middle - spread) / whole), Math.min(1, (middle + spread) / whole)]
}
