// People sign orders. A signature counts for one content, one act and one statement: the challenge of the passkey hashes all of them.
// The rules are judged once more under the lock of the order, so that of an edit and a signature one comes first.

import { countOperations } from '#src/account/usage/meter.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import { readClock } from '#src/platform/db/clock.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once, refuseRepeat } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf, credentialOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned, type Scope } from '#src/platform/ids.ts'
import type { Assertions, CheckedAssertion, PasskeyChallenge } from '../passkeys/assertions.ts'
import type { PasskeyAssertion } from '../passkeys/bodies.ts'
import { findChallenge } from '../passkeys/challenge-rows.ts'
import { recordClinicalAct } from '../prescribers/acts.ts'
import { openPerson, type PrescriberPerson } from '../prescribers/person.ts'
import { type ClinicalPolicyDocument, ruleOf } from '../prescribers/policy-document.ts'
import { readClinicalPolicy } from '../prescribers/policy-rows.ts'
import { findPrescriber, listFacts } from '../prescribers/rows.ts'
import { findStanding, findStandingOfUser, type PrescriberStanding } from '../prescribers/tier.ts'
import { boundOfSignature, CURRENT_STATEMENT, type SignatureAct } from './content.ts'
import { type Clinician, factsOf, isDeniedAsStale, readClinicians, signaturesOf } from './facts.ts'
import { judgeOrder, type OrderFacts } from './judge.ts'
import { checkPossible, type OpenedOrder, type Orders, type OrdersDeps } from './orders.ts'
import {
  type DeclineReason,
  endOrder,
  findOrder,
  findSignatures,
  insertSignature,
  lockOrder,
  type OrderRow,
} from './rows.ts'

export interface SigningDeps extends Omit<OrdersDeps, 'pager' | 'now'> {
  assertions: Assertions
  orders: Pick<Orders, 'open' | 'change'>
}

/** A challenge, with everything that the signer has to see (21 CFR 1311.140(a)). */
export interface OrderChallenge {
  challenge: PasskeyChallenge
  act: SignatureAct
  order: OpenedOrder
  prescriber: PrescriberPerson & { deaNumbers: string[] }
}

interface SignatureRequest {
  act: SignatureAct
  /** undefined: the signed-in person confirms without a passkey. */
  assertion: PasskeyAssertion | undefined
}

/** DEA registrations are among the newest facts; a prescriber has a hundred open facts at most. */
const READ_FACTS = 200

export type Signing = ReturnType<typeof createSigning>

