// The documented example of each operation as a call that the running service can answer: with ids of what calls before made, and
// in an order in which things exist before they are read, changed and ended. Names stand as in the interface.

import { createAuthority } from '../../capture-kit/authority.ts'
import { createDevice } from '../../capture-kit/device.ts'
import type { DocumentOperation, OpenApiDocument, Schema } from '../../clients/generate/document.ts'
import { type Operation, sdkOf } from '../../clients/generate/operations.ts'
import { PHOTO, shoot } from '../attest/claims/phone.ts'
import { examplesOf } from './examples.ts'

export interface DocumentedCall {
  /** In the order of the path. */
  path: string[]
  /** Required arguments of the query and headers, by their names in the intermediate form. */
  named: Record<string, unknown>
  /** A value of JSON, the values of lines, or bytes. */
  body: unknown
}

export interface DocumentedCalls {
  ordered: readonly Operation[]
  /** Only the session of a user may call it, or a key that the caller of a sandbox does not have. */
  needsSession(operation: Operation): boolean
  /** It may end the session of its user. */
  endsSession(operation: Operation): boolean
  /** One for each documented example of the body. */
  callsOf(operation: Operation): DocumentedCall[]
  /** Keeps the ids of an answer for later calls. */
  keep(answer: unknown): void
}

// Last of all what ends the session or the account.
const LAST = [
  'account.plan.update',
  'org.users.leave',
  'auth.sessions.delete',
  'auth.session.delete',
  'auth.sessions.deleteAll',
  'account.close',
  'account.reopen',
]
// The trace of an inference is the one that later calls are about: a check may give none on a busy machine.
const FIRST = [
  'devices.roots.create',
  'devices.create',
  'media.upload',
  'claims.attest',
  'trace.inferences.create',
  // A prescriber is a user.
  'org.users.list',
  'clinical.prescribers.create',
]
const PHASES: ((operation: Operation) => boolean)[] = [
  ({ effect }) => effect === 'destructive',
  ({ method, arguments: path }) => method !== 'GET' && path.length > 0,
  ({ method, arguments: path }) => method === 'GET' && path.length > 0,
  ({ method }) => method === 'GET',
]

