// A second person confirms facts with a passkey (21 CFR 1311.125): a prescriber of tier 3, or an owner while no other prescriber has tier
// 3. The passkey signs exactly what is confirmed. FactConfirmations of one prescriber run one after the other, under the lock of the
// row, and all facts of a confirmation count, or none.

import { Failure, invalidField } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type Acting, credentialOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned, noSuch, type Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { findCreator } from '../approvals/vote-rows.ts'
import type { Assertions, Bound, CheckedAssertion, PasskeyChallenge } from '../passkeys/assertions.ts'
import type { PasskeyAssertion } from '../passkeys/bodies.ts'
import { hashCanonical, hashDescription } from '../tokens/format.ts'
import { recordClinicalAct } from './acts.ts'
import type { Prescribers, ShownFact } from './prescribers.ts'
import {
  confirmFacts,
  type FactRow,
  findFacts,
  findPrescriber,
  hasOtherOfTierThree,
  lockBoth,
  lockMember,
} from './rows.ts'
import { findStandingOfUser, type Tier } from './tier.ts'

export interface ConfirmationsDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
  assertions: Assertions
  prescribers: Pick<Prescribers, 'shownFacts'>
}

export interface ConfirmedFacts {
  prescriberId: string
  tier: Tier
  facts: ShownFact[]
}

export const CONFIRMER_CAUSES = ['same_person', 'own_facts', 'tier', 'not_a_member'] as const

export type FactConfirmations = ReturnType<typeof createConfirmations>

