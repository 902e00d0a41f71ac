import { once as eventOf } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { purgeIdempotencyKeys } from '#src/platform/http/idempotency.ts'
import type { Scope } from '#src/platform/ids.ts'
import { call, callRaw, type TestAnswer } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { startThings, type Things } from './things.ts'

let things: Things
let caller: Scope & { key: string; keyId: string }
let named = 0

beforeAll(async () => {
  things = await startThings()
  caller = await things.makeCaller()
})
afterAll(() => things?.close())
afterEach(() => {
  for (const step of ['start', 'effect', 'committed'] as const) delete things.at[step]
})

function unique(): string {
  named += 1
  return `n-${named}`
}

const post = (json: unknown, key?: string, path = '/v1/things') => things.post(caller.key, path, json, key)
// Of the principal and the key.
const digestOf = (name: string) => sha256(`${caller.keyId} ${name}`)
const isReplay = ({ headers }: TestAnswer) => headers['idempotent-replayed'] === 'true'

describe('a request with an Idempotency-Key', () => {
  it('takes effect once; a repeat shows the created object without members that are shown once', async () => {
    const name = unique()
    const first = await post({ name }, name)
    expect(first).toMatchObject({ status: 200, json: { name, secret: 's3cret' } })
    expect(isReplay(first)).toBe(false)
    for (let n = 0; n < 3; n += 1) {
      const repeat = await post({ name }, name)
      expect(repeat.status).toBe(200)
      expect(repeat.json).toEqual({ id: first.json.id, name })
      expect(isReplay(repeat)).toBe(true)
    }
    expect(await things.count(name)).toBe(1)
  })

  it('leaves a row that contains neither the key nor the answer', async () => {
    const name = unique()
    const { json } = await post({ name }, name)
    const rows = await things.test.owner('SELECT * FROM idempotency_keys WHERE key_digest = $1', [digestOf(name)])
    expect(rows).toEqual([
      {
        account_id: caller.accountId,
        environment: 'sandbox',
        key_digest: digestOf(name),
        route: 'POST /v1/things',
        fingerprint: expect.any(Buffer),
        status: 200,
        subject: json.id,
        created_at: expect.any(Date),
      },
    ])
  })

  it('is answered with the present state, and with 404 when the created object is deleted', async () => {
    const name = unique()
    const { json } = await post({ name }, name)
    await things.test.owner('UPDATE capture_sessions SET claim_reference = $2 WHERE id = $1', [json.id, `${name}-now`])
    expect((await post({ name }, name)).json.name).toBe(`${name}-now`)
    await things.test.owner('DELETE FROM capture_sessions WHERE id = $1', [json.id])
    expect(await post({ name }, name)).toMatchObject({ status: 404, json: { code: 'not_found' } })
    expect(await things.count(name)).toBe(0)
  })

  it('is a different one on another route, account and environment', async () => {
    const name = unique()
    const other = await things.makeCaller()
    const live = things.addKey({ accountId: caller.accountId, environment: 'live' })
    const answers = [
      await post({ name }, name),
      await post({ name }, name, '/v1/others'),
      await things.post(other.key, '/v1/things', { name }, name),
      await things.post(live, '/v1/things', { name }, name),
    ]
    expect(answers.map((answer) => [answer.status, isReplay(answer)])).toEqual(answers.map(() => [200, false]))
    expect(await things.count(name)).toBe(4)
  })

  it('is another one with another API key, of the same account too', async () => {
    const name = unique()
    await post({ name }, name)
    const { accountId, environment } = caller
    const other = things.addKey({ accountId, environment })
    expect(isReplay(await things.post(other, '/v1/things', { name }, name))).toBe(false)
    expect(await things.count(name)).toBe(2)
  })

  it('is unaffected without the header', async () => {
    const name = unique()
    const before = await things.keys()
    await post({ name })
    await post({ name })
    expect([await things.count(name), await things.keys()]).toEqual([2, before])
  })

  it('is remembered for a day', async () => {
    const [early, late] = [unique(), unique()]
    await post({ name: early }, early)
    await post({ name: late }, late)
    const age = `UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE key_digest = $1`
    await things.test.owner(age, [digestOf(early), '23 hours 59 minutes'])
    await things.test.owner(age, [digestOf(late), '24 hours 1 minute'])
    expect(await purgeIdempotencyKeys(things.test.db)).toBe(1)
    expect(isReplay(await post({ name: early }, early))).toBe(true)
    expect(isReplay(await post({ name: late }, late))).toBe(false)
    expect(await things.count(late)).toBe(2)
  })
})

