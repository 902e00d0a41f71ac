// The registry of signing devices. A device is enrolled, expired (its certificate lapsed; a valid certificate for the
// same key renews it) or revoked, which is final: the key stays refused.

import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import { requestReevaluation } from '#src/attest/causes/request.ts'
import { anchorsOf } from '#src/attest/trust/certificates.ts'
import { Failure, fieldFailure, invalidField } from '#src/failure.ts'
import type { BulkWork } from '#src/platform/bulk-work.ts'
import { lockExclusive, subjectLock } from '#src/platform/db/advisory.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { createFairBudget, type FairBudget } from '#src/platform/fair-budget.ts'
import { type ActorView, actorIdOf } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { invalidRequest } from '#src/platform/http/validate.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { type HardwareEvidence, judgeEvidence, NO_TRUST, type Trust, withChallenge } from '../hardware/evidence.ts'
import type { RevocationSnapshot } from '../hardware/revocations.ts'
import { type HardwareTier, isProven, type Reason } from '../hardware/verdict.ts'
import { findCas } from '../trust/rows.ts'
import { consumeChallenges } from './challenge-rows.ts'
import { enrollWithEvidence } from './enroll-rows.ts'
import { type EnrollRequest, judgeEnrollment, revokedKey } from './enrollment.ts'
import { type CurrentHardware, currentHardwareOf, replaceVerdict } from './hardware-rows.ts'
import { countByState, type DeviceCounts, type DeviceEntry, findDeviceEntries } from './history-rows.ts'
import { type ImportLine, type ImportResult, importDevices } from './import.ts'
import { type RefreshLine, type RefreshResult, reasonsOf, refreshDevices } from './refresh.ts'
import {
  countDevices,
  countOfTier,
  type DeviceOrder,
  type DevicePage,
  type DeviceRow,
  type DeviceState,
  type DeviceStateRow,
  findDeviceById,
  findDeviceBySpki,
  listDevices,
  renameDevice,
  revokeDevice,
} from './rows.ts'

export interface RevokeRequest {
  reason: string
  actor?: string | undefined
  /** ISO 8601. Now when absent. */
  effective_at?: string | undefined
}

/** A row, and its state at the time of the response. */
export type Device = DeviceRow & CurrentHardware & { state: DeviceState }

export interface DeviceListQuery {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
  /** ISO 8601, like `created_lt`: when the device was enrolled. */
  created_gte?: string | undefined
  created_lt?: string | undefined
  /** ISO 8601, like `expires_lt`: when the certificate expires. */
  expires_gte?: string | undefined
  expires_lt?: string | undefined
  order?: DeviceOrder['direction']
  order_by?: DeviceOrder['by']
  /** Any of these. */
  status?: readonly DeviceState[] | undefined
  hardware_tier?: HardwareTier | undefined
}

/** What else ends with a device, in the transaction of its revocation. */
export type EndWithDevice = (tx: Tx, acting: Acting, device: { deviceId: string; reason: string }) => Promise<void>

export interface DevicesDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
  endWithDevice?: EndWithDevice | undefined
  /** By default no vendor is trusted: no evidence verifies. */
  trust?: Trust
  bulkWork: BulkWork
  /** How much memory all imports of this process may use together. */
  importBudget?: FairBudget
}

// Four of the largest imports at once, two of one account. An import stays in memory until its last line has arrived.
const IMPORT_BUDGET_BYTES = 256 * 1024 * 1024

export type Devices = ReturnType<typeof createDevices>

