// The passkeys of signed-in users: registered, listed, named and removed by their own users. A registration takes a session
// that has just begun, since a passkey outlives the session that made it.

import { randomBytes } from 'node:crypto'
import { recordAudit } from '#src/account/audit/record.ts'
import { lockSignedIn } from '#src/account/sessions/own-rows.ts'
import { checkFresh, sessionOf } from '#src/account/sessions/own-sessions.ts'
import { findTeamMember } from '#src/account/users/team-rows.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import {
  type CountedPage,
  createdBetween,
  inBothEnvironments,
  type ListQuery,
  listPage,
  type Pager,
} from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { RegistrationResponse } from './bodies.ts'
import { verifyRegistration } from './ceremony.ts'
import type { RelyingParty } from './config.ts'
import { mailChange } from './letter.ts'
import { type CreationOptions, generateCreationOptions } from './options.ts'
import {
  countPasskeys,
  deletePasskey,
  findPasskey,
  findPasskeysOf,
  insertPasskey,
  listPasskeys,
  type PasskeyOwner,
  type PasskeyRow,
  putRegistration,
  renamePasskey,
  selectRegistration,
  takeRegistration,
} from './rows.ts'

const MAX_PASSKEYS = 20
const REGISTRATION_MS = 5 * 60_000

interface PasskeysDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  now: () => Date
  pager: Pager
  rp: RelyingParty
}

interface RegistrationStart {
  options: CreationOptions
  expiresAt: Date
}

export type Passkeys = ReturnType<typeof createPasskeys>

