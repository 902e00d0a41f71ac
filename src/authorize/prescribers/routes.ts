import { z } from 'zod'
import { requireIfMatch } from '#src/platform/http/documents.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery, pageQuery } from '#src/platform/http/page.ts'
import { idParam, idParams } from '#src/platform/http/params.ts'
import { replyVersioned } from '#src/platform/http/versions.ts'
import { challengeView } from '../passkeys/views.ts'
import {
  confirmationRequest,
  endFactRequest,
  factChallengeRequest,
  factRequest,
  npiFilter,
  prescriberChange,
  prescriberRequest,
  suspensionRequest,
  toFactTerms,
  toNewPrescriber,
} from './bodies.ts'
import type { ConfirmedFacts, FactConfirmations } from './confirmations.ts'
import type { Prescribers, ShownPrescriber } from './prescribers.ts'
import { confirmedFactsView, factView, prescriberView, toFactView, toPrescriberView } from './views.ts'

const PATH = '/v1/clinical/prescribers'
const reading = { scope: 'admin', permission: 'prescribers.read', needsAccountKey: true } as const
const writing = { scope: 'admin', permission: 'prescribers.write', needsAccountKey: true } as const
// Sessions only: the person who confirms is the one who is signed in, whatever their role.
const confirming = { permission: 'prescribers.confirm' } as const
const params = idParams('prs')
const factParams = z.object({ id: idParam('prs'), fact_id: idParam('pfa') })

const answer = (prescriber: ShownPrescriber) => replyVersioned(toPrescriberView(prescriber))
const answerFacts = ({ prescriberId, tier, facts }: ConfirmedFacts) => ({
  prescriber_id: prescriberId,
  tier,
  facts: facts.map(toFactView),
})

export function prescriberRoutes(prescribers: Prescribers, confirmations: FactConfirmations): Route[] {
  return [...readRoutes(prescribers), ...personRoutes(prescribers), ...factRoutes(prescribers, confirmations)]
}

function readRoutes(prescribers: Prescribers): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: PATH,
        operationId: 'listPrescribers',
        sdk: 'clinical.prescribers.list',
        summary: 'List prescribers, newest first',
        query: { ...listQuery, user_id: z.string().max(64).optional(), npi: npiFilter.optional() },
        item: prescriberView,
      },
      ({ caller, query }) => {
        const { user_id: userId, npi, limit, cursor, include } = query
        return prescribers.list(caller, { userId, npi, ...createdBetween(query), limit, cursor, include })
      },
      toPrescriberView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: `${PATH}/:id`,
        operationId: 'getPrescriber',
        sdk: 'clinical.prescribers.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read one prescriber, with the tier at this moment',
        params,
        view: prescriberView,
        status: [200],
      },
      async ({ caller, params: { id } }) => answer(await prescribers.get(caller, id)),
    ),
    listEndpoint(
      {
        ...reading,
        path: `${PATH}/:id/facts`,
        operationId: 'listPrescriberFacts',
        sdk: 'clinical.facts.list',
        summary: 'List what was checked about a prescriber, newest first',
        params,
        query: pageQuery,
        item: factView,
      },
      ({ caller, params: { id }, query }) => prescribers.facts(caller, id, query),
      toFactView,
    ),
  ]
}

