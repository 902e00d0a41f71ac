// Every method against the running service, with the documented example of its request: the service must take it as the operation
// that it is, and the library must lose nothing of the answer.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { camelOf } from '#client/core/case.ts'
import { fromJson, toJson } from '#client/core/names.ts'
import type { Fetch } from '#client/core/options.ts'
import { type CallOptions, Countersign, CountersignError, Lines, Pages } from '#client/countersign.ts'
import { createAuthority } from '../../../capture-kit/authority.ts'
import { createDevice } from '../../../capture-kit/device.ts'
import { EXCEPTIONS } from '../../../clients/exceptions.ts'
import { type DocumentOperation, type Media, readDocument, type Schema } from '../../../clients/generate/document.ts'
import { type Operation, readApi, sdkOf } from '../../../clients/generate/operations.ts'
import { tableOf } from '../../../clients/generate/renaming.ts'
import { PHOTO, shoot } from '../../attest/claims/phone.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const document = await readDocument()
const api = readApi(document, EXCEPTIONS)
const { entryOf } = tableOf(api)
const described = new Map(
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => [operation.operationId, operation]),
)

/** Bodies in place of the documented ones, which have no real certificates and photos. */
const REAL: Record<string, () => unknown> = {
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
  'screenings.batches.create': () => [{ external_id: 'one', media: { media_id: idFor('media_id', 'med_test_') } }],
  'account.close': () => ({ confirm: idFor('account_id', 'acc_') }),
}
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const now = () => new Date()
const authority = await createAuthority({ name: 'Test Phones', now })
const phone = await createDevice({ authority, name: 'Phone', now })
const other = await createDevice({ authority, name: 'Other phone', now })

let service: TestService
let accountId: string
let cookie: string
let clients: { key: Countersign; session: Countersign }
/** Ids of what calls before made, by their names in answers: the arguments of paths have the same. */
const ids = new Map<string, string[]>()
/** The texts of the answers of the last call. */
let answered: { status: number; text: string }[] = []
const outcomes = new Map<string, string>()

beforeAll(async () => {
  service = await startTestService()
  const caller = await service.makeCaller()
  await service.test.owner("UPDATE accounts SET plan = 'enterprise' WHERE id = $1", [caller.accountId])
  accountId = caller.accountId
  cookie = (await service.signIn(accountId)).headers.Cookie ?? ''
  const recorded =
    (more: () => Record<string, string>): Fetch =>
    async (input, init) => {
      const response = await fetch(input, {
        ...init,
        headers: { ...(init?.headers as Record<string, string>), ...more() },
      })
      answered.push({ status: response.status, text: await response.clone().text() })
      return response
    }
  const { url: baseUrl } = service.app
  clients = {
    key: new Countersign({ apiKey: caller.key, baseUrl, fetch: recorded(() => ({})), maxRetries: 8 }),
    // Browsers send the cookie by themselves.
    session: new Countersign({
      session: { environment: 'sandbox' },
      baseUrl,
      fetch: recorded(() => ({ Cookie: cookie })),
    }),
  }
})
afterAll(async () => {
  // Two successes that change nothing: no line of evidence, and a trace that keeps no texts.
  const unrecorded = await service.close().catch((error: Error) => error.message)
  expect(unrecorded).toBe('not in the audit log: device.evidence_changed, trace_texts.erased')
})

