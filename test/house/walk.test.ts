// How many files of the service one request executes, from the request to the last thing that it causes. Someone who
// follows the request through the code reads that many files: the ceilings only fall.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Receiver, startReceiver } from '../../commands/demo/receiver.ts'
import { fetchAgain } from '../support/again.ts'
import { type Fleet, makeFleet } from '../support/fleet.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'
import { startWalk, type Walk } from '../support/walk.ts'

const ROOT = new URL('../../', import.meta.url).href
const ACTION = {
  action_description: 'Pay 120.00 EUR to Example Garage',
  action_payload: { amount: '120.00', currency: 'EUR', counterparty: 'Example Garage' },
}
// Background work falls into some rounds, on a slow machine into most: only files that every round executes are counted.
const ROUNDS = 8

let system: System
let receiver: Receiver
let fleet: Fleet
let log = ''
let walks: Walk[] = []

beforeAll(async () => {
  system = await startSystem({
    engine: 'postgres',
    // Without `clock`, whose tasks no request causes.
    only: ['web', 'dispatch', 'attest', 'deliver', 'sequence'],
    environment: { NODE_OPTIONS: '--inspect=127.0.0.1:0', TRACE_MODEL_DIR: '' },
    onLog: (text) => {
      log += text
    },
  })
  receiver = await startReceiver()
  const endpoint = await post('/v1/webhook-endpoints', { url: receiver.url, event_types: ['attestation.created'] })
  receiver.expectSecret(String(endpoint.signing_secret))
  fleet = await makeFleet(system, ROUNDS + 1)
  await attest()
  await verify((await authorize()).intent_token)
  await infer()
  const inspectors = log.match(/ws:\/\/\S+/g) ?? []
  walks = await Promise.all(inspectors.map((inspector) => startWalk(inspector, ROOT)))
})
afterAll(async () => {
  for (const walk of walks) walk.close()
  await fleet?.client.close()
  await receiver?.close()
  await system?.close()
})

async function post(path: string, json: object, headers: Record<string, string> = {}) {
  const response = await fetchAgain(`${system.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${system.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(json),
  })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return JSON.parse(text) as Record<string, unknown>
}

async function attest() {
  const { deliveries } = receiver
  await post('/v1/claims/attest', fleet.bodies.pop() ?? {}, { prefer: 'wait=20' })
  await until(() => receiver.deliveries > deliveries)
}

const authorize = () =>
  post('/v1/intent/authorize', { ...ACTION, agent_session_id: 'session-1', device_id: 'device-1' })
const verify = (token: unknown) => post('/v1/intent/verify', { ...ACTION, intent_token: token })
const infer = () => post('/v1/trace/inferences', { prompt: 'List the open tickets', max_tokens: 4 })
const addEndpoint = () => post('/v1/webhook-endpoints', { url: receiver.url, event_types: ['claim.escalated'] })

async function take(): Promise<Set<string>> {
  const taken = await Promise.all(walks.map((walk) => walk.take()))
  return new Set(taken.flatMap((files) => [...files]))
}

it.each([
  { request: 'POST /v1/claims/attest, to its delivered webhook,', ceiling: 173, prepare: async () => attest },
  {
    request: 'POST /v1/intent/verify',
    ceiling: 105,
    async prepare() {
      const { intent_token } = await authorize()
      return () => verify(intent_token)
    },
  },
  { request: 'POST /v1/trace/inferences', ceiling: 87, prepare: async () => infer },
  { request: 'POST /v1/webhook-endpoints', ceiling: 68, prepare: async () => addEndpoint },
])('$request executes at most $ceiling files', async ({ ceiling, prepare }) => {
  let common: Set<string> | undefined
  for (let round = 0; round < ROUNDS; round += 1) {
    const run: () => Promise<unknown> = await prepare()
    await take()
    await run()
    const files = await take()
    common = common?.intersection(files) ?? files
  }
  const files = [...(common ?? [])].toSorted()
  // A count near zero would come from an inspector that tells nothing.
  expect(files.length).toBeGreaterThan(ceiling / 2)
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(ceiling)
})
