// Enrolls a fleet at once. An invalid line does not affect the others, and nothing is written before the last line has
// arrived: an interrupted upload stores nothing.

import { recordAudit } from '#src/account/audit/record.ts'
import { anchorsOf } from '#src/attest/trust/certificates.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import { type BulkWork, inParts } from '#src/platform/bulk-work.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { FairBudget } from '#src/platform/fair-budget.ts'
import type { JsonBodyLimits } from '#src/platform/http/body.ts'
import type { ParsedLine } from '#src/platform/http/bulk.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { again, type IdempotencyKey } from '#src/platform/http/idempotency.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { createSlice } from '#src/platform/slices.ts'
import type { NewEvidence, Trust } from '../hardware/evidence.ts'
import { findCas } from '../trust/rows.ts'
import { enrollWithEvidence } from './enroll-rows.ts'
import { type EnrollRequest, judgeEnrollment, revokedKey } from './enrollment.ts'
import type { EnrolledKey, NewDevice } from './rows.ts'

/** `line` counts from 1. */
export type ImportLine = { line: number } & ParsedLine<EnrollRequest>

export interface ImportResult {
  rejected: { line: number; errors: FieldError[] }[]
  devices: { line: number; deviceId: string }[]
}

export interface ImportDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  trust: Trust
  /** An import is one transaction. */
  bulkWork: BulkWork
  /** How much memory all imports of this process may use together. */
  budget: FairBudget
}

// Ten thousand chains of three certificates are 30 MB. A body may stay in memory until its last line has arrived.
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024
// A line needs 10 values. The schema reports each wrong one, and an import has 10,000 lines.
const LINE_LIMITS: JsonBodyLimits = { maxBytes: 64 * 1024, maxDepth: 8, maxValues: 500 }
const MAX_LINES = 10_000
/** For callers whose key is published. */
const MAX_PUBLIC_LINES = 1_000

/** Limits of an NDJSON body with one request per line. */
export function importLimits({ isAccountBearing }: Pick<Caller, 'isAccountBearing'>) {
  return { ...LINE_LIMITS, maxLines: isAccountBearing ? MAX_LINES : MAX_PUBLIC_LINES }
}

/**
 * Enrolls the valid lines. The first of several lines with one key counts; for the others, and for keys enrolled
 * before, returns the existing device.
 * @throws {Failure} `service_unavailable` beyond the account's share of memory or turns; and what `lines` throws.
 */
export async function importDevices(
  { db, now, trust, bulkWork, budget }: ImportDeps,
  scope: Acting,
  lines: AsyncIterable<ImportLine>,
  idempotencyKey?: IdempotencyKey,
): Promise<ImportResult> {
  const at = now()
  const hardware = { trust, revocations: await trust.revocations() }
  const context = {
    scope,
    anchors: anchorsOf(await db.tenant(scope, (tx) => findCas(tx, 'root_cas'))),
    now: at,
    hardware,
  }
  const rejected: ImportResult['rejected'] = []
  const keys: { line: number; key: string }[] = []
  const fresh = new Map<string, NewDevice & { evidence: NewEvidence | undefined }>()
  // A line costs about half a millisecond of certificate work, and 40 at most: two chains of eight P-521 certificates.
  const slice = createSlice()

  const hold = budget.open(scope.accountId)
  hold.mayBeEvicted(() => {
    fresh.clear()
    keys.length = 0
  })
  function keep(bytes: number): void {
    if (!hold.take(bytes)) throw tooManyImports()
  }

  try {
    for await (const one of lines) {
      keep(BYTES_PER_LINE)
      if (slice.isOver()) await slice.next()
      const { line } = one
      const enrollment =
        'errors' in one ? { isAccepted: false as const, errors: one.errors } : judgeEnrollment(one.value, context)
      if (!enrollment.isAccepted) {
        rejected.push({ line, errors: enrollment.errors })
        continue
      }
      const { device, evidence } = enrollment
      const key = keyOf(device)
      keys.push({ line, key })
      if (fresh.has(key)) continue
      keep(device.certificateChain.reduce((sum, { byteLength }) => sum + byteLength, 0))
      fresh.set(key, { ...device, evidence })
    }

    const enroll = (tx: Tx) => enrollAll(tx, scope, [...fresh.values()], at)
    const enrolled = await bulkWork(scope.accountId, fresh.size, async () => {
      if (!hold.begin()) throw tooManyImports()
      return db.tenant(scope, (tx) => again(tx, idempotencyKey, enroll))
    })
    const devices: ImportResult['devices'] = []
    for (const { line, key } of keys) {
      const device = enrolled.get(key)
      if (device === undefined) throw new Error('a key that was just enrolled has no device')
      if (device.isRevoked) rejected.push({ line, errors: [revokedKey(device.id)] })
      else devices.push({ line, deviceId: device.id })
    }
    return { rejected: rejected.sort((a, b) => a.line - b.line), devices }
  } finally {
    hold.release()
  }
}

export function tooManyImports(): Failure {
  return new Failure('service_unavailable', 'Too many imports at once. Retry later.')
}

// The upper estimate of a line's memory besides its chain: its errors, or its row and its entry in the response.
const BYTES_PER_LINE = 1024

async function enrollAll(
  tx: Tx,
  scope: Acting,
  devices: (NewDevice & { evidence: NewEvidence | undefined })[],
  at: Date,
): Promise<Map<string, EnrolledKey>> {
  const enrolled = new Map<string, EnrolledKey>()
  // All statements use one order of keys: otherwise two imports of one fleet could deadlock.
  devices.sort((a, b) => Buffer.compare(a.spkiDigest, b.spkiDigest))
  // A part of 250 chains is about 1 MB when sent; ten thousand at once would be held three times in memory.
  for await (const part of inParts([devices])) {
    const rows = await enrollWithEvidence(tx, scope, part, at)
    for (const row of rows) enrolled.set(keyOf(row), row)
  }
  const count = [...enrolled.values()].filter(({ isChanged }) => isChanged).length
  // One entry covers all devices: the history of each device names it and the caller.
  if (count > 0) await recordAudit(tx, scope, { action: 'device.enrolled', after: { devices: count } })
  return enrolled
}

function keyOf({ spkiDigest }: { spkiDigest: Buffer }): string {
  return spkiDigest.toString('latin1')
}
