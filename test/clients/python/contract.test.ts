// Every method of Python against the running service, with the documented example of its request: the service must take it as
// the operation that it is, and the model must lose nothing of the answer.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXCEPTIONS } from '../../../clients/exceptions.ts'
import { readDocument } from '../../../clients/generate/document.ts'
import { type Operation, readApi, sdkOf } from '../../../clients/generate/operations.ts'
import { pythonOperations } from '../../../clients/generate/python.ts'
import { pythonName, snakeName } from '../../../clients/generate/python-types.ts'
import { createDocumentedCalls, type DocumentedCall, REFUSED } from '../../support/documented-calls.ts'
import {
  describePythons,
  type PythonDriver,
  type PythonOutcome,
  type PythonTask,
  startPython,
} from '../../support/python.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const document = await readDocument()
const operations = pythonOperations(readApi(document, EXCEPTIONS))
const names = new Set(operations.map(sdkOf))

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(async () => {
  // A success that changes nothing: no line of evidence.
  const unrecorded = await service.close().catch((error: Error) => error.message)
  expect(unrecorded).toBe('not in the audit log: device.evidence_changed')
})

describePythons('every method', (python, { isNewest, isOnly }) => {
  // One of both clients with each version takes half of the time.
  const flavours = isOnly ? (['sync', 'async'] as const) : ([isNewest ? 'async' : 'sync'] as const)
  describe.each(flavours)('%s', async (flavour) => {
    const { ordered, needsSession, endsSession, callsOf, keep } = await createDocumentedCalls(document, operations)
    const outcomes = new Map<string, string>()
    let driver: PythonDriver
    let accountId: string
    let key: string
    let session: Record<string, string>

    beforeAll(async () => {
      driver = startPython(python)
      const caller = await service.makeCaller()
      accountId = caller.accountId
      key = caller.key
      await service.test.owner("UPDATE accounts SET plan = 'enterprise' WHERE id = $1", [accountId])
      session = (await service.signIn(accountId)).headers
    })
    afterAll(() => driver.close())

    it('happens once where the answer was lost and the change is sent again', async () => {
      const operation = ordered.find((one) => sdkOf(one) === 'agents.create')
      const [call] = operation === undefined ? [] : callsOf(operation)
      if (operation === undefined || call === undefined) throw new Error('the document has no example of an agent')
      const lossy = await startLossy(service.app.url)
      const before = await service.count('agents')
      const options = { api_key: key, base_url: lossy.url }
      const answered = await driver.run({ ...taskOf(operation, call), flavour, options, keeps_text: true }).outcome
      await lossy.close()
      expect(lossy.keys).toHaveLength(2)
      expect(new Set(lossy.keys).size).toBe(1)
      expect(outcomeOf(operation, answered, keep)).toBe('ok')
      expect((await service.count('agents')) - before).toBe(1)
    })

    it.each(ordered.map((operation) => [sdkOf(operation), operation] as const))('%s', async (name, operation) => {
      if (endsSession(operation)) session = (await service.signIn(accountId)).headers
      const results: string[] = []
      for (const call of callsOf(operation)) {
        const access = needsSession(operation)
          ? { options: { api_key: '' }, headers: { ...session, 'Service-Environment': 'sandbox' } }
          : { options: { api_key: key } }
        const answered = await driver.run({
          ...taskOf(operation, call),
          ...access,
          flavour,
          options: { ...access.options, base_url: service.app.url, max_retries: 8 },
          keeps_text: true,
          sleeps: true,
        }).outcome
        results.push(outcomeOf(operation, answered, keep))
      }
      outcomes.set(name, results.includes('ok') ? 'ok' : (results[0] ?? ''))
    })

    it('succeeds, but for the listed ones, whose state no call can make: they are refused for that', () => {
      const refused = [...outcomes].flatMap(([name, outcome]) => (outcome === 'ok' ? [] : [`${name} ${outcome}`]))
      expect(refused.sort()).toEqual(REFUSED.filter((line) => names.has(line.split(' ')[0] ?? '')))
    })
  })
})

/** Passes requests on, and ends the connection in place of the first answer. */
async function startLossy(target: string) {
  const keys: unknown[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const { authorization = '', 'idempotency-key': key, 'content-type': type = '' } = request.headers
    keys.push(key)
    const headers = { authorization, 'idempotency-key': String(key), 'content-type': type }
    const answer = await fetch(`${target}${request.url}`, { method: request.method ?? '', headers, body })
    const text = await answer.text()
    if (keys.length === 1) response.destroy()
    else response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, keys, close }
}

function taskOf(
  operation: Operation,
  { path, named, body }: DocumentedCall,
): Pick<PythonTask, 'op' | 'args' | 'kwargs' | 'bytes'> {
  const { body: shape, group, name } = operation
  const members = shape?.kind === 'json' && shape.members !== undefined ? (body as Record<string, unknown>) : {}
  const kwargs = Object.fromEntries(
    Object.entries({ ...named, ...members }).map(([member, value]) => [pythonName(member), value]),
  )
  const task = { op: [...group, name].map(snakeName), args: path as unknown[], kwargs }
  if (shape?.kind === 'bytes') {
    const bytes = Buffer.from(body as Uint8Array).toString('base64')
    return { ...task, bytes, kwargs: { ...kwargs, content_type: shape.contentTypes[0] } }
  }
  const isPositional = shape?.kind === 'lines' || (shape?.kind === 'json' && shape.members === undefined)
  return isPositional ? { ...task, args: [...path, body] } : task
}

function outcomeOf({ answer }: Operation, answered: PythonOutcome, keep: (value: unknown) => void): string {
  const { outcome, code, errors = [], texts } = answered
  if (code !== undefined) {
    // What is refused is refused by the service, not by a model.
    expect(outcome, answered.detail).not.toBe('UnexpectedResponse')
    return [code, ...errors.map((finding) => finding.split(' ')[1])].join('/')
  }
  expect(outcome).toBe('ok')
  if (answer.kind === 'bytes') return outcome
  const text = texts.at(-1) ?? ''
  const sent =
    answer.kind === 'lines'
      ? text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : JSON.parse(text)
  expect(answered.answer).toEqual(sent)
  keep(sent)
  return outcome
}
