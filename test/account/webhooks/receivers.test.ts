// Receivers that no honest server resembles: what the log says of them, and that none is reached that must not be.

import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDeliver } from '#src/account/webhooks/deliver.ts'
import { createOutbound, type OutboundOptions } from '#src/platform/net/outbound.ts'
import { makeCertificate } from '../../platform/net/certificate.ts'
import { createFixture, escalated, type Fixture } from './fixture.ts'

let fixture: Fixture
const closers: (() => unknown)[] = []
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(async () => {
  for (const close of closers) await close()
  await fixture.close()
})

/** Runs one delivery to a URL, as often as asked, and returns the log of its attempts. */
async function attempt(url: string, times: number, options: OutboundOptions) {
  const outbound = createOutbound({ allow: ['127.0.0.1', 'receiver.test'], ...options })
  closers.push(() => outbound.close())
  const scope = await fixture.makeAccount()
  const { id } = await fixture.makeEndpoint(url, ['*'], scope)
  const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
  const deliveryId = emitted?.deliveryIds[0] ?? ''
  const work = createDeliver({ ...fixture, outbound, random: () => 0.5 })
  for (let time = 0; time < times; time += 1) await fixture.runOnce(deliveryId, { work })
  const { log } = await fixture.deliveries.get(scope, id, deliveryId)
  return log
}

async function secureReceiver(notAfter?: Date) {
  const { key, cert } = await makeCertificate(['receiver.test'], notAfter)
  const state = { requests: 0 }
  const server = createServer({ key, cert }, (request, response) => {
    state.requests += 1
    request.resume().on('end', () => response.end('thanks'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { state, ca: cert, url: `https://receiver.test:${(server.address() as AddressInfo).port}/hook` }
}

const here = async () => ['127.0.0.1']

it('the log names an expired certificate, and one that no authority has signed', async () => {
  const expired = await secureReceiver(new Date(Date.now() - 60_000))
  const unsigned = await secureReceiver()
  for (const [url, options, problem] of [
    [expired.url, { ca: expired.ca, lookup: here }, 'CERT_HAS_EXPIRED'],
    [unsigned.url, { lookup: here }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ] as const) {
    const [first] = await attempt(url, 1, options)
    expect(first).toMatchObject({ error: 'tls_failed', responseStatus: null, detail: { error_detail: problem } })
  }
  expect([expired.state.requests, unsigned.state.requests]).toEqual([0, 0])
})

it('the log has the time of each phase of a call over TLS, and none of a connection that was open', async () => {
  const { url, ca, state } = await secureReceiver()
  const outbound = createOutbound({ allow: ['127.0.0.1', 'receiver.test'], lookup: here, ca })
  closers.push(() => outbound.close())
  const scope = await fixture.makeAccount()
  const call = () =>
    outbound.send({
      account: scope.accountId,
      url,
      environment: 'sandbox',
      method: 'POST',
      headers: {},
      timeoutMs: 15_000,
      maxResponseBytes: 1_024,
    })
  const ms = expect.any(Number)
  expect((await call()).timing).toEqual({ dnsMs: ms, connectMs: ms, tlsMs: ms, firstByteMs: ms })
  // The connection is open to the next call some moments after the answer.
  let again = await call()
  for (let calls = 2; again.timing?.connectMs !== null && calls < 20; calls += 1) again = await call()
  expect(again.timing).toEqual({ dnsMs: ms, connectMs: null, tlsMs: null, firstByteMs: ms })
  expect(state.requests).toBeGreaterThanOrEqual(2)
})

it('a name that our name servers say nothing about is not held against the endpoint, and one that does not exist is', async () => {
  for (const [code, failures] of [
    ['ESERVFAIL', 0],
    ['ETIMEOUT', 0],
    ['ENOTFOUND', 1],
  ] as const) {
    const lookup = () => Promise.reject(Object.assign(new Error('query failed'), { code }))
    const url = `http://receiver.test:8080/${code}`
    const [first] = await attempt(url, 1, { lookup })
    const errorDetail = failures === 0 ? `receiver.test: ${code}` : 'receiver.test has no public address'
    expect(first).toMatchObject({ error: 'dns_failed', errorDetail })
    const rows = await fixture.owner(
      'SELECT consecutive_failures, circuit_failures FROM webhook_endpoints WHERE url = $1',
      [url],
    )
    expect(rows).toEqual([{ consecutive_failures: failures, circuit_failures: failures }])
  }
})

it('a name that leads to a private address the second time is not called again, though a connection is open', async () => {
  const { received, url } = await fixture.receiver((response) => response.writeHead(503).end())
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1', '169.254.169.254'], ['::ffff:192.168.0.1']]
  const lookup = async () => answers.shift() ?? []
  const log = await attempt(url.replace('127.0.0.1', 'receiver.test'), 4, { lookup })
  expect(log.map(({ error, responseStatus }) => error ?? responseStatus)).toEqual([
    503,
    'dns_failed',
    'dns_failed',
    'dns_failed',
  ])
  expect(log.map(({ detail }) => detail?.error_detail)).toEqual([
    null,
    // The account reads this: which addresses are behind a name in our network is not told.
    ...Array.from({ length: 3 }, () => 'receiver.test has no public address'),
  ])
  expect(received).toHaveLength(1)
})
