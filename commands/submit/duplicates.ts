// The duplicates of what was submitted: other claims that show the same picture. The service compares after the results, and
// compares a capture again where the result of an earlier one came late.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal } from './journal.ts'
import type { Plan } from './plan.ts'
import type { Service } from './service.ts'

/** A picture in another claim. */
export interface Match {
  claim_id: string
  attestation_id: string
  kind: 'duplicate_media' | 'similar_media'
  /** Differing bits of 64. */
  distance_bits: number
}

/** The duplicates of a capture, as `GET /v1/claims/{id}/duplicates` lists them. */
export interface Duplicates {
  not_comparable: string | null
  earlier: Match[]
  earlier_more: number
  later: Match[]
}

export interface DuplicatesRow extends Duplicates {
  attestation_id: string
  status: 'pending' | 'compared' | 'not_comparable'
}

interface DuplicatesDeps {
  plan: Plan
  journal: Journal
  service: Pick<Service, 'listDuplicates'>
  signal: AbortSignal
}

const AT_ONCE = 4
const POLL_MS = 500
// Without a comparison that ends: longer than the service waits before it compares again.
const PATIENCE_MS = 20_000

/**
 * Writes the duplicates of each result into the journal, unless an earlier run has. Returns why some are missing, or undefined.
 * @throws an error for which `isStopped` is true.
 */
export async function collectDuplicates({
  plan,
  journal,
  service,
  signal,
}: DuplicatesDeps): Promise<string | undefined> {
  const keys = new Map<string, Map<string, string>>()
  for await (const { key, problems } of plan.entries()) {
    const outcome = problems.length > 0 || !journal.isDone(key) ? undefined : journal.read(key)
    if (outcome === undefined || !('result' in outcome) || journal.duplicatesOf(key) !== undefined) continue
    const { claim_id: claimId, attestation_id: attestationId } = outcome.result
    const ofClaim = keys.get(claimId) ?? new Map<string, string>()
    keys.set(claimId, ofClaim.set(attestationId, key))
  }
  const found = new Map<string, Duplicates>()

  /** Returns the claims with captures that are not compared; undefined when the key may not read them. */
  async function read(claims: readonly string[]): Promise<string[] | undefined> {
    const waiting = [...claims]
    const pending: string[] = []
    let isForbidden = false
    const readNext = async () => {
      for (let claimId = waiting.shift(); claimId !== undefined && !isForbidden; claimId = waiting.shift()) {
        const answer = await service.listDuplicates(claimId)
        if ('refused' in answer) {
          isForbidden ||= answer.refused.status === 403
          continue
        }
        let isPending = false
        for (const { attestation_id: attestationId, status, ...row } of answer.value) {
          const key = keys.get(claimId)?.get(attestationId)
          if (key === undefined) continue
          if (status === 'pending') {
            isPending = true
            found.delete(key)
          } else {
            const { not_comparable, earlier, earlier_more, later } = row
            found.set(key, { not_comparable, earlier, earlier_more, later })
          }
        }
        if (isPending) pending.push(claimId)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, readNext))
    return isForbidden ? undefined : pending
  }

  let pending: string[] | undefined = []
  for (let round = 0; round < 2 && pending?.length === 0; round += 1) {
    pending = await read([...keys.keys()])
    const hasWaited = pending !== undefined && pending.length > 0
    for (let endedAt = performance.now(); pending !== undefined && pending.length > 0; ) {
      if (performance.now() - endedAt > PATIENCE_MS) break
      await sleep(POLL_MS, undefined, { signal })
      const before = found.size
      pending = await read(pending)
      if (found.size > before) endedAt = performance.now()
    }
    // What was read while others were still compared may have changed: all are read once more.
    if (!hasWaited) break
  }
  if (pending === undefined) return 'Duplicates are not listed: the key lacks the scope verify.'
  for (const [key, duplicates] of found) journal.addDuplicates(key, duplicates)
  if (pending.length === 0) return undefined
  return `${pending.length} claims wait for their comparison: the same command lists their duplicates later.`
}
