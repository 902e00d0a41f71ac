// Which of the pictures with nearly the same hash are the same picture. A pair is compared outside of transactions, once in this
// process: a picture never changes, and an account may have thousands of documents that look alike.

import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { isSamePicture } from './detail.ts'
import { findDetails } from './picture-rows.ts'
import type { Alike } from './search.ts'

export interface Confirmations {
  /** Returns those that are the same picture; undefined while some of them have not been compared. */
  select(mediaId: string, alike: readonly Alike[]): Alike[] | undefined
  /** Compares the picture with those that it has not been compared with. */
  compare(scope: Scope, mediaId: string, alike: readonly Alike[]): Promise<void>
}

// More than the comparisons of a worker need at one time (64 jobs with a hundred pairs each): with fewer, each would evict the
// verdicts that another waits for.
const MAX_PAIRS = 50_000
// Pairs that are compared before the event loop does other work. Each takes up to a millisecond.
const AT_ONCE = 8

export function createConfirmations({ db }: { db: Pick<Database, 'tenant'> }): Confirmations {
  const verdicts = new LRUCache<string, boolean>({ max: MAX_PAIRS })
  return {
    select(mediaId, alike) {
      const known = alike.map((one) => verdicts.get(keyOf(mediaId, one)))
      return known.includes(undefined) ? undefined : alike.filter((_, index) => known[index] === true)
    },
    async compare(scope, mediaId, alike) {
      const unknown = alike.filter((one) => verdicts.get(keyOf(mediaId, one)) === undefined)
      const details = await db.tenant(scope, (tx) => findDetails(tx, [mediaId, ...unknown.map((one) => one.mediaId)]))
      for (const [index, other] of unknown.entries()) {
        // A picture that was erased meanwhile is not in the next search either.
        const [first, second] = pairOf(mediaId, other).map((id) => details.get(id))
        if (first !== undefined && second !== undefined) {
          verdicts.set(keyOf(mediaId, other), isSamePicture(first, second))
        }
        if (index % AT_ONCE === AT_ONCE - 1) await setImmediate()
      }
    },
  }
}

// In the order of their ids: either of the two is compared first, and both must come to the same verdict.
function pairOf(mediaId: string, other: Alike): [string, string] {
  return mediaId < other.mediaId ? [mediaId, other.mediaId] : [other.mediaId, mediaId]
}

const keyOf = (mediaId: string, other: Alike): string => pairOf(mediaId, other).join(' ')