export function createConfirmations({ db, ledger, assertions, prescribers }: ConfirmationsDeps) {
  /** @throws {Failure} `environment_mismatch`, `not_found`. */
  function checkIds(scope: Scope, id: string, factIds: readonly string[]): void {
    checkId(id, 'prs', scope.environment)
    for (const factId of factIds) checkId(factId, 'pfa', scope.environment)
    note({ prescriber: id })
  }

  /** @throws {Failure} `not_found`; `invalid_state_transition` unless all are entered. */
  async function getEntered(tx: Tx, scope: Scope, id: string, factIds: readonly string[]): Promise<FactRow[]> {
    await getOwned(findPrescriber(tx, scope, id), id)
    const facts = await findFacts(tx, scope, id, factIds)
    const missing = factIds.find((factId) => !facts.some((fact) => fact.id === factId))
    if (missing !== undefined) throw noSuch(missing)
    const other = facts.find(({ status }) => status !== 'entered')
    if (other === undefined) return facts
    throw new Failure('invalid_state_transition', {
      detail: `${other.id} is ${other.status}: only facts that are entered are confirmed.`,
      members: { current_status: other.status, allowed: ['entered'] },
    })
  }

  async function checkConfirmer(
    tx: Tx,
    acting: Acting,
    { id, facts }: { id: string; facts: FactRow[] },
  ): Promise<string> {
    const userId = userOf(acting)
    const [prescriber, member, own, hasOther, enteredBy] = await Promise.all([
      getOwned(findPrescriber(tx, acting, id), id),
      lockMember(tx, acting, userId),
      findStandingOfUser(tx, acting, userId),
      hasOtherOfTierThree(tx, acting, id),
      Promise.all(facts.map((fact) => personOf(tx, fact.enteredBy))),
    ])
    if (member === undefined) throw notEligible('not_a_member', 'The person is no active member of the account.')
    if (prescriber.userId === userId) {
      throw notEligible('own_facts', 'Nobody confirms the facts about themselves: another person has to.')
    }
    if (enteredBy.includes(userId)) {
      throw notEligible(
        'same_person',
        'The person who entered a fact, or made the API key that did, may not confirm it.',
      )
    }
    const isFirst = member.role === 'owner' && !hasOther
    if (own?.tier !== 3 && !isFirst) {
      throw notEligible('tier', 'A prescriber of tier 3 confirms facts; an owner while no other prescriber has tier 3.')
    }
    return userId
  }

  async function confirmLocked(
    tx: Tx,
    acting: Acting,
    { id, factIds, checked }: { id: string; factIds: readonly string[]; checked: CheckedAssertion },
  ): Promise<ConfirmedFacts> {
    await lockBoth(tx, acting, id, userOf(acting))
    const facts = await getEntered(tx, acting, id, factIds)
    const userId = await checkConfirmer(tx, acting, { id, facts })
    if (checked.userId !== userId) {
      throw invalidField('/passkey_assertion', 'mismatch', 'belongs to another person than the one who is signed in')
    }
    await assertions.consumeAssertion(tx, acting, checked)
    const before = await getOwned(findPrescriber(tx, acting, id), id)
    const confirmed = await confirmFacts(tx, acting, factIds, { userId, passkeyId: checked.passkeyId })
    if (confirmed !== factIds.length) {
      throw new Failure('invalid_state_transition', {
        detail: 'One of the facts has expired meanwhile.',
        members: { current_status: 'expired', allowed: ['entered'] },
      })
    }
    const after = await getOwned(findPrescriber(tx, acting, id), id)
    await recordClinicalAct(tx, acting, ledger, {
      action: 'prescriber_fact.confirmed',
      subject: id,
      tierBefore: before.tier,
      inputs: { fact_ids: factIds, passkey_id: checked.passkeyId, tier: after.tier },
    })
    return read(tx, acting, id, factIds)
  }

  async function read(tx: Tx, scope: Scope, id: string, factIds: readonly string[]): Promise<ConfirmedFacts> {
    const row = await getOwned(findPrescriber(tx, scope, id), id)
    const facts = await prescribers.shownFacts(tx, row, await findFacts(tx, scope, id, factIds))
    return { prescriberId: id, tier: row.tier, facts }
  }

  return {
    /**
     * A challenge that the passkey of the signed-in person signs to confirm these facts.
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_state_transition`, `confirmer_not_eligible`.
     */
    async challenge(
      acting: Acting,
      { id, factIds }: { id: string; factIds: readonly string[] },
      key?: IdempotencyKey,
    ): Promise<PasskeyChallenge> {
      checkIds(acting, id, factIds)
      const issue = async (tx: Tx) => {
        const facts = await getEntered(tx, acting, id, factIds)
        await checkConfirmer(tx, acting, { id, facts })
        return assertions.issueChallenge(tx, acting, boundOf(id, facts))
      }
      return db.tenant(acting, (tx) =>
        once(
          tx,
          key,
          () => issue(tx),
          ({ challenge_id }) => challenge_id,
        ),
      )
    },

    /** What an earlier request with the same Idempotency-Key made. */
    challengeAgain: (scope: Scope, challengeId: string): Promise<PasskeyChallenge> =>
      assertions.reissueChallenge(scope, challengeId),

    /**
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` below `/passkey_assertion`;
     * `invalid_state_transition` unless all facts are entered; `confirmer_not_eligible`.
     */
    async confirm(
      acting: Acting,
      { id, factIds, assertion }: { id: string; factIds: readonly string[]; assertion: PasskeyAssertion },
      key?: IdempotencyKey,
    ): Promise<ConfirmedFacts> {
      checkIds(acting, id, factIds)
      const facts = await db.tenant(acting, (tx) => getEntered(tx, acting, id, factIds))
      const checked = await assertions.checkAssertion(acting, assertion, boundOf(id, facts))
      return db.tenant(acting, (tx) =>
        once(
          tx,
          key,
          () => confirmLocked(tx, acting, { id, factIds, checked }),
          () => id,
        ),
      )
    },

    /** The same facts as they are now. */
    confirmedAgain: (scope: Scope, id: string, factIds: readonly string[]): Promise<ConfirmedFacts> =>
      db.tenant(scope, (tx) => read(tx, scope, id, factIds)),
  }

  // A key has the authority of the person who made it.
  async function personOf(tx: Tx, actorId: string): Promise<string> {
    return actorId.startsWith('key_') ? ((await findCreator(tx, actorId)) ?? actorId) : actorId
  }
}

/** What the passkey signs: the prescriber and the terms of each fact, by which nothing else can be confirmed. */
export function boundOf(prescriberId: string, facts: readonly FactRow[]): Bound {
  const terms = facts.map(({ id, kind, method, state, number, schedules, expiresAt }) => ({
    ...{ fact_id: id, kind, method, state, number, schedules },
    expires_at: expiresAt?.toISOString() ?? null,
  }))
  return {
    action_hash: hashDescription('Confirm facts about a prescriber'),
    payload_hash: hashCanonical({ act: 'confirm_facts', prescriber_id: prescriberId, facts: terms }),
    agent_session_id: null,
    device_id: null,
  }
}

function userOf({ principal }: Acting): string {
  const credential = credentialOf(principal)
  if (credential.kind === 'session') return credential.userId
  throw new Failure('session_required', 'People who are signed in confirm facts, each with an own passkey.')
}

function notEligible(cause: (typeof CONFIRMER_CAUSES)[number], detail: string): Failure {
  return new Failure('confirmer_not_eligible', { detail, members: { cause } })
}
