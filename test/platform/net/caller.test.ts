import { afterEach, expect, it } from 'vitest'
import { createCaller } from '#src/platform/net/caller.ts'
import { startDeadline } from '#src/platform/net/deadline.ts'

const caller = (code: string) =>
  createCaller({
    keyOf: () => code,
    connectorOf: () => (_, callback) => callback(Object.assign(new Error('no connection'), { code }), null),
  })
let close = async () => {}
afterEach(() => close())

it.each([
  ['EMFILE', { code: 'connect_failed', isOurs: true }],
  ['ENFILE', { code: 'connect_failed', isOurs: true }],
  ['EADDRNOTAVAIL', { code: 'connect_failed', isOurs: true }],
  ['ENOBUFS', { code: 'connect_failed', isOurs: true }],
  ['ECONNREFUSED', { code: 'connect_failed' }],
  ['EHOSTUNREACH', { code: 'connect_failed' }],
  ['CERT_HAS_EXPIRED', { code: 'tls_failed', isOurs: false }],
])('a connection that fails with %s says whether this machine is at fault', async (code, problem) => {
  const target = {
    protocol: 'https:',
    hostname: 'receiver.test',
    isAddress: false,
    port: 443,
    origin: 'https://receiver.test',
    path: '/',
  } as const
  const { call, close: end } = caller(code)
  close = end
  const deadline = startDeadline(60_000)
  const request = { method: 'POST', headers: {}, body: Buffer.from('{}'), maxResponseBytes: 1_024 } as const
  const answer = await call({ target, address: '192.0.2.1', account: 'acc_1' }, request, deadline)
  deadline.clear()
  expect(answer).toMatchObject({ ok: false, isUnconnected: true, detail: code, ...problem })
  if (!('isOurs' in problem)) expect(answer).not.toHaveProperty('isOurs')
})
