// Newer evidence for a fleet at once, under the rules of an import: an invalid line does not affect the others, and
// nothing is written before the last line has arrived.

import { setImmediate } from 'node:timers/promises'
import { recordAudit } from '#src/account/audit/record.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import type { BulkWork } from '#src/platform/bulk-work.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { FairBudget } from '#src/platform/fair-budget.ts'
import type { ParsedLine } from '#src/platform/http/bulk.ts'
import { again, type IdempotencyKey } from '#src/platform/http/idempotency.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { checkId, type Environment } from '#src/platform/ids.ts'
import { type HardwareEvidence, judgeEvidence, type Trust, withChallenge } from '../hardware/evidence.ts'
import { type EvidenceVerdict, isProven, type Reason } from '../hardware/verdict.ts'
import { consumeChallenges, findConsumers } from './challenge-rows.ts'
import { replaceVerdict } from './hardware-rows.ts'
import { tooManyImports } from './import.ts'
import { type DeviceRow, findDevicesByIds } from './rows.ts'

export interface RefreshRequest {
  device_id: string
  attestation: HardwareEvidence
}

/** `line` counts from 1. */
export type RefreshLine = { line: number } & ParsedLine<RefreshRequest>

export interface RefreshResult {
  rejected: { line: number; errors: FieldError[] }[]
  devices: { line: number; deviceId: string; provenTier: EvidenceVerdict['provenTier'] }[]
}

export interface RefreshDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  trust: Trust
  /** An import is one transaction. */
  bulkWork: BulkWork
  /** How much memory all imports of this process may use together. */
  budget: FairBudget
}

interface Judged {
  line: number
  deviceId: string
  challenge: string
  request: HardwareEvidence
  verdict: EvidenceVerdict
}

/**
 * Replaces the hardware facts of the devices. The first of several lines about one device counts.
 * @throws {Failure} `service_unavailable` beyond the account's share of memory or turns; and what `lines` throws.
 */
export async function refreshDevices(
  { db, now, trust, bulkWork, budget }: RefreshDeps,
  acting: Acting,
  lines: AsyncIterable<RefreshLine>,
  idempotencyKey?: IdempotencyKey,
): Promise<RefreshResult> {
  const at = now()
  const rejected: RefreshResult['rejected'] = []
  const wanted = new Map<string, { line: number; request: HardwareEvidence }>()
  const hold = budget.open(acting.accountId)
  const judged: Judged[] = []
  hold.mayBeEvicted(() => {
    wanted.clear()
    judged.length = 0
  })
  const refuse = (line: number, ...errors: FieldError[]) => void rejected.push({ line, errors })

  try {
    for await (const one of lines) {
      const bytes = BYTES_PER_LINE + ('value' in one ? sizeOf(one.value.attestation) : 0)
      if (!hold.take(bytes)) throw tooManyImports()
      if ('errors' in one) {
        refuse(one.line, ...one.errors)
        continue
      }
      const { device_id: deviceId, attestation } = one.value
      const wrong = wrongId(deviceId, acting.environment)
      if (wrong !== undefined) refuse(one.line, wrong)
      else if (wanted.has(deviceId)) refuse(one.line, { pointer: '/device_id', code: 'duplicate', detail: TWICE })
      else wanted.set(deviceId, { line: one.line, request: attestation })
    }
    for (const chunk of chunksOf([...wanted])) {
      const ids = chunk.map(([id]) => id)
      const rows = new Map((await db.tenant(acting, (tx) => findDevicesByIds(tx, ids))).map((row) => [row.id, row]))
      judged.push(...(await judgeChunk(chunk, rows, refuse)))
    }
    const write = (tx: Tx) => replaceAll(tx, acting, judged, { at, isReplayed: idempotencyKey?.isReplayed ?? false })
    const written = await bulkWork(acting.accountId, judged.length, async () => {
      if (!hold.begin()) throw tooManyImports()
      return db.tenant(acting, (tx) => again(tx, idempotencyKey, write))
    })
    return { rejected: [...rejected, ...written.rejected].sort((a, b) => a.line - b.line), devices: written.devices }
  } finally {
    hold.release()
  }

  async function judgeChunk(
    chunk: readonly [id: string, wish: { line: number; request: HardwareEvidence }][],
    rows: ReadonlyMap<string, DeviceRow>,
    refuseLine: typeof refuse,
  ): Promise<Judged[]> {
    const revocations = await trust.revocations()
    const judged: Judged[] = []
    for (const [deviceId, { line, request }] of chunk) {
      const row = rows.get(deviceId)
      if (row === undefined) {
        refuseLine(line, { pointer: '/device_id', code: 'not_found', detail: `There is no device ${deviceId}.` })
        continue
      }
      if (row.revokedAt !== null) {
        refuseLine(line, revoked(deviceId))
        continue
      }
      const verdict = judgeEvidence(request, row.spki, { trust, revocations, environment: acting.environment, at })
      if (isProven(verdict.reasons)) judged.push({ line, deviceId, challenge: request.challenge, request, verdict })
      else refuseLine(line, ...reasonsOf(request, verdict.reasons, '/attestation'))
      // Each costs about a millisecond of certificate work; yields to other requests.
      await setImmediate()
    }
    return judged
  }
}

