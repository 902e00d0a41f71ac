import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Failure } from '#src/failure.ts'
import { type Binding, createPager, listOf, listQuery } from '#src/platform/http/page.ts'
import { newAccountId, newId } from '#src/platform/ids.ts'

const pager = createPager({ key: randomBytes(32) })
const scope = { accountId: newAccountId('acc'), environment: 'sandbox' } as const
const binding: Binding = {
  route: 'GET /v1/claims',
  scope,
  query: { risk_status: 'failed', limit: 2, cursor: 'x', device_id: undefined },
}
const rows = [5, 4, 3, 2, 1].map((n) => ({ id: newId('clm', 'sandbox', n), n }))

function codeOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    const { code, errors } = error as Failure
    return `${code} ${errors?.[0]?.pointer}`
  }
}

describe('pages', () => {
  it('walk a list to its end', () => {
    const seen: number[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 9; pages += 1) {
      const below = pager.decode(cursor, binding)
      const found = rows.filter((row) => below === undefined || row.id < below).slice(0, 3)
      const page = pager.page(found, 2, (row) => row.id, binding)
      seen.push(...page.data.map((row) => row.n))
      expect(page.has_more).toBe(page.next_cursor !== null)
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    expect(seen).toEqual([5, 4, 3, 2, 1])
  })

  it('have a correct has_more at the edges', () => {
    const id = (row: { id: string }) => row.id
    expect(pager.page([], 2, id, binding)).toEqual({ object: 'list', data: [], has_more: false, next_cursor: null })
    expect(pager.page(rows.slice(0, 2), 2, id, binding).has_more).toBe(false)
    expect(pager.page(rows.slice(0, 3), 2, id, binding).has_more).toBe(true)
    expect(listOf(z.object({ n: z.number() })).parse(pager.page(rows, 2, id, binding)).data).toEqual([
      { n: 5 },
      { n: 4 },
    ])
  })
})

describe('cursors', () => {
  const cursor = pager.page(rows, 2, (row) => row.id, binding).next_cursor ?? ''

  it('keep working with another limit and another order of the filters', () => {
    const query = { limit: 100, include: 'total_count', risk_status: 'failed' }
    expect(pager.decode(cursor, { ...binding, query })).toBe(rows[1]?.id)
  })

  it.each<[string, Binding]>([
    ['another route', { ...binding, route: 'GET /v1/media' }],
    ['another account', { ...binding, scope: { ...scope, accountId: newAccountId('acc') } }],
    ['the other environment', { ...binding, scope: { ...scope, environment: 'live' } }],
    ['another filter', { ...binding, query: { risk_status: 'passed' } }],
    ['one filter more', { ...binding, query: { ...binding.query, device_id: 'dev' } }],
    ['no filter', { route: binding.route, scope }],
  ])('are refused for anything else: %s', (_name, other) => {
    expect(codeOf(() => pager.decode(cursor, other))).toBe('invalid_request ?cursor')
  })

  it('are refused with any bit flipped, truncated, extended or in another notation', () => {
    const bytes = Buffer.from(cursor, 'base64url')
    const forged: string[] = [
      '',
      'x',
      '=',
      `${cursor}=`,
      `${cursor} `,
      ` ${cursor}`,
      `${cursor}A`,
      cursor.slice(1),
      'null',
      '💥',
      '../..',
    ]
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(i) ^ (1 << (i % 8)), i)
      forged.push(changed.toString('base64url'), bytes.subarray(0, i).toString('base64url'))
    }
    for (const one of forged)
      expect([one, codeOf(() => pager.decode(one, binding))]).toEqual([one, 'invalid_request ?cursor'])
  })

  it('are refused under another key', () => {
    const other = createPager({ key: randomBytes(32) })
    expect(codeOf(() => other.decode(cursor, binding))).toBe('invalid_request ?cursor')
  })

  it('outlast a rotation of the key, in processes before and after it, until the old key goes', () => {
    const [k1, k2] = [randomBytes(32), randomBytes(32)]
    const before = createPager({ key: k1, previous: [k2] })
    const after = createPager({ key: k2, previous: [k1] })
    for (const [from, to] of [
      [before, after],
      [after, before],
    ] as const) {
      const given = from.page(rows, 2, ({ id }) => id, binding).next_cursor ?? ''
      expect(to.decode(given, binding)).toBe(rows[1]?.id)
      expect(codeOf(() => to.decode(given, { ...binding, query: {} }))).toBe('invalid_request ?cursor')
    }
    const old = before.page(rows, 2, ({ id }) => id, binding).next_cursor ?? ''
    expect(codeOf(() => createPager({ key: k2 }).decode(old, binding))).toBe('invalid_request ?cursor')
  })
})

describe('the parameters of a list', () => {
  const query = z.object(listQuery).strict()
  it('have a default and bounds', () => {
    expect(query.parse({})).toEqual({ limit: 20 })
    expect(query.parse({ limit: '100', created_gte: '2026-11-20T00:00:00+01:00' })).toMatchObject({ limit: 100 })
    for (const limit of ['0', '101', '-1', '1.5', '1e1', '', ' 5', 'ten', '0x5', '١']) {
      expect([limit, query.safeParse({ limit }).success]).toEqual([limit, false])
    }
    for (const created_lt of ['yesterday', '2026-11-20', '2026-02-30T00:00:00Z', '2026-11-20T00:00:00']) {
      expect(query.safeParse({ created_lt }).success).toBe(false)
    }
  })
})
