import { randomBytes } from 'node:crypto'
import { findDeviceById } from '#src/attest/devices/rows.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { type CaptureSession, findSessions, insertSessions } from './rows.ts'

/**
 * How long after its issue a capture may use a nonce. It limits `captured_at`, not the submission: phones may be
 * offline.
 */
const SESSION_SECONDS = 600
export const MAX_SESSIONS = 1000
const NONCE_BYTES = 32

export interface SessionRequest {
  count: number
  device_id?: string | undefined
  claim_reference?: string | undefined
}

export interface IssuedSession {
  capture_session_id: string
  session_nonce: string
  issued_at: string
  expires_at: string
}

export interface CapturesDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  /** A source of unpredictable bytes. */
  random?: (size: number) => Buffer
}

export type Captures = ReturnType<typeof createCaptures>

export function createCaptures({ db, now, random = randomBytes }: CapturesDeps) {
  return {
    /**
     * Issues nonces for future captures, all with one lifetime.
     * @throws {Failure} `environment_mismatch` or `not_found` for the device id, `device_revoked`.
     */
    async issue(scope: Scope, request: SessionRequest, key?: IdempotencyKey): Promise<{ sessions: IssuedSession[] }> {
      const { count, device_id: deviceId = null, claim_reference: claimReference = null } = request
      if (deviceId !== null) checkId(deviceId, 'dev', scope.environment)

      const issuedAt = now()
      const expiresAt = new Date(issuedAt.getTime() + SESSION_SECONDS * 1000)
      const entropy = random(count * NONCE_BYTES)
      const sessions = Array.from({ length: count }, (_, index) => ({
        id: newId('cap', scope.environment, issuedAt.getTime()),
        nonce: entropy.subarray(index * NONCE_BYTES, (index + 1) * NONCE_BYTES).toString('base64url'),
      }))

      const insert = async (tx: Tx) => {
        if (deviceId !== null) {
          const device = await findDeviceById(tx, deviceId)
          if (device === undefined) throw new Failure('not_found', `There is no device ${deviceId}.`)
          if (device.revokedAt !== null) throw revokedDevice(deviceId, device.revokedAt)
        }
        await insertSessions(tx, scope, sessions, { deviceId, claimReference, issuedAt, expiresAt })
      }
      const ids = sessions.map(({ id }) => id)
      await db.tenant(scope, (tx) => once(tx, key, insert, () => ids.join(' ')))
      return { sessions: sessions.map(({ id, nonce }) => issued({ id, nonce, issuedAt, expiresAt })) }
    },

    /** Sessions that were issued together; `ids` as `issue` stored them with its idempotency key. */
    async reissue(scope: Scope, ids: string): Promise<{ sessions: IssuedSession[] }> {
      const rows = await db.tenant(scope, (tx) => findSessions(tx, ids.split(' ')))
      const sessions = new Map(rows.map((row) => [row.id, row]))
      return {
        sessions: ids
          .split(' ')
          .flatMap((id) => sessions.get(id) ?? [])
          .map(issued),
      }
    },
  }
}

function issued({ id, nonce, issuedAt, expiresAt }: Pick<CaptureSession, 'id' | 'nonce' | 'issuedAt' | 'expiresAt'>) {
  return {
    capture_session_id: id,
    session_nonce: nonce,
    issued_at: issuedAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  }
}

function revokedDevice(deviceId: string, revokedAt: Date): Failure {
  const detail = `${deviceId} was revoked at ${revokedAt.toISOString()}: it gets no new capture sessions.`
  return new Failure('device_revoked', { detail, errors: [{ pointer: '/device_id', code: 'device_revoked', detail }] })
}
