import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { createLookup, isUnanswered } from '#src/platform/net/lookup.ts'

const NAME_ERROR = 3
const SERVER_FAILURE = 2
const REFUSED = 5

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

type Answer = { addresses: number[][] } | { code: number }

/** A name server (RFC 1035 4) on loopback: answers by question type, 1 for A and 28 for AAAA. */
async function nameServer(answers: Record<number, Answer>): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, peer) => {
    const end = query.indexOf(0, 12) + 5
    const type = query.readUInt16BE(end - 4)
    const answer = answers[type] ?? { addresses: [] }
    const addresses = 'addresses' in answer ? answer.addresses : []
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(0x8180 | ('code' in answer ? answer.code : 0), 2)
    header.writeUInt16BE(addresses.length, 6)
    header.writeUInt32BE(0, 8)
    const records = addresses.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, bytes.length, ...bytes]),
    )
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), peer.port, peer.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  closers.push(() => socket.close())
  return `127.0.0.1:${socket.address().port}`
}

const V6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]

describe('the DNS look-up', () => {
  it('returns every address of both families, IPv4 first', async () => {
    const server = await nameServer({
      1: {
        addresses: [
          [192, 0, 2, 1],
          [192, 0, 2, 2],
        ],
      },
      28: { addresses: [V6] },
    })
    const lookup = createLookup({ servers: [server] })
    const [first, second, third] = await lookup('a.example')
    expect(new Set([first, second])).toEqual(new Set(['192.0.2.1', '192.0.2.2']))
    expect(third).toBe('2001:db8::7')
  })

  it('accepts a name with addresses of one family', async () => {
    const v4Only = await nameServer({ 1: { addresses: [[192, 0, 2, 1]] }, 28: { code: SERVER_FAILURE } })
    const v6Only = await nameServer({ 28: { addresses: [V6] } })
    expect(await createLookup({ servers: [v4Only] })('a.example')).toEqual(['192.0.2.1'])
    expect(await createLookup({ servers: [v6Only] })('a.example')).toEqual(['2001:db8::7'])
  })

  it('rejects a name that does not exist', async () => {
    const server = await nameServer({ 1: { code: NAME_ERROR }, 28: { code: NAME_ERROR } })
    await expect(createLookup({ servers: [server] })('no.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  it.each([
    ['SERVFAIL', SERVER_FAILURE, 'ESERVFAIL'],
    ['REFUSED', REFUSED, 'EREFUSED'],
  ])('says that the name servers gave no answer, also for one family alone: %s', async (_, code, expected) => {
    for (const answers of [{ 1: { code }, 28: { code } }, { 1: { code } }, { 28: { code } }]) {
      const lookup = createLookup({ servers: [await nameServer(answers)] })
      const error = await lookup('broken.example').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: expected })
      expect(isUnanswered(error)).toBe(true)
    }
    const none = createLookup({ servers: [await nameServer({ 1: { code: NAME_ERROR }, 28: { code: NAME_ERROR } })] })
    expect(isUnanswered(await none('no.example').catch((thrown: unknown) => thrown))).toBe(false)
  })

  it('resolves localhost without a query', async () => {
    const lookup = createLookup({ servers: ['127.0.0.1:1'] })
    expect(await lookup('localhost')).toEqual(['127.0.0.1', '::1'])
    expect(await lookup('a.localhost')).toEqual(['127.0.0.1', '::1'])
  })
})