export function createDevices({
  db,
  pager,
  now,
  endWithDevice = async () => {},
  bulkWork,
  trust = NO_TRUST,
  importBudget = createFairBudget(IMPORT_BUDGET_BYTES),
}: DevicesDeps) {
  return {
    /**
     * Enrolls one key. For a key that is already enrolled, returns its device unchanged.
     * @throws {Failure} `invalid_request` at `/certificate_chain`; `device_revoked` when the key belongs to one.
     */
    async enroll(scope: Acting, request: EnrollRequest, key?: IdempotencyKey): Promise<Device> {
      const at = now()
      const anchors = anchorsOf(await db.tenant(scope, (tx) => findCas(tx, 'root_cas')))
      const hardware = { trust, revocations: await trust.revocations() }
      const enrollment = judgeEnrollment(request, { scope, anchors, now: at, hardware })
      if (!enrollment.isAccepted) throw invalidRequest(enrollment.errors)
      const { evidence } = enrollment
      const enroll = async (tx: Tx) => {
        const [enrolled] = await enrollWithEvidence(tx, scope, [{ ...enrollment.device, evidence }], at)
        const row = await findDeviceBySpki(tx, enrollment.device.spkiDigest)
        if (row === undefined) throw new Error('a key that was just enrolled has no device')
        if (enrolled?.isChanged) {
          const after = { name: row.name, hardware_tier: row.provenTier, expires_at: row.notAfter.toISOString() }
          await recordAudit(tx, scope, { action: 'device.enrolled', subjectId: row.id, after })
        }
        if (row.revokedAt === null) return withState(row, at, hardware.revocations)
        throw fieldFailure('device_revoked', revokedKey(row.id))
      }
      return db.tenant(scope, (tx) => once(tx, key, enroll, ({ id }) => id))
    },

    /** See `importDevices`. */
    enrollMany(scope: Acting, lines: AsyncIterable<ImportLine>, key?: IdempotencyKey): Promise<ImportResult> {
      return importDevices({ db, now, trust, bulkWork, budget: importBudget }, scope, lines, key)
    },

    /**
     * Newest first unless the query has another order.
     * @throws {Failure} `invalid_request` at `?cursor`.
     */
    async list(scope: Scope, query: DeviceListQuery): Promise<CountedPage<Device>> {
      const at = now()
      const order: DeviceOrder = { by: query.order_by ?? 'created', direction: query.order ?? 'desc' }
      const revocations = await trust.revocations()
      const filter = {
        states: query.status,
        tier: query.hardware_tier === undefined ? undefined : { tier: query.hardware_tier, revocations },
        enrolledGte: timeOf(query.created_gte),
        enrolledLt: timeOf(query.created_lt),
        expiresGte: timeOf(query.expires_gte),
        expiresLt: timeOf(query.expires_lt),
      }
      const list = { route: 'GET /v1/admin/devices', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, { before, limit }) =>
          listDevices(tx, scope, filter, { order, after: afterOf(before), limit, now: at }),
        count: (tx) => countDevices(tx, scope, filter, at),
        keyOf: placeOf(order),
        show: async (_tx, rows) => rows.map((row) => withState(row, at, revocations)),
      })
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<Device> {
      checkId(id, 'dev', scope.environment)
      const device = await db.tenant(scope, (tx) => findDeviceById(tx, id))
      if (device === undefined) throw notFound(id)
      return withState(device, now(), await trust.revocations())
    },

    /**
     * @param name null: the device has none.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async rename(scope: Acting, id: string, name: string | null, key?: IdempotencyKey): Promise<Device> {
      checkId(id, 'dev', scope.environment)
      const revocations = await trust.revocations()
      const rename = async (tx: Tx) => {
        const before = await findDeviceById(tx, id)
        if (before?.name === name) return before
        const after = await renameDevice(tx, id, name)
        if (before === undefined || after === undefined) throw notFound(id)
        await recordAudit(tx, scope, {
          action: 'device.renamed',
          subjectId: id,
          before: { name: before.name },
          after: { name },
        })
        return after
      }
      const device = await db.tenant(scope, (tx) => once(tx, key, rename, () => id))
      return withState(device, now(), revocations)
    },

    /**
     * Revokes a device permanently. Repeating the same revocation (a client that lost the response) returns the same.
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_request` for a time out of bounds,
     * `invalid_state_transition` when it was revoked with other values.
     */
    async revoke(scope: Acting, id: string, request: RevokeRequest, key?: IdempotencyKey): Promise<Device> {
      checkId(id, 'dev', scope.environment)
      const at = now()
      const effectiveAt = request.effective_at === undefined ? at : readEffectiveAt(request.effective_at, at)
      const revocations = await trust.revocations()
      const revoke = async (tx: Tx) => {
        const revoked = await revokeDevice(tx, scope, id, {
          at,
          effectiveAt,
          reason: request.reason,
          named: request.actor,
        })
        if (revoked !== undefined) {
          const cause = { cause: 'device_revoked', deviceId: id, effectiveAt: effectiveAt.toISOString() } as const
          await requestReevaluation(tx, scope, cause)
          const after = { reason: request.reason, effective_at: effectiveAt.toISOString() }
          await recordAudit(tx, scope, { action: 'device.revoked', subjectId: id, after })
          await endWithDevice(tx, scope, { deviceId: id, reason: request.reason })
          return withState(revoked, at, revocations)
        }
        const device = await findDeviceById(tx, id)
        if (device === undefined) throw notFound(id)
        if (isSameRevocation(device, request)) return withState(device, at, revocations)
        throw new Failure('invalid_state_transition', {
          detail: `${id} was revoked at ${device.revokedAt?.toISOString()}: a revocation is final and can't be changed.`,
          members: { allowed: [] },
        })
      }
      return db.tenant(scope, async (tx) => {
        // Decisions about tokens of the device hold this lock shared: none commits after a revocation that it has not read.
        await lockExclusive(tx, [subjectLock(scope, 'device', id)])
        return once(tx, key, revoke, () => id)
      })
    },

    /**
     * Replaces the hardware facts of a device by those of newer evidence, which may prove less than the old. Evidence
     * that proves nothing about this device is refused and changes nothing; its challenge stays unused.
     * @throws {Failure} `environment_mismatch`, `not_found`, `device_revoked`, `invalid_request`
     * with the reasons.
     */
    async attest(scope: Acting, id: string, request: HardwareEvidence, key?: IdempotencyKey): Promise<Device> {
      checkId(id, 'dev', scope.environment)
      const at = now()
      const revocations = await trust.revocations()
      const before = await db.tenant(scope, (tx) => findDeviceById(tx, id))
      if (before === undefined) throw notFound(id)
      const context = { trust, revocations, environment: scope.environment, at }
      const judged = judgeEvidence(request, before.spki, context)
      const replace = async (tx: Tx) => {
        const [state = 'unknown'] = await consumeChallenges(tx, [{ challenge: request.challenge, deviceId: id }], at)
        const verdict = withChallenge(judged, state)
        if (!isProven(verdict.reasons)) throw refusedEvidence(request, verdict.reasons)
        if (!(await replaceVerdict(tx, scope, id, { verdict, at }))) {
          throw new Failure('device_revoked', `${id} is revoked: it accepts no more attestations.`)
        }
        const row = await findDeviceById(tx, id)
        if (row === undefined) throw notFound(id)
        await recordAudit(tx, scope, {
          action: 'device.evidence_changed',
          subjectId: id,
          before: { hardware_tier: before.provenTier },
          after: { hardware_tier: row.provenTier },
        })
        return withState(row, at, revocations)
      }
      return db.tenant(scope, (tx) => once(tx, key, replace, () => id))
    },

    /** See `refreshDevices`. */
    attestMany(scope: Acting, lines: AsyncIterable<RefreshLine>, key?: IdempotencyKey): Promise<RefreshResult> {
      return refreshDevices({ db, now, trust, bulkWork, budget: importBudget }, scope, lines, key)
    },

    /** Newest first. @throws {Failure} `environment_mismatch`, `not_found`, `invalid_request` at `?cursor`. */
    async history(scope: Scope, id: string, query: PageQuery): Promise<CountedPage<DeviceEntry & { by: ActorView }>> {
      checkId(id, 'dev', scope.environment)
      const list = { route: 'GET /v1/admin/devices/:id/history', scope, query: { ...query, id } }
      const actorOf = ({ actor: person, keyId }: DeviceEntry) => actorIdOf({ person, keyId })
      return listPage({ db, pager }, list, {
        rows: async (tx, page) => {
          if ((await findDeviceById(tx, id)) === undefined) throw notFound(id)
          return findDeviceEntries(tx, id, page)
        },
        show: async (tx, entries) => {
          const actors = await readActors(tx, entries.map(actorOf))
          return entries.map((entry) => ({ ...entry, by: actors(actorOf(entry), entry.actor) }))
        },
      })
    },

    /** How many devices are in each state, and in each tier by the current list of revoked keys. */
    async count(scope: Scope): Promise<{ states: DeviceCounts; tiers: Record<HardwareTier, number> }> {
      const at = now()
      const revocations = await trust.revocations()
      return db.tenant(scope, async (tx) => {
        const tierCount = (tier: HardwareTier) => countOfTier(tx, scope, { tier, revocations })
        const [states, none, software, tee, strongbox, secure_enclave] = await Promise.all([
          countByState(tx, at, new Date(at.getTime() + SOON_MS)),
          tierCount('none'),
          tierCount('software'),
          tierCount('tee'),
          tierCount('strongbox'),
          tierCount('secure_enclave'),
        ])
        return { states, tiers: { none, software, tee, strongbox, secure_enclave } }
      })
    },
  }
}