describe('the fingerprint of a request', () => {
  it('depends on the values of the body, not on their notation', async () => {
    const name = unique()
    await post({ name, more: { a: 1, b: [1e2, 'é'] } }, name)
    const body = `{ "more":{"b":[100,"\\u00e9"],"a":1.0},\n"name":"${name}"}`
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': name }
    expect(isReplay(await call(things.app, '/v1/things', { key: caller.key, body, headers }))).toBe(true)
  })

  it('refuses another body and another path, and changes nothing', async () => {
    const name = unique()
    await post({ name }, name, '/v1/things/here')
    for (const again of [
      await post({ name: `${name}-other` }, name, '/v1/things/here'),
      await post({ name, more: null }, name, '/v1/things/here'),
      await post({ name }, name, '/v1/things/there'),
    ]) {
      expect(again).toMatchObject({ status: 422, json: { code: 'idempotency_key_reused' } })
    }
    expect([await things.count(name), await things.count(`${name}-other`)]).toEqual([1, 0])
  })

  it('covers the bytes of a streamed body', async () => {
    const name = unique()
    const send = (body: string) =>
      call(things.app, '/v1/streams', {
        key: caller.key,
        body,
        headers: { 'Content-Type': 'text/plain', 'Idempotency-Key': name },
      })
    const first = await send(name)
    const repeat = await send(name)
    expect([isReplay(first), isReplay(repeat), repeat.json.id]).toEqual([false, true, first.json.id])
    expect((await send(`${name} `)).json.code).toBe('idempotency_key_reused')
    // A body that was not read to its end can't be compared: the refusal stands.
    expect((await send(`!${name}${'x'.repeat(300_000)}`)).json.code).toBe('invalid_request')
    expect(await things.count(name)).toBe(1)
  })
})