export async function createDocumentedCalls(
  document: OpenApiDocument,
  operations: readonly Operation[],
): Promise<DocumentedCalls> {
  const now = () => new Date()
  const authority = await createAuthority({ name: 'Test Phones', now })
  const phone = await createDevice({ authority, name: 'Phone', now })
  const other = await createDevice({ authority, name: 'Other phone', now })
  const described = new Map(
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map((source) => [source.operationId, source]),
  )
  /** Values by their names in answers: arguments of paths have the same. */
  const ids = new Map<string, string[]>()

  /** Bodies in place of the documented ones, which have no real certificates and photos. */
  const real: Record<string, () => unknown> = {
    'devices.roots.create': () => ({ name: 'Test Phones', certificate: base64(authority.rootDer) }),
    'media.c2paAnchors.create': () => ({ name: 'Test Cameras', certificate: base64(authority.rootDer) }),
    'devices.create': () => ({ certificate_chain: phone.chain.map(base64) }),
    'devices.batches.create': () => [{ certificate_chain: other.chain.map(base64) }],
    // Hardware evidence of a real phone is in the tests of devices.
    'devices.attestations.upload': () => [],
    'claims.attest': () => shoot({ device: phone, id: idFor('device_id', 'dev_test_') }),
    'claims.batches.create': () => [
      {
        ...shoot({ device: phone, id: idFor('device_id', 'dev_test_') }),
        external_id: 'one',
        media: { media_id: idFor('media_id', 'med_test_') },
      },
    ],
    'screenings.create': () => ({ media: { media_id: idFor('media_id', 'med_test_') } }),
    'screenings.batches.create': () => [{ media_id: idFor('media_id', 'med_test_') }],
    'clinical.formulary.update': () => Buffer.from('rxcui,schedule\n1049502,II\n'),
    'account.close': () => ({ confirm: idFor('account_id', 'acc_') }),
  }

  const sourceOf = ({ id }: Operation): DocumentOperation => {
    const source = described.get(id.replace(/:.*/, ''))
    if (source === undefined) throw new Error(`the document has no operation ${id}`)
    return source
  }

  /** A value that fits: an id of nothing, the first of an enumeration. */
  function sampleOf(schema: Schema): string {
    const { $ref, pattern, enum: values, type, format } = schema
    if (typeof $ref === 'string') return sampleOf(document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {})
    const prefix = /^\^([a-z0-9]+)_(\(\?:test\|live\)_)?\[0-7\]/.exec(String(pattern))
    if (prefix !== null) return `${prefix[1]}_${prefix[2] === undefined ? '' : 'test_'}${'0'.repeat(26)}`
    if (Array.isArray(values)) return String(values[0])
    if (format === 'date-time') return '2026-11-01T00:00:00Z'
    if (format === 'date') return '2026-11-01'
    return type === 'integer' ? '1' : 'x'
  }

  /** An id of this kind, else the sample. */
  function idFor(name: string, sample: string): string {
    const kindOf = (id: string) => /^[a-z]+_(?:(?:test|live)_)?/.exec(id)?.[0]
    return ids.get(name)?.find((id) => kindOf(id) === kindOf(sample)) ?? sample
  }

  function bodiesOf(operation: Operation): unknown[] {
    const { body } = operation
    if (body === undefined) return [undefined]
    const made = real[sdkOf(operation)]
    if (made !== undefined) return [made()]
    if (body.kind === 'bytes') return [PHOTO]
    const { 'application/json': json, 'application/x-ndjson': lines } = sourceOf(operation).requestBody?.content ?? {}
    if (body.kind === 'json') return examplesOf(json).map(present)
    return [[...examplesOf(json), ...examplesOf(lines)].flatMap(valuesOfLines)]
  }

  /** The example with ids of what exists. */
  function present(body: unknown): unknown {
    if (typeof body !== 'object' || body === null) return body
    if (Array.isArray(body)) return body.map(present)
    return Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? idFor(name, value) : value]),
    )
  }

  function callsOf(operation: Operation): DocumentedCall[] {
    const { parameters } = sourceOf(operation)
    const placeholders = parameters.filter((parameter) => parameter.in === 'path')
    const named: Record<string, unknown> = {}
    for (const { name } of operation.query.filter((member) => member.isRequired)) {
      named[name] = sampleOf(parameters.find((parameter) => parameter.name === name)?.schema ?? {})
    }
    for (const { name, header } of operation.headers) {
      if (header === 'If-Match') named[name] = '*'
      if (header === 'Share-Token') named[name] = 'share_token'
    }
    if (operation.wait === 'prefer') named.wait = 0
    const path = operation.arguments.map(({ name }, index) => idFor(name, sampleOf(placeholders[index]?.schema ?? {})))
    return bodiesOf(operation).map((body) => ({ path, named, body }))
  }

  function keep(answer: unknown): void {
    if (typeof answer !== 'object' || answer === null) return
    for (const [name, member] of Object.entries(answer)) {
      if (typeof member === 'object') keep(member)
      else if (/_id$|^jti$/.test(name) && typeof member === 'string') ids.set(name, [...(ids.get(name) ?? []), member])
    }
  }

  return {
    ordered: operations.toSorted((a, b) => phaseOf(b) - phaseOf(a)),
    // A key of the sandbox knows nothing of the whole account.
    needsSession(operation) {
      const { security } = sourceOf(operation)
      const isForKeys = security.length === 0 || security.some((one) => 'bearer' in one)
      return !isForKeys || ['account', 'org'].includes(operation.group[0] ?? '')
    },
    endsSession: (operation) => LAST.includes(sdkOf(operation)),
    callsOf,
    keep,
  }
}