const timeOf = (text: string | undefined) => (text === undefined ? undefined : new Date(text))

/** What a cursor holds of a device: its place in the order. */
function placeOf({ by }: DeviceOrder): (device: DeviceRow) => string {
  return by === 'expires' ? ({ id, notAfter }) => `${notAfter.toISOString()} ${id}` : ({ id }) => id
}

function afterOf(place: string | undefined): DevicePage['after'] {
  if (place === undefined) return undefined
  const [id = '', time] = place.split(' ').toReversed()
  return { id, notAfter: timeOf(time) }
}

// Long enough to renew a fleet.
const SOON_MS = 30 * 24 * 3_600_000

function refusedEvidence(request: HardwareEvidence, reasons: readonly Reason[]): Failure {
  return invalidRequest(reasonsOf(request, reasons))
}

/** The state of a device at that time, by its certificate, its revocation and the list of revoked keys. */
export function withState<Row extends DeviceStateRow>(
  row: Row,
  now: Date,
  revocations: RevocationSnapshot,
): Row & CurrentHardware & Pick<Device, 'state'> {
  // RFC 5280 4.1.2.5: the last second still counts.
  const lapsed = row.notAfter < now ? 'expired' : 'enrolled'
  return { ...row, ...currentHardwareOf(row, revocations, now), state: row.revokedAt === null ? lapsed : 'revoked' }
}

// Tolerates a clock that runs slightly ahead. Later times are refused: a scheduled revocation protects nothing until
// then.
const MAX_AHEAD_MS = 5 * 60_000
// No device is older: an earlier time is a mistake of the caller.
const EARLIEST = new Date('2000-01-01T00:00:00.000Z')

function readEffectiveAt(text: string, now: Date): Date {
  const at = new Date(text)
  if (at.getTime() > now.getTime() + MAX_AHEAD_MS) {
    throw invalidField('/effective_at', 'in_future', 'must not lie more than 5 minutes in the future')
  }
  if (at < EARLIEST) throw invalidField('/effective_at', 'out_of_range', `must not be before ${EARLIEST.toISOString()}`)
  return at
}

function isSameRevocation(device: DeviceRow, { reason, effective_at: effectiveAt }: RevokeRequest): boolean {
  const expected = effectiveAt === undefined ? device.revokedAt : new Date(effectiveAt)
  return device.revokeReason === reason && device.revokeEffectiveAt?.getTime() === expected?.getTime()
}

function notFound(id: string): Failure {
  return new Failure('not_found', `No device ${id}.`)
}