describe('a failed request', () => {
  it('stores nothing, so that its corrected form may use the key', async () => {
    const name = unique()
    const before = await things.keys()
    expect((await post({ name: 'refused' }, name)).json.code).toBe('conflict')
    expect((await post({ name: 'x'.repeat(51) }, name)).json.code).toBe('invalid_request')
    things.at.effect = () => {
      throw new Error('out of order')
    }
    expect((await post({ name: `${name}-broken` }, name)).json.code).toBe('internal_error')
    delete things.at.effect
    expect(await things.keys()).toBe(before)
    expect([await things.count('refused'), await things.count(`${name}-broken`)]).toEqual([0, 0])
    const corrected = await post({ name }, name)
    expect([corrected.status, isReplay(corrected), await things.count(name)]).toEqual([200, false, 1])
  })

  it('is replayed when it failed after its commit: a crash between effect and answer', async () => {
    const name = unique()
    things.at.committed = () => {
      throw new Error('killed')
    }
    expect((await post({ name }, name)).status).toBe(500)
    delete things.at.committed
    const repeat = await post({ name }, name)
    expect([repeat.status, isReplay(repeat), await things.count(name)]).toEqual([200, true, 1])
  })

  it('is replayed when its client left before the answer', async () => {
    const name = unique()
    const left = Promise.withResolvers<void>()
    let isCommitted = false
    things.at.committed = () => {
      isCommitted = true
      return left.promise
    }
    const body = JSON.stringify({ name })
    const socket = connect(things.app.port, '127.0.0.1')
    socket.write(
      `POST /v1/things HTTP/1.1\r\nHost: x\r\nX-API-Key: ${caller.key}\r\nIdempotency-Key: ${name}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await until(() => isCommitted)
    socket.destroy()
    await eventOf(socket, 'close')
    left.resolve()
    delete things.at.committed
    const repeat = await post({ name }, name)
    expect([repeat.status, isReplay(repeat), await things.count(name)]).toEqual([200, true, 1])
  })

  it('is replayed when its own first effect is the reason of the failure', async () => {
    const name = unique()
    const first = await post({ name }, name)
    things.at.start = async () => {
      const { Failure } = await import('#src/failure.ts')
      throw new Failure('conflict', 'There is one already.')
    }
    expect(await post({ name }, name)).toMatchObject({ status: 200, json: { id: first.json.id } })
    expect((await post({ name }, unique())).status).toBe(409)
  })
})

describe('concurrent requests with one key', () => {
  it.each([2, 8, 40])('take effect once of %i; the others are told to retry, or are replays', async (count) => {
    const name = unique()
    const answers = await Promise.all(Array.from({ length: count }, () => post({ name }, name)))
    const fresh = answers.filter((answer) => answer.status === 200 && !isReplay(answer))
    expect(fresh).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 200) expect(answer.json.id).toBe(fresh[0]?.json.id)
      else {
        expect(answer).toMatchObject({ status: 409, json: { code: 'idempotency_in_progress' } })
        expect(answer.headers['retry-after']).toBe('1')
      }
    }
    expect(await things.count(name)).toBe(1)
    expect(isReplay(await post({ name }, name))).toBe(true)
  })

  it('do not wait for the one in flight, nor hold its connection', async () => {
    const name = unique()
    const gate = Promise.withResolvers<void>()
    let isInside = false
    things.at.effect = () => {
      isInside = true
      return gate.promise
    }
    const first = post({ name }, name)
    await until(() => isInside)
    const others = await Promise.all(Array.from({ length: 20 }, () => post({ name }, name)))
    expect(new Set(others.map(({ json }) => json.code))).toEqual(new Set(['idempotency_in_progress']))
    // Another body, or another key, is a different request.
    delete things.at.effect
    expect((await post({ name: `${name}-2` }, `${name}-2`)).status).toBe(200)
    gate.resolve()
    expect((await first).status).toBe(200)
    expect(isReplay(await post({ name }, name))).toBe(true)
    expect(await things.count(name)).toBe(1)
  })

  it('roll back when the other one committed between read and lock', async () => {
    const name = unique()
    const template = unique()
    await post({ name: template }, template)
    // The snapshot of a statement that begins before that commit and takes the lock after it.
    things.at.effect = async () => {
      await things.test.owner(
        `INSERT INTO idempotency_keys (account_id, environment, key_digest, route, fingerprint, status, subject)
         SELECT account_id, environment, $2, route, fingerprint, status, subject FROM idempotency_keys WHERE key_digest = $1`,
        [digestOf(template), digestOf(name)],
      )
    }
    const late = await post({ name: template }, name)
    expect([late.status, isReplay(late), await things.count(template)]).toEqual([200, true, 1])
  })
})

describe('work without a second effect', () => {
  it('is done again, and is marked as a replay', async () => {
    const name = unique()
    const first = await post({ name }, name, '/v1/repeatables')
    const repeat = await post({ name }, name, '/v1/repeatables')
    expect(repeat.json).toEqual(first.json)
    expect([isReplay(first), isReplay(repeat), await things.count(name)]).toEqual([false, true, 1])
    const other = await post({ name: unique() }, name, '/v1/repeatables')
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
  })
})

describe('the Idempotency-Key header', () => {
  it.each([
    ['empty', ''],
    ['longer than 255', 'k'.repeat(256)],
    ['with a space', 'a b'],
    ['with a tab', 'a\tb'],
    ['beyond ASCII', 'cl\u00e9'],
  ])('%s is refused by its name, together with other errors', async (_, value) => {
    const before = await things.keys()
    const { status, json } = await post({ name: 7 }, value)
    expect(status).toBe(400)
    expect(json.errors?.map(({ pointer }) => pointer)).toEqual(['Idempotency-Key', '/name'])
    expect((await post({ name: unique() }, value)).json.errors).toMatchObject([{ pointer: 'Idempotency-Key' }])
    expect(await things.keys()).toBe(before)
  })

  it('sent twice is refused', async () => {
    const body = JSON.stringify({ name: unique() })
    const answer = await callRaw(
      things.app,
      `POST /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: ${caller.key}\r\nIdempotency-Key: a\r\n` +
        `Idempotency-Key: b\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*"pointer":"Idempotency-Key"/)
  })

  it.each(['!', '~', 'k'.repeat(255), '"8e03978e-40d5-43dd-bc93-6894a57f9324"'])('may be %s', async (value) => {
    expect((await post({ name: unique() }, value)).status).toBe(200)
  })

  it('has no effect on a route that changes nothing', async () => {
    const { json } = await post({ name: unique() })
    const headers = { 'Idempotency-Key': 'not a key' }
    expect((await call(things.app, `/v1/things/${json.id}`, { key: caller.key, headers })).status).toBe(200)
  })

  it('is checked after authentication and authorization', async () => {
    expect((await things.post('nobody', '/v1/things', {}, '')).status).toBe(401)
    const reader = things.addKey(caller, { scopes: ['verify'] })
    expect((await things.post(reader, '/v1/things', {}, '')).status).toBe(403)
  })
})
