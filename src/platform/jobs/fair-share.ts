export interface Lane {
  lane: string
  /** Dispatched or running. */
  inFlight: number
}

/**
 * How many jobs each lane may send now: one each in turn, lanes with the fewest in flight first, until no room is left
 * or every lane is at its cap. With more lanes than room, the busiest lanes wait.
 */
export function shareFairly(lanes: readonly Lane[], room: number, cap: number): { lane: string; take: number }[] {
  const open = lanes
    .map(({ lane, inFlight }) => ({ lane, inFlight, take: 0 }))
    .filter(({ inFlight }) => inFlight < cap)
    .sort((a, b) => a.inFlight - b.inFlight)
  let left = Math.max(0, Math.floor(room))
  // Raise the lowest lanes level by level: a lane with many in flight gets nothing while another has fewer.
  while (left > 0) {
    const rising = open.filter(({ inFlight, take }) => inFlight + take < cap)
    const lowest = Math.min(...rising.map(({ inFlight, take }) => inFlight + take))
    const atLowest = rising.filter(({ inFlight, take }) => inFlight + take === lowest)
    const next = Math.min(cap, ...rising.map(({ inFlight, take }) => inFlight + take).filter((level) => level > lowest))
    if (atLowest.length === 0) break
    const step = Math.min(next - lowest, Math.floor(left / atLowest.length))
    if (step === 0) {
      for (const lane of atLowest.slice(0, left)) lane.take += 1
      break
    }
    for (const lane of atLowest) lane.take += step
    left -= step * atLowest.length
  }
  return open.filter(({ take }) => take > 0).map(({ lane, take }) => ({ lane, take }))
}