export function createSigning({ db, ledger, sealer, assertions, orders, recordRefusals }: SigningDeps) {
  /** @throws {Failure} `invalid_state_transition`, `signer_mismatch`, `cosigner_same_user`, `cosigner_same_npi`. */
  async function checkSigner(
    tx: Tx,
    scope: Scope,
    { row, act, userId }: { row: OrderRow; act: SignatureAct; userId: string },
  ): Promise<string> {
    const [prescriber, own] = await Promise.all([
      getOwned(findStanding(tx, scope, row.prescriberId), row.prescriberId),
      findStandingOfUser(tx, scope, userId),
    ])
    if (act === 'sign') {
      if (prescriber.userId === userId) return prescriber.prescriberId
      throw new Failure('signer_mismatch', 'The prescriber of an order signs it: this person is another one.')
    }
    return checkCosigner(prescriber, own)
  }

  async function readPrescriber(tx: Tx, scope: Scope, id: string): Promise<OrderChallenge['prescriber']> {
    const [prescriber, facts] = await Promise.all([
      getOwned(findPrescriber(tx, scope, id), id),
      listFacts(tx, scope, id, { before: undefined, limit: READ_FACTS }),
    ])
    const registrations = facts.filter(({ kind, status }) => kind === 'dea' && status === 'confirmed')
    return { ...openPerson(sealer, prescriber), deaNumbers: registrations.flatMap(({ number }) => number ?? []) }
  }

  async function describe(
    tx: Tx,
    scope: Scope,
    { id, act, challenge }: { id: string; act: SignatureAct; challenge: PasskeyChallenge },
  ): Promise<OrderChallenge> {
    const order = await orders.open(tx, scope, id)
    return { challenge, act, order, prescriber: await readPrescriber(tx, scope, order.row.prescriberId) }
  }

  async function signLocked(
    tx: Tx,
    acting: Acting,
    signed: { id: string; act: SignatureAct; hash: string; userId: string; checked: CheckedAssertion | undefined },
  ): Promise<OpenedOrder> {
    const { id, act, userId, checked } = signed
    const row = await getOwned(lockOrder(tx, acting, id), id)
    const { document } = await readClinicalPolicy(tx, acting)
    const rule = ruleOf(document, row.schedule)
    const next = checkPossible(row.status, act, rule)
    if (row.orderHash !== signed.hash) throw edited(row)
    const signerId = await checkSigner(tx, acting, { row, act, userId })
    if (checked === undefined && (act === 'cosign' || rule.passkey)) throw needsPasskey()
    await checkRules(tx, acting, { row, act, signerId, document, hasPasskey: checked !== undefined })
    if (checked !== undefined) await assertions.consumeAssertion(tx, acting, checked)
    const passkeyId = checked?.passkeyId ?? null
    const { revision, orderHash } = row
    await insertSignature(
      tx,
      acting,
      {
        orderId: id,
        revision,
        act,
        orderHash,
        prescriberId: signerId,
        userId,
        passkeyId,
        statementVersion: CURRENT_STATEMENT,
      },
      next,
    )
    await recordClinicalAct(tx, acting, ledger, {
      action: act === 'sign' ? 'order.signed' : 'order.cosigned',
      subject: id,
      inputs: {
        order_hash: orderHash,
        signer_id: signerId,
        user_id: userId,
        passkey_id: passkeyId,
        statement_version: CURRENT_STATEMENT,
        status: next,
      },
    })
    if (next === 'authorized') await countOperations(tx, acting, 'clinician_order', [id])
    return orders.open(tx, acting, id)
  }

  /** Judges the order as verify would with this signature: what could never be executed is not signed. */
  async function checkRules(
    tx: Tx,
    scope: Scope,
    signed: {
      row: OrderRow
      act: SignatureAct
      signerId: string
      document: ClinicalPolicyDocument
      hasPasskey: boolean
    },
  ): Promise<void> {
    const { row, act, signerId, document, hasPasskey } = signed
    const at = await readClock(tx)
    const rule = ruleOf(document, row.schedule)
    const ids = [...new Set([row.prescriberId, signerId])]
    const [clinicians, signatures] = await Promise.all([
      readClinicians(tx, scope, { ids, at, usState: row.usState, lock: true }),
      findSignatures(tx, scope, [row.id]),
    ])
    const prescriber = clinicianOf(clinicians, row.prescriberId)
    const cosigner = act === 'cosign' ? clinicianOf(clinicians, signerId) : undefined
    const first = signaturesOf(row, signatures).sign
    const isByPasskey = act === 'sign' ? hasPasskey : first !== undefined && first.passkeyId !== null
    const facts: OrderFacts = {
      status: 'authorized',
      schedule: row.schedule,
      refills: row.refills,
      prescriber: factsOf(prescriber),
      cosigner: cosigner === undefined ? null : factsOf(cosigner),
      signature: isByPasskey ? 'passkey' : 'session',
      authorized_at: at.toISOString(),
      // The co-signature that is still missing is asked for afterwards.
      rule: act === 'sign' ? { ...rule, cosign: false } : rule,
      is_denied_as_stale: isDeniedAsStale(document, prescriber.check),
    }
    const refusal = judgeOrder(facts, at.toISOString())
    if (refusal === undefined) return
    if (refusal.reason === 'policy_denied') {
      throw new Failure('clinical_policy_denied', {
        detail: `The clinical policy refuses the order: ${refusal.matched_rule_id}.`,
        members: { matched_rule_id: refusal.matched_rule_id },
      })
    }
    if (refusal.reason === 'prescriber_excluded') {
      throw new Failure('prescriber_excluded', 'The prescriber or the co-signer is on an exclusion list.')
    }
    throw new Failure('prescriber_tier_insufficient', {
      detail: `The prescriber, and a co-signer, must have tier ${rule.tier} and a registration for the schedule ${row.schedule}.`,
      members: { required_tier: rule.tier },
    })
  }

  async function sign(
    acting: Acting,
    id: string,
    { act, assertion }: SignatureRequest,
    key: IdempotencyKey | undefined,
  ): Promise<OpenedOrder> {
    const { row, challenge } = await db.tenant(acting, async (tx) => {
      if (key !== undefined) await refuseRepeat(tx, key)
      return {
        row: await getOwned(findOrder(tx, acting, id), id),
        challenge: assertion === undefined ? undefined : await findChallenge(tx, assertion.challenge_id),
      }
    })
    checkPossible(row.status, act, { cosign: true })
    const principal = credentialOf(acting.principal)
    if (principal.kind === 'session') {
      const { userId } = principal
      await db.tenant(acting, (tx) => checkSigner(tx, acting, { row, act, userId }))
    }
    if (challenge !== undefined) checkPurpose(challenge, row, act)
    const checked =
      assertion && (await assertions.checkAssertion(acting, assertion, boundOfSignature(bindingOf(row, act))))
    const userId = checked?.userId ?? (principal.kind === 'session' ? principal.userId : undefined)
    if (userId === undefined) throw needsPasskey()
    const signed = { id, act, hash: row.orderHash, userId, checked }
    return db.tenant(acting, (tx) =>
      once(
        tx,
        key,
        () => signLocked(tx, acting, signed),
        () => id,
      ),
    )
  }

  return {
    /**
     * A challenge for one signature on the present content.
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_state_transition`; for sessions also `signer_mismatch`,
     * `cosigner_same_user`, `cosigner_same_npi`.
     */
    async challenge(acting: Acting, id: string, act: SignatureAct, key?: IdempotencyKey): Promise<OrderChallenge> {
      checkId(id, 'ord', acting.environment)
      note({ order: id })
      const issue = async (tx: Tx) => {
        const row = await getOwned(findOrder(tx, acting, id), id)
        checkPossible(row.status, act, { cosign: true })
        const principal = credentialOf(acting.principal)
        if (principal.kind === 'session') await checkSigner(tx, acting, { row, act, userId: principal.userId })
        const challenge = await assertions.issueChallenge(tx, acting, boundOfSignature(bindingOf(row, act)))
        return describe(tx, acting, { id, act, challenge })
      }
      return recordRefusals(acting, { id, act }, () =>
        db.tenant(acting, (tx) => once(tx, key, issue, ({ challenge }) => challenge.challenge_id)),
      )
    },

    /** What an earlier request with the same Idempotency-Key made. */
    async challengeAgain(
      scope: Scope,
      { id, act, challengeId }: { id: string; act: SignatureAct; challengeId: string },
    ): Promise<OrderChallenge> {
      const challenge = await assertions.reissueChallenge(scope, challengeId)
      return db.tenant(scope, (tx) => describe(tx, scope, { id, act, challenge }))
    },

    /**
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_state_transition`; `payload_hash_mismatch` for another content;
     * `challenge_expired`, `challenge_act_mismatch`, `passkey_required`; `signer_mismatch`, `cosigner_same_user`,
     * `cosigner_same_npi`; `prescriber_excluded`, `prescriber_tier_insufficient`, `clinical_policy_denied`; `invalid_request` below
     * `/passkey_assertion`.
     */
    async sign(acting: Acting, id: string, request: SignatureRequest, key?: IdempotencyKey): Promise<OpenedOrder> {
      checkId(id, 'ord', acting.environment)
      note({ order: id })
      return recordRefusals(acting, { id, act: request.act }, () => sign(acting, id, request, key))
    },

    /**
     * A second clinician declines; for API keys, whoever the caller says did. Final.
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_state_transition`, `signer_mismatch`, `cosigner_same_user`.
     */
    async decline(acting: Acting, id: string, reason: DeclineReason, key?: IdempotencyKey): Promise<OpenedOrder> {
      return recordRefusals(acting, { id, act: 'decline' }, () =>
        orders.change(acting, id, key, async (tx, row) => {
          const principal = credentialOf(acting.principal)
          if (principal.kind === 'session') {
            const { userId } = principal
            await checkSigner(tx, acting, { row, act: 'cosign', userId })
          }
          checkPossible(row.status, 'decline', { cosign: false })
          await endOrder(tx, acting, id, { status: 'declined', by: actorOf(acting.principal).id, reason })
          const inputs = { order_hash: row.orderHash, reason }
          await recordClinicalAct(tx, acting, ledger, { action: 'order.declined', subject: id, inputs })
        }),
      )
    },
  }
}

