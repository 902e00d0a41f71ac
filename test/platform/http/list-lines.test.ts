import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { type Caller, endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { prefersLines } from '#src/platform/http/list-lines.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { call, makeKeyRow, startApp, type TestApp } from '../../support/http.ts'
import { until } from '../../support/until.ts'

const LINES = { Accept: 'application/x-ndjson' }
const item = z.object({ number: z.number() }).meta({ id: 'CountedThing' })

interface Query {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
}

/** A list of numbers from 0. `onPage` runs before each page is read. */
function numbersRoute(length: number, onPage: (query: Query, caller: Caller) => unknown = () => {}): Route {
  return endpoint(
    {
      method: 'GET',
      path: '/v1/numbers',
      operationId: 'listNumbers',
      sdk: { none: 'a route of a test' },
      effect: 'read',
      kind: 'list',
      summary: 'Numbers',
      scope: 'verify',
      query: z.object(listQuery),
      view: listOf(item),
      status: [200],
    },
    async ({ query, caller }) => {
      await onPage(query, caller)
      const from = Number(query.cursor ?? 0)
      const data = Array.from({ length: Math.min(query.limit, length - from) }, (_, at) => ({
        number: from + at,
        secret: 'x',
      }))
      const next = from + data.length
      return {
        object: 'list' as const,
        data,
        has_more: next < length,
        next_cursor: next < length ? String(next) : null,
      }
    },
  )
}

describe('a list as lines', () => {
  let app: TestApp
  afterEach(() => app.close())
  const start = async (route: Route) => {
    app = await startApp([route], { findKey: async () => makeKeyRow() })
  }
  const numbersOf = (text: string) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).number)

  it('has every item once, in the order of the pages, and no undeclared member', async () => {
    const asked: Query[] = []
    await start(numbersRoute(1_050, (query) => void asked.push(query)))
    const { status, headers, text } = await call(app, '/v1/numbers?include=total_count', { key: 'k', headers: LINES })
    expect([status, headers['content-type'], headers.vary]).toEqual([
      200,
      'application/x-ndjson',
      expect.stringContaining('Accept'),
    ])
    expect(numbersOf(text)).toEqual(Array.from({ length: 1_050 }, (_, number) => number))
    expect(text).not.toContain('secret')
    expect(asked.map(({ limit, cursor, include }) => [limit, cursor, include])).toEqual(
      Array.from({ length: 11 }, (_, page) => [100, page === 0 ? undefined : String(page * 100), undefined]),
    )
  })

  it('is empty where nothing matches, and begins at a cursor', async () => {
    await start(numbersRoute(0))
    expect((await call(app, '/v1/numbers', { key: 'k', headers: LINES })).text).toBe('')
    await app.close()
    await start(numbersRoute(250))
    const { text } = await call(app, '/v1/numbers?cursor=240', { key: 'k', headers: LINES })
    expect(numbersOf(text)).toEqual([240, 241, 242, 243, 244, 245, 246, 247, 248, 249])
  })

  it('takes no limit, and stays a page for others', async () => {
    await start(numbersRoute(3))
    const { status, json } = await call(app, '/v1/numbers?limit=2', { key: 'k', headers: LINES })
    expect([status, json.code, json.errors?.[0]?.pointer]).toEqual([400, 'invalid_request', '?limit'])
    const page = await call(app, '/v1/numbers?limit=2', { key: 'k' })
    expect(page.json).toMatchObject({ object: 'list', has_more: true, next_cursor: '2' })
    expect(page.headers.vary).toContain('Accept')
  })

  it('is a problem when the first page fails, and a broken connection when a later one does', async () => {
    await start(
      numbersRoute(300, ({ cursor }) => {
        if (cursor === '200') throw new Failure('service_unavailable', 'Not now.')
      }),
    )
    await expect(call(app, '/v1/numbers', { key: 'k', headers: LINES })).rejects.toThrow(/aborted|hang up|reset/i)
    await app.close()
    await start(
      numbersRoute(300, () => {
        throw new Failure('conflict', 'Not this list.')
      }),
    )
    const { status, json } = await call(app, '/v1/numbers', { key: 'k', headers: LINES })
    expect([status, json.code]).toEqual([409, 'conflict'])
  })

  it('reads no further page after its client has left', async () => {
    let pages = 0
    await start(
      numbersRoute(1_000_000, () => {
        pages += 1
      }),
    )
    const req = request({
      port: app.port,
      host: '127.0.0.1',
      path: '/v1/numbers',
      headers: { ...LINES, Authorization: 'Bearer k' },
    })
    req.on('error', () => {})
    req.on('response', (res) => {
      res.on('error', () => {})
      res.once('data', () => req.destroy())
    })
    req.end()
    await until(() => app.logged.some(({ msg }) => msg === 'answered'), { what: 'the end of the request' })
    expect(pages).toBeLessThan(10_000)
  })
})

describe('the header Accept', () => {
  it.each([
    ['application/x-ndjson', true],
    ['application/x-ndjson, application/json;q=0.5', true],
    ['application/json, application/x-ndjson;q=0.5', false],
    ['application/x-ndjson;q=0', false],
    ['application/json', false],
    ['*/*', false],
    ['application/*', false],
    [undefined, false],
  ])('%j asks for lines: %s', (accept, expected) => {
    expect(prefersLines(accept)).toBe(expected)
  })
})
