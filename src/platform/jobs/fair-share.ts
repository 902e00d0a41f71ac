export interface Lane {
  lane: string
  /** Dispatched or running. */
  inFlight: number
  /** The most that the lane may have in flight, where it is not the cap of the queue. */
  cap?: number
}

/**
 * How many jobs each lane may send now: one each in turn, lanes with the fewest in flight first, until no room is left
 * or every lane is at its cap. With more lanes than room, the busiest lanes wait.
 */
export function shareFairly(lanes: readonly Lane[], room: number, cap: number): { lane: string; take: number }[] {
  const open = lanes
    .map(({ lane, inFlight, cap: own = cap }) => ({ lane, inFlight, most: own, take: 0 }))
    .filter(({ inFlight, most }) => inFlight < most)
    .sort((a, b) => a.inFlight - b.inFlight)
  let left = Math.max(0, Math.floor(room))
  // Raise the lowest lanes level by level: a lane with many in flight gets nothing while another has fewer.
  while (left > 0) {
    const rising = open.filter(({ inFlight, most, take }) => inFlight + take < most)
    const lowest = Math.min(...rising.map(({ inFlight, take }) => inFlight + take))
    const atLowest = rising.filter(({ inFlight, take }) => inFlight + take === lowest)
    const levels = rising.map(({ inFlight, take }) => inFlight + take).filter((level) => level > lowest)
    const next = Math.min(...atLowest.map(({ most }) => most), ...levels)
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

/** A lane and the account whose jobs it holds. */
export interface AccountLane extends Lane {
  account: string
}

/**
 * The same for accounts, each with any number of lanes: an account takes one more job only while it has fewer in flight
 * than `room` has left. So an account that is alone gets half of the room, n accounts get 1/(n + 1) each, and an
 * account with nothing in flight always finds room at once, however many lanes the others have.
 */
export function shareByAccount(
  lanes: readonly AccountLane[],
  inFlight: ReadonlyMap<string, number>,
  room: number,
  cap: number,
): { lane: string; take: number }[] {
  const accounts = [...Map.groupBy(lanes, ({ account }) => account)]
    .map(([account, own]) => ({
      lanes: own,
      inFlight: inFlight.get(account) ?? 0,
      wanted: own.reduce((sum, lane) => sum + Math.max(0, (lane.cap ?? cap) - lane.inFlight), 0),
      take: 0,
    }))
    .sort((a, b) => a.inFlight - b.inFlight)
  let left = Math.floor(room)
  let joined = 0
  let rising: typeof accounts = []
  // One job each in turn, for the accounts at this level.
  for (let level = accounts[0]?.inFlight ?? 0; level < left; level += 1) {
    rising = rising.filter(({ take, wanted }) => take < wanted)
    for (let next = accounts[joined]; next?.inFlight === level; next = accounts[joined]) {
      if (next.wanted > 0) rising.push(next)
      joined += 1
    }
    for (const account of rising) {
      if (level >= left) break
      account.take += 1
      left -= 1
    }
  }
  return accounts.flatMap(({ lanes: own, take }) => shareFairly(own, take, cap))
}

/** While both priorities of a lane wait, one turn in this many is a bulk job's. A turn is one dispatched job. */
export const BULK_EVERY = 8

/**
 * How many of the next `take` turns of a lane are kept for bulk jobs. Interactive jobs go first in all others.
 * @param sinceBulk Turns of the lane since its last bulk job, at most `BULK_EVERY - 1`: a lane with few jobs in flight
 * gets one turn at a time.
 */
export function bulkTurnsOf(sinceBulk: number, take: number): number {
  return Math.floor((sinceBulk + take) / BULK_EVERY)
}

/** `sinceBulk` after a round. Turns without a waiting bulk job count too, so that the first one to come does not wait. */
export function countTurns(sinceBulk: number, taken: { interactive: number; bulk: number }): number {
  const turns = sinceBulk + taken.interactive + taken.bulk - BULK_EVERY * taken.bulk
  return Math.max(0, Math.min(BULK_EVERY - 1, turns))
}