function bindingOf({ id, orderHash }: OrderRow, act: SignatureAct) {
  return { order_id: id, order_hash: orderHash, act, statement_version: CURRENT_STATEMENT }
}

/** Says what another challenge is for; the reader of assertions refuses it anyway. */
function checkPurpose(
  challenge: { actionHash: string; payloadHash: string; isConsumed: boolean; isExpired: boolean },
  row: OrderRow,
  act: SignatureAct,
): void {
  const isFor = (other: SignatureAct) => boundOfSignature(bindingOf(row, other)).payload_hash === challenge.payloadHash
  if (!isFor(act)) {
    const other = act === 'sign' ? 'cosign' : 'sign'
    if (!isFor(other)) throw edited(row)
    throw new Failure('challenge_act_mismatch', {
      detail: `The challenge is for the act ${other}: ask for one for ${act}.`,
      members: { act: other },
    })
  }
  if (!challenge.isConsumed && challenge.isExpired) {
    throw new Failure('challenge_expired', 'The challenge has expired: it is valid for two minutes. Ask for another.')
  }
}

function checkCosigner(prescriber: PrescriberStanding, own: PrescriberStanding | undefined): string {
  if (own === undefined) {
    throw new Failure('signer_mismatch', 'No prescriber of the account names this person, who can co-sign nothing.')
  }
  if (own.userId === prescriber.userId) {
    throw new Failure('cosigner_same_user', 'The prescriber of an order can not be its second clinician.')
  }
  if (own.npi === prescriber.npi) {
    throw new Failure('cosigner_same_npi', 'The second clinician has the NPI of the prescriber.')
  }
  return own.prescriberId
}

function clinicianOf(clinicians: ReadonlyMap<string, Clinician>, id: string): Clinician {
  const found = clinicians.get(id)
  if (found === undefined) throw new Error('a prescriber was not compared')
  return found
}

function edited({ orderHash }: OrderRow): Failure {
  return new Failure('payload_hash_mismatch', {
    detail: 'The challenge is for another content: the order was edited, or it is another order. Read it again.',
    members: { order_hash: orderHash },
  })
}

function needsPasskey(): Failure {
  return new Failure('passkey_required', 'This signature needs a passkey: send passkey_assertion.')
}
