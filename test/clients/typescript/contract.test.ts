// Every method against the running service, with the documented example of its request: the service must take it as the operation
// that it is, and the library must lose nothing of the answer.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { camelOf } from '#client/core/case.ts'
import { fromJson, toJson } from '#client/core/names.ts'
import type { Fetch } from '#client/core/options.ts'
import { type CallOptions, Countersign, CountersignError, Lines, Pages } from '#client/countersign.ts'
import { EXCEPTIONS } from '../../../clients/exceptions.ts'
import { readDocument } from '../../../clients/generate/document.ts'
import { type Operation, readApi, sdkOf } from '../../../clients/generate/operations.ts'
import { tableOf } from '../../../clients/generate/renaming.ts'
import { createDocumentedCalls, type DocumentedCall, REFUSED } from '../../support/documented-calls.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const document = await readDocument()
const api = readApi(document, EXCEPTIONS)
const { entryOf } = tableOf(api)
const { ordered, needsSession, endsSession, callsOf, keep } = await createDocumentedCalls(document, api.operations)

let service: TestService
let accountId: string
let cookie: string
let clients: { key: Countersign; session: Countersign }
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
  // A success that changes nothing: no line of evidence.
  const unrecorded = await service.close().catch((error: Error) => error.message)
  expect(unrecorded).toBe('not in the audit log: device.evidence_changed')
})

describe('every method', () => {
  it.each(ordered.map((operation) => [sdkOf(operation), operation] as const))('%s', async (name, operation) => {
    const results: string[] = []
    // Each of them may end the session of its user.
    if (endsSession(operation)) cookie = (await service.signIn(accountId)).headers.Cookie ?? ''
    for (const documented of callsOf(operation)) {
      answered = []
      const args = argumentsOf(operation, documented)
      const client = needsSession(operation) ? clients.session : clients.key
      results.push(
        await call(client, operation, args).then(
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
    expect(refused.sort()).toEqual([...REFUSED].sort())
  })
})

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

function argumentsOf({ body: shape, ...operation }: Operation, { path, named, body }: DocumentedCall): unknown[] {
  const options: CallOptions = {}
  const args = Object.fromEntries(Object.entries(named).map(([name, value]) => [camelOf(name), value]))
  if (shape?.kind === 'json') {
    return [...path, { ...args, ...(fromJson(body, entryOf(shape.shape)) as object) }, options]
  }
  if (shape?.kind === 'lines') {
    return [...path, (body as unknown[]).map((line) => fromJson(line, entryOf(shape.item))), options]
  }
  if (shape?.kind === 'bytes') return [...path, body, { ...args, contentType: shape.contentTypes[0] }, options]
  const takesArgs = operation.query.length + operation.headers.length > 0
  return [...path, ...(takesArgs ? [args] : []), options]
}

/** What the library gives is what was answered, to the last member. */
function compare({ answer }: Operation, given: unknown): string {
  const { text = '' } = answered.at(-1) ?? {}
  if (answer.kind !== 'bytes') keep(answer.kind === 'lines' ? given : JSON.parse(text))
  if (answer.kind === 'json') expect(toJson(given, entryOf(answer.shape))).toEqual(JSON.parse(text))
  if (answer.kind === 'page') {
    const { data, ...page } = given as { data: unknown[] }
    const items = data.map((item) => toJson(item, entryOf(answer.item)))
    expect({ ...(toJson(page, 'flat') as object), data: items }).toEqual(JSON.parse(text))
  }
  return 'ok'
}
