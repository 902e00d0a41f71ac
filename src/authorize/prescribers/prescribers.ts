// Enters prescribers and the facts about them, ends facts and suspends prescribers. One person does each of these, and none of
// them gives tier 3: for that, a second person confirms the facts (confirmations.ts). Names, birth dates and numbers stay out of
// the audit log and the ledger.

import { rowWithActors, type WithActors, withActors } from '#src/account/users/actors.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import { readClock } from '#src/platform/db/clock.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkVersion, lockDocument } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned, newId, noSuch, type Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { type ClinicalAct, recordClinicalAct } from './acts.ts'
import type { NewPrescriber, PersonChange } from './bodies.ts'
import { hasForeignInitial } from './check-digits.ts'
import { keysOf, openPerson, type PrescriberPerson, sealPerson } from './person.ts'
import {
  countPrescribers,
  endFacts,
  type FactEndReason,
  type FactRow,
  type FactTerms,
  findFacts,
  findPrescriber,
  insertFact,
  insertPrescriber,
  listFacts,
  listPrescribers,
  lockMember,
  lockPrescriber,
  type PrescriberFilter,
  type PrescriberRow,
  readFactSummary,
  type SuspensionReason,
  setSuspension,
  updatePerson,
  updateStateKeys,
  withdrawConfirmations,
} from './rows.ts'

export interface PrescribersDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
  pager: Pager
  sealer: Sealer
  now(): Date
  /** Secret of the keys that exclusion lists are compared by: the same for prescribers and for lists. */
  matchSecret(): Promise<Buffer>
}

export type ShownPrescriber = WithActors<PrescriberRow, 'createdBy' | 'suspendedBy'> & { person: PrescriberPerson }
export type ShownFact = WithActors<FactRow, 'enteredBy' | 'confirmedBy' | 'endedBy'> & { hasForeignInitial: boolean }

// A licence for each state, renewals that overlap, and some more.
const MAX_OPEN_FACTS = 100

export type Prescribers = ReturnType<typeof createPrescribers>