// What is made is read, then changed, then ended; last of all what ends the session or the account.
const LAST = [
  'account.plan.update',
  'org.users.leave',
  'auth.sessions.delete',
  'auth.session.delete',
  'auth.sessions.deleteAll',
  'account.close',
  'account.reopen',
]
const FIRST = ['devices.roots.create', 'devices.create', 'media.upload', 'claims.attest']
const PHASES: ((operation: Operation) => boolean)[] = [
  ({ effect }) => effect === 'destructive',
  ({ method, arguments: path }) => method !== 'GET' && path.length > 0,
  ({ method, arguments: path }) => method === 'GET' && path.length > 0,
  ({ method }) => method === 'GET',
]
const phaseOf = (operation: Operation) => {
  const phase = PHASES.findIndex((isOf) => isOf(operation))
  const first = FIRST.indexOf(sdkOf(operation))
  const last = LAST.indexOf(sdkOf(operation))
  if (last >= 0) return -1 - last
  return first >= 0 ? 100 - first : phase === -1 ? PHASES.length : phase
}
const ordered = api.operations.toSorted((a, b) => phaseOf(b) - phaseOf(a))

describe('every method', () => {
  it.each(ordered.map((operation) => [sdkOf(operation), operation] as const))('%s', async (name, operation) => {
    const [id = ''] = operation.id.split(':')
    const source = described.get(id) as DocumentOperation
    const results: string[] = []
    // Each of them may end the session of its user.
    if (LAST.includes(name)) cookie = (await service.signIn(accountId)).headers.Cookie ?? ''
    for (const body of bodiesOf(operation, source)) {
      answered = []
      const args = argumentsOf(operation, source, body)
      results.push(
        await call(clientOf(source), operation, args).then(
          (answer) => compare(operation, answer),
          (error: unknown) => {
            if (!(error instanceof CountersignError)) throw error
            return [error.code, ...error.errors.map(({ code }) => code)].join('/')
          },
        ),
      )
    }
    outcomes.set(name, results.includes('ok') ? 'ok' : (results[0] ?? ''))
  })

  it('succeeds, but for the listed ones, whose state no call can make: they are refused for that', () => {
    const refused = [...outcomes].flatMap(([name, outcome]) => (outcome === 'ok' ? [] : [`${name} ${outcome}`]))
    expect(refused.sort()).toEqual(REFUSED)
  })
})

// A key of the sandbox knows nothing of the whole account.
function clientOf(source: DocumentOperation): Countersign {
  if (source.security.length > 0 && !source.security.some((one) => 'bearer' in one)) return clients.session
  return /^(?:account|org)\./.test(source['x-sdk'] ?? '') ? clients.session : clients.key
}

function call(client: Countersign, { group, name }: Operation, args: unknown[]): Promise<unknown> {
  const owner = group.reduce<unknown>((one, member) => (one as Record<string, unknown>)[member], client)
  const method = (owner as Record<string, (...given: unknown[]) => unknown>)[name] as (...given: unknown[]) => unknown
  return read(method.apply(owner, args))
}

async function read(answer: unknown): Promise<unknown> {
  if (answer instanceof Pages) return answer.page()
  if (!(answer instanceof Lines)) return answer
  const items: unknown[] = []
  for await (const item of answer) items.push(item)
  return items
}

function argumentsOf(operation: Operation, source: DocumentOperation, body: unknown): unknown[] {
  const placeholders = source.parameters.filter((parameter) => parameter.in === 'path')
  const inPath = operation.arguments.map(({ name }, index) => idFor(name, sampleOf(placeholders[index]?.schema ?? {})))
  const args: Record<string, unknown> = {}
  for (const member of operation.query.filter((one) => one.isRequired)) {
    const parameter = source.parameters.find((one) => one.name === member.name)
    args[camelOf(member.name)] = sampleOf(parameter?.schema ?? {})
  }
  for (const { name, header } of operation.headers) {
    if (header === 'If-Match') args[camelOf(name)] = '*'
    if (header === 'Share-Token') args[camelOf(name)] = 'share_token'
  }
  if (operation.wait === 'prefer') args.wait = 0
  const options: CallOptions = {}
  if (operation.body?.kind === 'json')
    return [...inPath, { ...args, ...(fromJson(body, entryOf(operation.body.shape)) as object) }, options]
  if (operation.body?.kind === 'lines') {
    const { item } = operation.body
    return [...inPath, (body as unknown[]).map((line) => fromJson(line, entryOf(item))), options]
  }
  if (operation.body?.kind === 'bytes')
    return [...inPath, body, { contentType: operation.body.contentTypes[0] }, options]
  const takesArgs = operation.query.length + operation.headers.length > 0
  return [...inPath, ...(takesArgs ? [args] : []), options]
}