function personRoutes(prescribers: Prescribers): Route[] {
  return [
    endpoint(
      {
        ...writing,
        method: 'POST',
        audits: 'prescriber.created',
        path: PATH,
        operationId: 'createPrescriber',
        sdk: 'clinical.prescribers.create',
        effect: 'write',
        kind: 'call',
        summary: 'Enter a prescriber, for one user and one NPI',
        body: prescriberRequest,
        view: prescriberView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) =>
        answer(await prescribers.create(caller, toNewPrescriber(body), idempotencyKey)),
      async ({ caller }, id) => answer(await prescribers.get(caller, id)),
    ),
    endpoint(
      {
        ...writing,
        method: 'PATCH',
        audits: 'prescriber.changed',
        path: `${PATH}/:id`,
        operationId: 'updatePrescriber',
        sdk: 'clinical.prescribers.update',
        effect: 'write',
        kind: 'call',
        summary: 'Correct the NPI, name or birth date of a prescriber, which ends the facts about the identity',
        params,
        body: prescriberChange,
        view: prescriberView,
        status: [200],
      },
      async ({ caller, params: { id }, body, idempotencyKey, header }) => {
        // Read after the row, so that an id of another account is not found.
        const expected = () => requireIfMatch(header('If-Match'))
        const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
        return answer(await prescribers.correct(caller, id, { change: given, expected }, idempotencyKey))
      },
      async ({ caller }, id) => answer(await prescribers.get(caller, id)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        audits: 'prescriber.suspended',
        isEmergency: true,
        path: `${PATH}/:id/suspend`,
        operationId: 'suspendPrescriber',
        sdk: 'clinical.prescribers.suspend',
        effect: 'destructive',
        kind: 'call',
        summary: 'Suspend a prescriber, from the next decision on',
        params,
        body: suspensionRequest,
        view: prescriberView,
        status: [200],
      },
      async ({ caller, params: { id }, body, idempotencyKey }) =>
        answer(await prescribers.suspend(caller, id, body.reason, idempotencyKey)),
      async ({ caller }, id) => answer(await prescribers.get(caller, id)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        audits: 'prescriber.reinstated',
        path: `${PATH}/:id/reinstate`,
        operationId: 'reinstatePrescriber',
        sdk: 'clinical.prescribers.reinstate',
        effect: 'write',
        kind: 'call',
        summary: 'Lift the suspension of a prescriber, whose facts have to be confirmed again',
        params,
        view: prescriberView,
        status: [200],
      },
      async ({ caller, params: { id }, idempotencyKey }) =>
        answer(await prescribers.reinstate(caller, id, idempotencyKey)),
      async ({ caller }, id) => answer(await prescribers.get(caller, id)),
    ),
  ]
}

function factRoutes(prescribers: Prescribers, confirmations: FactConfirmations): Route[] {
  return [
    endpoint(
      {
        ...writing,
        method: 'POST',
        audits: 'prescriber_fact.entered',
        path: `${PATH}/:id/facts`,
        operationId: 'enterPrescriberFact',
        sdk: 'clinical.facts.create',
        effect: 'write',
        kind: 'call',
        summary: 'Enter what was checked about a prescriber: identity, licence or DEA registration',
        params,
        body: factRequest,
        view: factView,
        status: [200],
      },
      async ({ caller, params: { id }, body, idempotencyKey }) =>
        toFactView(await prescribers.enterFact(caller, id, toFactTerms(body), idempotencyKey)),
      async ({ caller, params: { id } }, factId) => toFactView(await prescribers.fact(caller, id, factId)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        audits: 'prescriber_fact.ended',
        isEmergency: true,
        path: `${PATH}/:id/facts/:fact_id/end`,
        operationId: 'endPrescriberFact',
        sdk: 'clinical.facts.end',
        effect: 'destructive',
        kind: 'call',
        summary: 'End a fact about a prescriber, from the next decision on',
        params: factParams,
        body: endFactRequest,
        view: factView,
        status: [200],
      },
      async ({ caller, params: { id, fact_id: factId }, body, idempotencyKey }) =>
        toFactView(await prescribers.endFact(caller, id, { factId, reason: body.reason }, idempotencyKey)),
      async ({ caller, params: { id } }, factId) => toFactView(await prescribers.fact(caller, id, factId)),
    ),
    endpoint(
      {
        ...confirming,
        method: 'POST',
        path: `${PATH}/:id/facts/challenge`,
        operationId: 'createPrescriberFactChallenge',
        sdk: 'clinical.factChallenges.create',
        effect: 'write',
        kind: 'call',
        summary: 'Ask for a challenge for the passkey of the person who confirms facts',
        params,
        body: factChallengeRequest,
        view: challengeView,
        status: [200],
      },
      async ({ caller, params: { id }, body, idempotencyKey }) =>
        confirmations.challenge(caller, { id, factIds: body.fact_ids }, idempotencyKey),
      async ({ caller }, challengeId) => confirmations.challengeAgain(caller, challengeId),
    ),
    endpoint(
      {
        ...confirming,
        method: 'POST',
        audits: 'prescriber_fact.confirmed',
        path: `${PATH}/:id/facts/confirm`,
        operationId: 'confirmPrescriberFacts',
        sdk: 'clinical.facts.confirm',
        effect: 'write',
        kind: 'call',
        summary: 'Confirm facts about a prescriber as the second person, with a passkey',
        params,
        body: confirmationRequest,
        view: confirmedFactsView,
        status: [200],
      },
      async ({ caller, params: { id }, body, idempotencyKey }) => {
        const given = { id, factIds: body.fact_ids, assertion: body.passkey_assertion }
        return answerFacts(await confirmations.confirm(caller, given, idempotencyKey))
      },
      async ({ caller, body }, id) => answerFacts(await confirmations.confirmedAgain(caller, id, body.fact_ids)),
    ),
  ]
}