/** Outcomes of calls whose state no call can make: a worker that has run, a person who signs or approves, a model, a mail. */
export const REFUSED: readonly string[] = [
  'account.exports.download not_ready',
  'account.riskPolicy.retrieveVersion not_found',
  'agents.sessions.retrieve not_found',
  'agents.unsuspend invalid_state_transition',
  'approvals.approve not_found',
  'approvals.challenges.create not_found',
  'approvals.deny not_found',
  'approvals.retrieve not_found',
  'auth.magicLinks.verify invalid_request/invalid_link',
  ...['create', 'delete', 'list'].map((method) => `auth.scimTokens.${method} environment_mismatch`),
  'auth.sessions.delete not_found',
  ...['delete', 'retrieve', 'update', 'verifyDomain'].map((method) => `auth.sso.${method} environment_mismatch`),
  'cases.transition invalid_state_transition/stale',
  'claims.attestations.retry invalid_state_transition',
  'clinical.exclusionReviews.decide not_found',
  'clinical.exclusionReviews.retrieve not_found',
  'clinical.exclusionScreenings.listChanges not_found',
  'clinical.factChallenges.create not_found',
  'clinical.facts.confirm not_found',
  'clinical.incidentReports.retrieve not_found',
  'clinical.orders.cosign invalid_state_transition',
  'clinical.orders.decline invalid_state_transition',
  'clinical.orders.sign invalid_request/unknown_challenge',
  'clinical.policyVersions.retrieve not_found',
  'clinical.prescribers.reinstate invalid_state_transition',
  'decisions.consistency.retrieve not_ready',
  'decisions.export not_ready',
  'decisions.proof.retrieve not_ready',
  'devices.attest invalid_request/challenge_unknown/malformed',
  'events.consumers.retrieve not_found',
  'events.retrieve not_found',
  'events.types.retrieve not_found',
  'intent.executions.report invalid_state_transition',
  'intent.executions.retrieve not_found',
  'intent.revocations.retrieve not_found',
  'intent.statusLists.retrieve not_found',
  'org.invites.accept invalid_request/invalid_link',
  'org.users.delete last_owner',
  'org.users.update last_owner',
  'overview.search invalid_request/too_short',
  'passkeys.delete not_found',
  'passkeys.register invalid_request/malformed',
  'passkeys.retrieve not_found',
  'passkeys.update not_found',
  'policy.rollback not_found',
  'policy.versions.retrieve not_found',
  'screenings.batches.listRejected not_found',
  'screenings.batches.retrieve not_found',
  'trace.diffs.retrieveReport not_ready',
  'trace.disclosures.deny not_found',
  'trace.disclosures.grant not_found',
  'trace.disclosures.request not_found',
  'trace.disclosures.retrieve not_found',
  'trace.disclosures.revoke not_found',
  'trace.disclosures.verify not_found',
  'trace.graphs.create not_found',
  'trace.interventions.create invalid_request/out_of_range',
  'trace.jobs.retrieveManifest not_ready',
  'trace.locks.clear not_found',
  'trace.locks.retrieve not_found',
  'trace.models.retrieve not_found',
  'trace.shares.view not_found',
  'webhooks.deliveries.redeliver not_found',
  'webhooks.deliveries.retrieve not_found',
  'webhooks.deliveries.retrieveForEndpoint not_found',
  'webhooks.recoveries.retrieve not_found',
]

function phaseOf(operation: Operation): number {
  const first = FIRST.indexOf(sdkOf(operation))
  const last = LAST.indexOf(sdkOf(operation))
  if (last >= 0) return -1 - last
  if (first >= 0) return PHASES.length + FIRST.length - first
  const phase = PHASES.findIndex((isOf) => isOf(operation))
  return phase === -1 ? PHASES.length : phase
}

function valuesOfLines(example: unknown): unknown[] {
  if (Array.isArray(example)) return example
  if (typeof example !== 'string') return [example]
  return example
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