/** The documented examples of the request, or undefined where there is no body. */
function bodiesOf({ body, ...named }: Operation, { requestBody }: DocumentOperation): unknown[] {
  if (body === undefined) return [undefined]
  const real = REAL[sdkOf(named)]
  if (real !== undefined) return [real()]
  if (body.kind === 'bytes') return [PHOTO]
  const { 'application/json': json, 'application/x-ndjson': lines } = requestBody?.content ?? {}
  if (body.kind === 'json') return examplesOf(json).map(present)
  const given = examplesOf(json).concat(examplesOf(lines))
  return [
    given.flatMap((one) =>
      Array.isArray(one)
        ? one
        : typeof one === 'string'
          ? one
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line))
          : [one],
    ),
  ]
}

/** The example with ids of what exists. */
function present(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  if (Array.isArray(body)) return body.map(present)
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? idFor(name, value) : value]),
  )
}

function examplesOf({ example, examples = {} }: Media = {}): unknown[] {
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
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

function keepIds(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'object') keepIds(member)
    else if (/_id$|^jti$/.test(name) && typeof member === 'string') ids.set(name, [...(ids.get(name) ?? []), member])
  }
}

/** An id of this kind, else the sample. */
function idFor(name: string, sample: string): string {
  const kindOf = (id: string) => /^[a-z]+_(?:(?:test|live)_)?/.exec(id)?.[0]
  return ids.get(name)?.find((id) => kindOf(id) === kindOf(sample)) ?? sample
}

/** What the library gives is what was answered, to the last member. */
function compare({ answer }: Operation, given: unknown): string {
  const { text = '' } = answered.at(-1) ?? {}
  if (answer.kind !== 'bytes') keepIds(answer.kind === 'lines' ? given : JSON.parse(text))
  if (answer.kind === 'json') expect(toJson(given, entryOf(answer.shape))).toEqual(JSON.parse(text))
  if (answer.kind === 'page') {
    const { data, ...page } = given as { data: unknown[] }
    const items = data.map((item) => toJson(item, entryOf(answer.item)))
    expect({ ...(toJson(page, 'flat') as object), data: items }).toEqual(JSON.parse(text))
  }
  return 'ok'
}

// Needed: a worker that has run, a person who signs or approves, a model, or a link from a mail.
const REFUSED = [
  'account.exports.download not_ready',
  'account.riskPolicy.retrieveVersion not_found',
  'agents.sessions.retrieve not_found',
  'agents.unsuspend invalid_state_transition',
  'approvals.approve not_found',
  'approvals.challenges.create not_found',
  'approvals.deny not_found',
  'approvals.retrieve not_found',
  'auth.magicLinks.verify invalid_request/invalid_link',
  'auth.sessions.delete not_found',
  'cases.transition invalid_state_transition/stale',
  'claims.attestations.retry invalid_state_transition',
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
  'screenings.batches.create invalid_request',
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
  'trace.interventions.create conflict',
  'trace.jobs.cancel not_found',
  'trace.jobs.create conflict',
  'trace.jobs.retrieve not_found',
  'trace.jobs.retrieveManifest not_found',
  'trace.locks.clear not_found',
  'trace.locks.retrieve not_found',
  'trace.models.retrieve not_found',
  'trace.shares.view not_found',
  'trace.texts.retrieve text_not_kept',
  'trace.tokens.list not_found',
  'webhooks.deliveries.redeliver not_found',
  'webhooks.deliveries.retrieve not_found',
  'webhooks.deliveries.retrieveForEndpoint not_found',
  'webhooks.recoveries.retrieve not_found',
]