export function createPrescribers({ db, ledger, pager, sealer, now, matchSecret }: PrescribersDeps) {
  async function shownAll(tx: Tx, rows: readonly PrescriberRow[]): Promise<ShownPrescriber[]> {
    const shown = await withActors(tx, rows, ['createdBy', 'suspendedBy'])
    return shown.map((row) => ({ ...row, person: openPerson(sealer, row) }))
  }

  async function shown(tx: Tx, scope: Scope, id: string): Promise<ShownPrescriber> {
    const row = await rowWithActors(tx, await getOwned(findPrescriber(tx, scope, id), id), ['createdBy', 'suspendedBy'])
    return { ...row, person: openPerson(sealer, row) }
  }

  async function shownFacts(tx: Tx, prescriber: PrescriberRow, rows: readonly FactRow[]): Promise<ShownFact[]> {
    const { last } = openPerson(sealer, prescriber)
    const facts = await withActors(tx, rows, ['enteredBy', 'confirmedBy', 'endedBy'])
    return facts.map((fact) => ({
      ...fact,
      hasForeignInitial: fact.kind === 'dea' && fact.number !== null && hasForeignInitial(fact.number, last),
    }))
  }

  function record(
    tx: Tx,
    acting: Acting,
    { id, ...act }: Omit<ClinicalAct, 'subject'> & { id: string },
  ): Promise<void> {
    return recordClinicalAct(tx, acting, ledger, { ...act, subject: id })
  }

  /** Enters facts; the caller holds the prescriber's row. Returns their ids. */
  async function enter(
    tx: Tx,
    acting: Acting,
    { id, person }: { id: string; person: PrescriberPerson },
    { facts, secret, pointer }: { facts: readonly FactTerms[]; secret: Buffer; pointer: string },
  ): Promise<string[]> {
    const [at, { open, states }] = await Promise.all([readClock(tx), readFactSummary(tx, acting, id)])
    if (open + facts.length > MAX_OPEN_FACTS) {
      throw new Failure('limit_reached', {
        detail: `${id} has ${MAX_OPEN_FACTS} facts that have not been ended: end some first.`,
        members: { maximum: MAX_OPEN_FACTS },
      })
    }
    const ids: string[] = []
    for (const [index, fact] of facts.entries()) {
      if (fact.expiresAt !== null && fact.expiresAt <= at) {
        throw invalidField(pointer, 'in_the_past', 'must lie in the future')
      }
      const factId = newId('pfa', acting.environment, now().getTime(), index)
      await insertFact(tx, acting, { ...fact, id: factId, prescriberId: id, enteredBy: actorOf(acting.principal).id })
      const { kind, expiresAt } = fact
      await record(tx, acting, {
        action: 'prescriber_fact.entered',
        id,
        inputs: { fact_id: factId, kind, expires_at: expiresAt?.toISOString() ?? null },
      })
      ids.push(factId)
    }
    // States of ended licences stay: an exclusion is of a person, whatever licence is in force.
    const all = [...new Set([...states, ...facts.flatMap(({ state }) => state ?? [])])]
    if (all.length > states.length) await updateStateKeys(tx, acting, id, keysOf(secret, person, all).stateKeys)
    return ids
  }

  /** Runs `work` while the prescriber's row is held, once per key. */
  function change<Made>(
    acting: Acting,
    id: string,
    key: IdempotencyKey | undefined,
    { work, subjectOf }: { work: (tx: Tx, row: PrescriberRow) => Promise<Made>; subjectOf: (made: Made) => string },
  ): Promise<Made> {
    checkId(id, 'prs', acting.environment)
    note({ prescriber: id })
    const locked = async (tx: Tx) => work(tx, await getOwned(lockPrescriber(tx, acting, id), id))
    return db.tenant(acting, (tx) => once(tx, key, () => locked(tx), subjectOf))
  }

  async function getFact(tx: Tx, scope: Scope, id: string, factId: string): Promise<ShownFact> {
    const row = await getOwned(findPrescriber(tx, scope, id), id)
    const [fact] = await shownFacts(tx, row, await findFacts(tx, scope, id, [factId]))
    if (fact === undefined) throw noSuch(factId)
    return fact
  }

  return {
    shownFacts,

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ShownPrescriber> {
      checkId(id, 'prs', scope.environment)
      return db.tenant(scope, (tx) => shown(tx, scope, id))
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: PrescriberFilter & CountedQuery): Promise<CountedPage<ShownPrescriber>> {
      const list = { route: 'GET /v1/clinical/prescribers', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listPrescribers(tx, scope, query, page),
        count: (tx) => countPrescribers(tx, scope, query),
        show: shownAll,
      })
    },

    /**
     * @throws {Failure} `invalid_request` for a user who is no active member, and for a fact that has expired;
     * `prescriber_exists` where the user or the NPI has a prescriber.
     */
    async create(acting: Acting, request: NewPrescriber, key?: IdempotencyKey): Promise<ShownPrescriber> {
      const { userId, npi, facts, ...person } = request
      const secret = await matchSecret()
      const id = newId('prs', acting.environment, now().getTime())
      const sealed = sealPerson({ sealer, secret }, id, { ...person, npi, states: [] })
      note({ prescriber: id })
      const create = async (tx: Tx) => {
        if ((await lockMember(tx, acting, userId)) === undefined) {
          throw invalidField('/user_id', 'unknown', 'names no active member of the account')
        }
        const createdBy = actorOf(acting.principal).id
        await lockDocument(tx, 'prescriber numbers', acting)
        if (!(await insertPrescriber(tx, acting, { ...sealed, id, userId, createdBy }))) {
          throw await existing(tx, acting, { userId, npi })
        }
        await record(tx, acting, { action: 'prescriber.created', id, inputs: { user_id: userId, npi } })
        await enter(tx, acting, { id, person }, { facts, secret, pointer: '' })
        return shown(tx, acting, id)
      }
      return db.tenant(acting, (tx) =>
        once(
          tx,
          key,
          () => create(tx),
          (made) => made.id,
        ),
      )
    },

    /**
     * Corrects the person. The identity was checked for another name, birth date or NPI, so its facts end: the tier is 0
     * until the identity is entered and confirmed again.
     * @throws {Failure} `environment_mismatch`, `not_found`, `precondition_failed`, `prescriber_exists`.
     */
    async correct(
      acting: Acting,
      id: string,
      { change: given, expected }: { change: PersonChange; expected: () => readonly number[] | undefined },
      key?: IdempotencyKey,
    ): Promise<ShownPrescriber> {
      const secret = await matchSecret()
      return change(acting, id, key, {
        subjectOf: () => id,
        work: async (tx, row) => {
          checkVersion(expected(), row)
          const before = { ...openPerson(sealer, row), npi: row.npi }
          const after = { ...before, ...given }
          const changed = (['npi', 'first', 'last', 'dob'] as const).filter((name) => before[name] !== after[name])
          if (changed.length === 0) return shown(tx, acting, id)
          // Another request may be giving the number to another prescriber.
          await lockDocument(tx, 'prescriber numbers', acting)
          const other = changed.includes('npi')
            ? await findOther(tx, acting, { npi: after.npi, userId: undefined }, id)
            : undefined
          if (other !== undefined) throw other
          const { states } = await readFactSummary(tx, acting, id)
          await updatePerson(tx, acting, id, sealPerson({ sealer, secret }, id, { ...after, states }))
          const by = actorOf(acting.principal).id
          const which = { prescriberId: id, id: null, kind: 'identity' } as const
          const ended = await endFacts(tx, acting, which, { by, reason: 'person_changed' })
          await record(tx, acting, {
            action: 'prescriber.changed',
            id,
            tierBefore: row.tier,
            inputs: { changed, ended_fact_ids: ended },
          })
          return shown(tx, acting, id)
        },
      })
    },

    /** Takes effect with the next statement. One that is suspended already stays as it is. */
    suspend(acting: Acting, id: string, reason: SuspensionReason, key?: IdempotencyKey): Promise<ShownPrescriber> {
      return change(acting, id, key, {
        subjectOf: () => id,
        work: async (tx, row) => {
          if (row.suspendedAt === null) {
            await setSuspension(tx, acting, id, { by: actorOf(acting.principal).id, reason })
            await record(tx, acting, { action: 'prescriber.suspended', id, tierBefore: row.tier, inputs: { reason } })
          }
          return shown(tx, acting, id)
        },
      })
    },

    /**
     * Lifts a suspension. What was confirmed counts as entered: a second person confirms it again before tier 3.
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_state_transition` for one that is not suspended.
     */
    reinstate(acting: Acting, id: string, key?: IdempotencyKey): Promise<ShownPrescriber> {
      return change(acting, id, key, {
        subjectOf: () => id,
        work: async (tx, row) => {
          if (row.suspendedAt === null) {
            throw new Failure('invalid_state_transition', {
              detail: `${id} is not suspended.`,
              members: { current_status: 'active', allowed: ['suspended'] },
            })
          }
          const by = actorOf(acting.principal).id
          await setSuspension(tx, acting, id, null)
          await withdrawConfirmations(tx, acting, id, by)
          await record(tx, acting, { action: 'prescriber.reinstated', id, inputs: { reason: row.suspendedReason } })
          return shown(tx, acting, id)
        },
      })
    },

    /** Newest first. @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` at `?cursor`. */
    async facts(scope: Scope, id: string, query: PageQuery): Promise<CountedPage<ShownFact>> {
      checkId(id, 'prs', scope.environment)
      const prescriber = await db.tenant(scope, (tx) => getOwned(findPrescriber(tx, scope, id), id))
      const list = { route: `GET /v1/clinical/prescribers/${id}/facts`, scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listFacts(tx, scope, id, page),
        show: (tx, rows) => shownFacts(tx, prescriber, rows),
      })
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async fact(scope: Scope, id: string, factId: string): Promise<ShownFact> {
      checkId(id, 'prs', scope.environment)
      checkId(factId, 'pfa', scope.environment)
      return db.tenant(scope, (tx) => getFact(tx, scope, id, factId))
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`, `limit_reached`; `invalid_request` for one that has expired. */
    async enterFact(acting: Acting, id: string, fact: FactTerms, key?: IdempotencyKey): Promise<ShownFact> {
      const secret = await matchSecret()
      return change(acting, id, key, {
        subjectOf: (made) => made.id,
        work: async (tx, row) => {
          const person = openPerson(sealer, row)
          const [factId = ''] = await enter(
            tx,
            acting,
            { id, person },
            { facts: [fact], secret, pointer: '/expires_at' },
          )
          return getFact(tx, acting, id, factId)
        },
      })
    },

    /** One that has ended already stays as it is. @throws {Failure} `environment_mismatch`, `not_found`. */
    endFact(
      acting: Acting,
      id: string,
      { factId, reason }: { factId: string; reason: FactEndReason },
      key?: IdempotencyKey,
    ): Promise<ShownFact> {
      checkId(factId, 'pfa', acting.environment)
      return change(acting, id, key, {
        subjectOf: () => factId,
        work: async (tx, row) => {
          const which = { prescriberId: id, id: factId, kind: null }
          const ended = await endFacts(tx, acting, which, { by: actorOf(acting.principal).id, reason })
          if (ended.length > 0) {
            await record(tx, acting, {
              action: 'prescriber_fact.ended',
              id,
              tierBefore: row.tier,
              inputs: { fact_id: factId, reason },
            })
          }
          return getFact(tx, acting, id, factId)
        },
      })
    },
  }
}

async function findOther(
  tx: Tx,
  scope: Scope,
  { userId, npi }: { userId: string | undefined; npi: string | undefined },
  self?: string,
): Promise<Failure | undefined> {
  const [other] = await listPrescribers(
    tx,
    scope,
    { userId, npi, from: undefined, to: undefined },
    { before: undefined, limit: 1 },
  )
  if (other === undefined || other.id === self) return undefined
  const member = userId === undefined ? 'npi' : 'user_id'
  return new Failure('prescriber_exists', {
    detail: `${other.id} has this ${member === 'npi' ? 'NPI' : 'user'}: a user and an NPI have one prescriber each.`,
    members: { prescriber_id: other.id, member },
  })
}

async function existing(tx: Tx, scope: Scope, { userId, npi }: { userId: string; npi: string }): Promise<Failure> {
  const failure =
    (await findOther(tx, scope, { userId, npi: undefined })) ?? (await findOther(tx, scope, { userId: undefined, npi }))
  // The other one was deleted meanwhile.
  return failure ?? new Failure('service_unavailable', 'Another request changed this prescriber. Try again.')
}
