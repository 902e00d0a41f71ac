// One key is one device of its account and environment, permanently (devices_spki_key): two concurrent enrollments of a
// key end with one row, and a revoked key can't return.

import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf } from '#src/platform/db/id-ranges.ts'
import { oneRow } from '#src/platform/db/reads.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { RevocationSnapshot } from '../hardware/revocations.ts'
import type { HardwareTier } from '../hardware/verdict.ts'
import { HARDWARE, type HardwareColumns, tierCondition } from './hardware-rows.ts'
import { entriesOfWritten } from './history-rows.ts'

// A capture arrives within 30 days, in which few certificates succeed each other.
const MAX_FORMER_CHAINS = 8

export const DEVICE_STATES = ['enrolled', 'expired', 'revoked'] as const
export type DeviceState = (typeof DEVICE_STATES)[number]

export interface DeviceRow extends HardwareColumns {
  id: string
  name: string | null
  /** DER SubjectPublicKeyInfo. */
  spki: Buffer
  /** SHA-256 of `spki`. */
  spkiDigest: Buffer
  /** DER, leaf first, as sent at the enrollment. */
  certificateChain: Buffer[]
  /** Chains that renewals replaced, newest first, each as base64 of its certificates with commas between them. */
  formerChains: string[]
  notBefore: Date
  notAfter: Date
  enrolledAt: Date
  revokedAt: Date | null
  revokeEffectiveAt: Date | null
  revokeReason: string | null
}

export interface NewDevice {
  id: string
  name: string | null
  spki: Buffer
  spkiDigest: Buffer
  certificateChain: readonly Buffer[]
  certificateSubject: string
  notBefore: Date
  notAfter: Date
}

/** The result of enrolling a key: a new row, or the existing row of the key. */
export interface EnrolledKey {
  id: string
  spkiDigest: Buffer
  isRevoked: boolean
  /** Enrolled, renewed or given its first evidence now, and not merely found. */
  isChanged: boolean
}

/**
 * Inserts the devices whose keys are new, and renews the certificates of expired ones; enrolled and revoked rows stay
 * as they are. The keys must be distinct and sorted by digest: a common order keeps two imports of the same fleet from
 * deadlocking.
 */