/** Why evidence was refused, with pointers into the request. */
export function reasonsOf({ format }: HardwareEvidence, reasons: readonly Reason[], place = ''): FieldError[] {
  const evidence = `${place}${format === 'android-key' ? '/chain' : '/object'}`
  return reasons.map(({ code, detail }) => ({
    pointer: code.startsWith('challenge_') ? `${place}/challenge` : evidence,
    code,
    detail,
  }))
}

// The upper estimate of a line's memory besides its evidence.
const BYTES_PER_LINE = 1024
const CHUNK = 500
const TWICE = 'repeats an earlier line, which counts'

function chunksOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, index) =>
    items.slice(index * CHUNK, (index + 1) * CHUNK),
  )
}

function sizeOf(request: HardwareEvidence): number {
  return request.format === 'android-key'
    ? request.chain.reduce((sum, der) => sum + der.length, 0)
    : request.object.length
}

function wrongId(id: string, environment: Environment): FieldError | undefined {
  try {
    checkId(id, 'dev', environment)
    return undefined
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { pointer: '/device_id', code: error.code, detail: error.message }
  }
}

function revoked(id: string): FieldError {
  return {
    pointer: '/device_id',
    code: 'device_revoked',
    detail: `names ${id}, which is revoked: it accepts no more attestations`,
  }
}

async function replaceAll(
  tx: Tx,
  acting: Acting,
  judged: readonly Judged[],
  { at, isReplayed }: { at: Date; isReplayed: boolean },
): Promise<RefreshResult> {
  const result: RefreshResult = { rejected: [], devices: [] }
  let count = 0
  // Every transaction locks challenges before devices, and each of the two in one order.
  const sorted = judged.toSorted((a, b) => (a.deviceId < b.deviceId ? -1 : 1))
  const states = await consumeChallenges(tx, sorted, at)
  const answered = isReplayed ? sorted.map(({ challenge }) => challenge) : []
  const consumers = await findConsumers(tx, answered)
  for (const [index, one] of sorted.entries()) {
    const { line, deviceId, request } = one
    const verdict = withChallenge(one.verdict, states[index] ?? 'unknown')
    const isDone = states[index] === 'used' && consumers.get(one.challenge) === deviceId
    if (!isDone && !isProven(verdict.reasons)) {
      result.rejected.push({ line, errors: reasonsOf(request, verdict.reasons, '/attestation') })
    } else if (!isDone && !(await replaceVerdict(tx, acting, deviceId, { verdict, at }))) {
      result.rejected.push({ line, errors: [revoked(deviceId)] })
    } else {
      if (!isDone) count += 1
      result.devices.push({ line, deviceId, provenTier: one.verdict.provenTier })
    }
  }
  // One entry covers all devices: the history of each device names it and the caller.
  if (count > 0) await recordAudit(tx, acting, { action: 'device.evidence_changed', after: { devices: count } })
  result.devices.sort((a, b) => a.line - b.line)
  return result
}