export function createPasskeys({ db, now, pager, rp }: PasskeysDeps) {
  /** Held until the end of the transaction. @throws {Failure} `session_expired`, `session_required` */
  async function lockFresh(tx: Tx, { owner, sessionId }: Own): Promise<{ email: string; freshUntil: Date }> {
    return checkFresh(await lockSignedIn(tx, owner, sessionId), now(), 'A passkey is registered')
  }

  function startOf({ owner }: Own, { email, passkeys, challenge, expiresAt }: Begun): RegistrationStart {
    const asked = { rp, challenge, passkeys, timeoutMs: expiresAt.getTime() - now().getTime() }
    return { options: generateCreationOptions(asked, { userId: owner.userId, email }), expiresAt }
  }

  return {
    /**
     * Begins a registration, in place of one that the session began before.
     * @throws {Failure} `session_expired`, `session_required`; `limit_reached` beyond `MAX_PASSKEYS`.
     */
    async begin(caller: Acting, key?: IdempotencyKey): Promise<RegistrationStart> {
      const own = ownOf(caller)
      const challenge = randomBytes(32)
      const begin = async (tx: Tx) => {
        const { email, freshUntil } = await lockFresh(tx, own)
        const passkeys = await findPasskeysOf(tx, own.owner)
        checkRoom(passkeys)
        const expiresAt = new Date(Math.min(now().getTime() + REGISTRATION_MS, freshUntil.getTime()))
        await putRegistration(tx, { ...own.owner, sessionId: own.sessionId }, { challenge, expiresAt })
        return startOf(own, { email, passkeys, challenge, expiresAt })
      }
      return db.tenant(caller, (tx) => once(tx, key, begin, () => own.sessionId))
    },

    /**
     * The registration that the session has begun, for a repeat of `begin`: another challenge would void it.
     * @throws {Failure} `session_expired`, `session_required`; `conflict` when it has ended.
     */
    async findBegun(caller: Acting): Promise<RegistrationStart> {
      const own = ownOf(caller)
      const pending = selectRegistration({ accountId: caller.accountId, sessionId: own.sessionId })
      return db.tenant(caller, async (tx) => {
        const { email } = await lockFresh(tx, own)
        const [begun] = await tx.query<{ challenge: Buffer; expiresAt: Date }>(pending.text, pending.values)
        if (begun === undefined || begun.expiresAt <= now()) {
          throw new Failure('conflict', 'This registration has ended: begin another with a new Idempotency-Key.')
        }
        return startOf(own, { email, passkeys: await findPasskeysOf(tx, own.owner), ...begun })
      })
    },

    /**
     * Ends a registration with what the authenticator answered.
     * @throws {Failure} `invalid_request`; `conflict` for a credential that is registered; and as `begin` does.
     */
    async register(
      caller: Acting,
      { name, response }: { name: string; response: RegistrationResponse },
      key?: IdempotencyKey,
    ): Promise<PasskeyRow> {
      const own = ownOf(caller)
      const pending = { accountId: caller.accountId, sessionId: own.sessionId }
      const [[begun]] = await db.readTenant<[{ challenge: Buffer; expiresAt: Date }]>(caller, [
        selectRegistration(pending),
      ])
      if (begun === undefined || begun.expiresAt <= now()) throw notBegun()
      const registered = await verifyRegistration(response, { rp, challenge: begun.challenge, pointer: '/response' })
      const register = async (tx: Tx) => {
        const { email } = await lockFresh(tx, own)
        if (!(await takeRegistration(tx, pending, begun.challenge))) throw notBegun()
        checkRoom(await findPasskeysOf(tx, own.owner))
        const id = await insertPasskey(tx, own.owner, { ...registered, name, at: now() })
        if (id === undefined) throw new Failure('conflict', 'This passkey is registered already.')
        const { algorithm, aaguid, isBackupEligible: backup_eligible } = registered
        const after = { name, algorithm, aaguid, backup_eligible }
        await recordAudit(tx, caller, { action: 'passkey.registered', subjectId: id, after, isScoped: false })
        await mailChange(tx, caller, { action: 'passkey.registered', passkeyId: id, recipient: email })
        return getPasskey(tx, own.owner, id)
      }
      return db.tenant(caller, (tx) => once(tx, key, register, ({ id }) => id))
    },

    /** Of the caller, newest first. */
    async list(caller: Acting, query: ListQuery): Promise<CountedPage<PasskeyRow>> {
      const { owner } = ownOf(caller)
      const filter = createdBetween(query)
      const list = {
        ...inBothEnvironments(caller),
        route: 'GET /v1/passkeys',
        query: { ...query, userId: owner.userId },
      }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listPasskeys(tx, owner, filter, page),
        count: (tx) => countPasskeys(tx, owner, filter),
      })
    },

    /** @throws {Failure} `not_found` */
    async get(caller: Acting, id: string): Promise<PasskeyRow> {
      return db.tenant(caller, (tx) => getPasskey(tx, ownOf(caller).owner, id))
    },

    /** @throws {Failure} `not_found` */
    async rename(
      caller: Acting,
      { id, name }: { id: string; name: string },
      key?: IdempotencyKey,
    ): Promise<PasskeyRow> {
      const { owner } = ownOf(caller)
      const rename = async (tx: Tx) => {
        const found = await getPasskey(tx, owner, id)
        if (found.name === name) return found
        await renamePasskey(tx, owner, { id, name })
        const [before, after] = [{ name: found.name }, { name }]
        await recordAudit(tx, caller, { action: 'passkey.renamed', subjectId: id, before, after, isScoped: false })
        return getPasskey(tx, owner, id)
      }
      return db.tenant(caller, (tx) => once(tx, key, rename, () => id))
    },

    /** Nothing is confirmed with it after this has committed. @throws {Failure} `not_found` */
    async remove(caller: Acting, id: string, key?: IdempotencyKey): Promise<void> {
      const { owner } = ownOf(caller)
      const remove = async (tx: Tx) => {
        const { name } = await getPasskey(tx, owner, id)
        // Another request may have removed it meanwhile.
        if (!(await deletePasskey(tx, owner, id))) throw unknownPasskey()
        await recordAudit(tx, caller, { action: 'passkey.removed', subjectId: id, before: { name }, isScoped: false })
        const member = await findTeamMember(tx, owner)
        if (member === undefined) return
        await mailChange(tx, caller, { action: 'passkey.removed', passkeyId: id, recipient: member.email })
      }
      await db.tenant(caller, (tx) => once(tx, key, remove, () => id))
    },
  }
}

interface Begun {
  email: string
  passkeys: PasskeyRow[]
  challenge: Buffer
  expiresAt: Date
}

interface Own {
  owner: PasskeyOwner
  sessionId: string
}

function ownOf(caller: Acting): Own {
  const { userId, sessionId } = sessionOf(caller)
  return { owner: { accountId: caller.accountId, userId }, sessionId }
}

/** @throws {Failure} `not_found` */
async function getPasskey(tx: Tx, owner: PasskeyOwner, id: string): Promise<PasskeyRow> {
  const found = await findPasskey(tx, owner, id)
  if (found === undefined) throw unknownPasskey()
  return found
}

function unknownPasskey(): Failure {
  return new Failure('not_found', 'You have no such passkey: GET /v1/passkeys lists them.')
}

function checkRoom(passkeys: readonly unknown[]): void {
  if (passkeys.length < MAX_PASSKEYS) return
  throw new Failure('limit_reached', {
    detail: `You have ${MAX_PASSKEYS} passkeys, and that is the most. Remove one first.`,
    members: { maximum: MAX_PASSKEYS },
  })
}

function notBegun(): Failure {
  return invalidField(
    '/response/response/clientDataJSON',
    'expired',
    'answers no registration of this session: begin another with POST /v1/passkeys/registration-options',
  )
}