export async function enrollDevices(
  tx: Tx,
  acting: Acting,
  devices: readonly NewDevice[],
  now: Date,
): Promise<EnrolledKey[]> {
  const values: unknown[] = [
    acting.accountId,
    acting.environment,
    now,
    devices.map(({ id }) => id),
    devices.map(({ name }) => name),
    devices.map(({ spki }) => spki),
    devices.map(({ spkiDigest }) => spkiDigest),
    devices.map(({ certificateChain }) => certificateChain.map((der) => der.toString('base64')).join(',')),
    devices.map(({ certificateSubject }) => certificateSubject),
    devices.map(({ notBefore }) => notBefore),
    devices.map(({ notAfter }) => notAfter),
  ]
  const entries = entriesOfWritten(
    acting,
    {
      at: now,
      kind: "CASE WHEN is_new THEN 'enrolled' ELSE 'renewed' END",
      detail: `jsonb_build_object('subject', certificate_subject, 'expires_at',
        to_char(not_after AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
    },
    values,
  )
  // unnest flattens nested arrays, so a chain is sent as one text.
  const written = await tx.query<{ id: string }>(
    `WITH written AS (INSERT INTO devices (account_id, environment, id, name, spki, spki_digest, certificate_chain, certificate_subject,
       not_before, not_after, enrolled_at)
     SELECT $1, $2, new.id, new.name, new.spki, new.digest,
       ARRAY(SELECT decode(part, 'base64') FROM string_to_table(new.chain, ',') WITH ORDINALITY AS p (part, place)
         ORDER BY place),
       new.subject, new.not_before, new.not_after, $3
     FROM unnest($4::text[], $5::text[], $6::bytea[], $7::bytea[], $8::text[], $9::text[], $10::timestamptz[],
       $11::timestamptz[]) AS new (id, name, spki, digest, chain, subject, not_before, not_after)
     ORDER BY new.digest
     ON CONFLICT ON CONSTRAINT devices_spki_key DO UPDATE SET
       certificate_chain = excluded.certificate_chain,
       -- Captures from before the renewal may still arrive: they are judged by the chain of their time.
       former_chains = (ARRAY[(SELECT string_agg(replace(encode(der, 'base64'), E'\\n', ''), ',' ORDER BY place)
         FROM unnest(devices.certificate_chain) WITH ORDINALITY AS former (der, place))]
         || devices.former_chains)[1:${MAX_FORMER_CHAINS}],
       certificate_subject = excluded.certificate_subject,
       not_before = least(devices.not_before, excluded.not_before),
       not_after = excluded.not_after
     WHERE devices.revoked_at IS NULL AND devices.not_after < $3
     -- Only a new row has no xmax.
     RETURNING account_id, environment, id, certificate_subject, not_after, xmax = 0 AS is_new)
     ${entries} RETURNING device_id AS id`,
    values,
  )
  // A separate statement: it sees the rows that a concurrent enrollment committed while ours waited for it.
  return tx.query<EnrolledKey>(
    `SELECT id, spki_digest AS "spkiDigest", revoked_at IS NOT NULL AS "isRevoked", id = ANY($2::text[]) AS "isChanged"
     FROM devices WHERE spki_digest = ANY($1::bytea[])`,
    [devices.map(({ spkiDigest }) => spkiDigest), written.map(({ id }) => id)],
  )
}

/** What `withState` needs. The argument is the place of the id. */
export const deviceStateRow = (id: `$${number}`) =>
  oneRow<DeviceStateRow>(
    `SELECT not_after AS "notAfter", revoked_at AS "revokedAt", hardware_tier AS "provenTier",
       attestation_serials AS "attestationSerials" FROM devices WHERE id = ${id}`,
  )

export type DeviceStateRow = Pick<DeviceRow, 'notAfter' | 'revokedAt' | 'provenTier' | 'attestationSerials'>

export async function findDeviceById(tx: Tx, id: string): Promise<DeviceRow | undefined> {
  const [device] = await tx.query<DeviceRow>(`SELECT ${DEVICE} FROM devices WHERE id = $1`, [id])
  return device
}

export async function findDevicesByIds(tx: Tx, ids: readonly string[]): Promise<DeviceRow[]> {
  return tx.query<DeviceRow>(`SELECT ${DEVICE} FROM devices WHERE id = ANY($1) ORDER BY id`, [ids])
}

/** `digest`: SHA-256 of the DER SubjectPublicKeyInfo. */
export async function findDeviceBySpki(tx: Tx, digest: Buffer): Promise<DeviceRow | undefined> {
  const [device] = await tx.query<DeviceRow>(`SELECT ${DEVICE} FROM devices WHERE spki_digest = $1`, [digest])
  return device
}

export interface DeviceFilter {
  /** Any of these. */
  states?: readonly DeviceState[] | undefined
  /** What counts by the list of revoked keys given with it. */
  tier?: { tier: HardwareTier; revocations: RevocationSnapshot } | undefined
  enrolledGte?: Date | undefined
  enrolledLt?: Date | undefined
  expiresGte?: Date | undefined
  expiresLt?: Date | undefined
}

export const DEVICE_ORDERS = ['created', 'expires'] as const

export interface DeviceOrder {
  by: (typeof DEVICE_ORDERS)[number]
  direction: 'asc' | 'desc'
}

const NEWEST_FIRST: DeviceOrder = { by: 'created', direction: 'desc' }

export interface DevicePage {
  order?: DeviceOrder
  /** The last device of the previous page. Its time is read by the order of expiry only. */
  after: { id: string; notAfter: Date | undefined } | undefined
  limit: number
  /** Decides which are expired. */
  now: Date
}

export async function listDevices(
  tx: Tx,
  scope: Scope,
  filter: DeviceFilter,
  { order = NEWEST_FIRST, after, limit, now }: DevicePage,
): Promise<DeviceRow[]> {
  const { conditions, values } = deviceConditions(scope, filter, now)
  const direction = order.direction === 'asc' ? 'ASC' : 'DESC'
  const beyond = order.direction === 'asc' ? '>' : '<'
  const columns = order.by === 'expires' ? `not_after ${direction}, id ${direction}` : `id ${direction}`
  if (after !== undefined && order.by === 'expires') {
    const [time, id] = [`$${values.push(after.notAfter)}::timestamptz`, `$${values.push(after.id)}::text`]
    conditions.push(`(not_after, id) ${beyond} (${time}, ${id})`)
  } else if (after !== undefined) conditions.push(`id ${beyond} $${values.push(after.id)}`)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const limited = `ORDER BY ${columns} LIMIT $${values.push(limit)}`
  // A planner takes the few that expire soon for as likely among the newest as among the oldest, and reads the account from
  // its newest device on. Behind OFFSET 0 it finds them by their expiry.
  const isByExpiry = order.by === 'created' && isOfFewTimes(filter)
  const rows = isByExpiry
    ? `WHERE id = ANY(ARRAY(SELECT id FROM (SELECT id FROM devices ${where} OFFSET 0) AS matching ${limited})) ORDER BY ${columns}`
    : `${where} ${limited}`
  return tx.adhoc<DeviceRow>(`SELECT ${DEVICE} FROM devices ${rows}`, values)
}

function isOfFewTimes({ states, expiresGte, expiresLt }: DeviceFilter): boolean {
  const isExpired = states?.length === 1 && states[0] === 'expired'
  return isExpired || expiresGte !== undefined || expiresLt !== undefined
}

export async function countDevices(tx: Tx, scope: Scope, filter: DeviceFilter, now: Date): Promise<number> {
  const { conditions, values } = deviceConditions(scope, filter, now)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const [row] = await tx.adhoc<{ count: number }>(countOf(`devices ${where}`), values)
  return row?.count ?? 0
}

/** How many there are of the tier, however many that are. */
export async function countOfTier(tx: Tx, scope: Scope, tier: NonNullable<DeviceFilter['tier']>): Promise<number> {
  const { conditions, values } = deviceConditions(scope, { tier }, new Date(0))
  const [row] = await tx.adhoc<{ count: number }>(
    `SELECT count(*) AS count FROM devices WHERE ${conditions.join(' AND ')}`,
    values,
  )
  return row?.count ?? 0
}

/** `undefined`: no such device. */
export async function renameDevice(tx: Tx, id: string, name: string | null): Promise<DeviceRow | undefined> {
  const [device] = await tx.query<DeviceRow>(`UPDATE devices SET name = $2 WHERE id = $1 RETURNING ${DEVICE}`, [
    id,
    name,
  ])
  return device
}

/** Revokes the device unless it is revoked. `undefined`: no such device, or revoked before. */
export async function revokeDevice(
  tx: Tx,
  acting: Acting,
  id: string,
  revocation: { at: Date; effectiveAt: Date; reason: string; named?: string | undefined },
): Promise<DeviceRow | undefined> {
  const values: unknown[] = [id, revocation.at, revocation.effectiveAt, revocation.reason]
  const entries = entriesOfWritten(
    acting,
    {
      at: revocation.at,
      named: revocation.named,
      kind: "'revoked'",
      reason: 'revoke_reason',
      detail: `jsonb_build_object('effective_at',
        to_char(revoke_effective_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
    },
    values,
  )
  const [device] = await tx.query<DeviceRow>(
    `WITH written AS (
       UPDATE devices SET revoked_at = $2, revoke_effective_at = $3, revoke_reason = $4
       WHERE id = $1 AND revoked_at IS NULL RETURNING *
     ), told AS (${entries})
     SELECT ${DEVICE} FROM written`,
    values,
  )
  return device
}

const DEVICE = `id, name, spki, spki_digest AS "spkiDigest", certificate_chain AS "certificateChain",
  former_chains AS "formerChains", not_before AS "notBefore", not_after AS "notAfter", ${HARDWARE}, enrolled_at AS "enrolledAt",
  revoked_at AS "revokedAt", revoke_effective_at AS "revokeEffectiveAt", revoke_reason AS "revokeReason"`

function deviceConditions({ environment }: Scope, filter: DeviceFilter, now: Date) {
  const values: unknown[] = []
  const conditions: string[] = []
  const compareExpiry = (operator: '>=' | '<', at: Date) => `not_after ${operator} $${values.push(at)}`
  const states = new Set(filter.states)
  if (states.size > 0 && states.size < DEVICE_STATES.length) {
    const either = [
      ...(states.has('revoked') ? ['revoked_at IS NOT NULL'] : []),
      ...(states.has('expired') ? [`revoked_at IS NULL AND ${compareExpiry('<', now)}`] : []),
      ...(states.has('enrolled') ? [`revoked_at IS NULL AND ${compareExpiry('>=', now)}`] : []),
    ]
    conditions.push(`(${either.join(' OR ')})`)
  }
  if (filter.expiresGte !== undefined) conditions.push(compareExpiry('>=', filter.expiresGte))
  if (filter.expiresLt !== undefined) conditions.push(compareExpiry('<', filter.expiresLt))
  if (filter.tier) conditions.push(tierCondition(filter.tier.tier, filter.tier.revocations, values))
  const range = { from: filter.enrolledGte, to: filter.enrolledLt }
  conditions.push(...conditionsOfRange(values, { type: 'dev', environment, time: 'enrolled_at' }, range))
  return { conditions, values }
}
