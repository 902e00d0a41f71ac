import { afterAll, describe, expect, it, vi } from 'vitest'
import { allRoutes } from '#src/app.ts'
import { NOT_CALLED } from '../../bench/neighbours/account-routes.ts'
import type { HonestData } from '../../bench/neighbours/data.ts'
import { INTENT_NOT_CALLED } from '../../bench/neighbours/intent-requests.ts'
import { compareAll, judgeScenario, merge, ratioOfAll } from '../../bench/neighbours/judge.ts'
import { honestRoutines } from '../../bench/neighbours/requests.ts'
import { SCENARIOS } from '../../bench/neighbours/scenarios.ts'
import type { Observed } from '../../bench/neighbours/steady.ts'
import { ATTACKS } from '../support/attacks.ts'
import { makeServices, routesOf } from '../support/services.ts'

vi.spyOn(process.stdout, 'write').mockReturnValue(true)

describe('the honest tenant', () => {
  const services = makeServices()
  afterAll(() => services.close())

  it('calls every route of the table but the listed ones, and no other', () => {
    const routes = allRoutes({
      routes: routesOf(services),
      jwks: async () => ({ keys: [] }),
      baseUrl: 'http://localhost',
    })
    const table = routes.map(({ method, path }) => `${method} ${path}`)
    const called = honestRoutines(NOTHING).map(({ name }) => name.replace(/ \(.*\)$/, ''))
    expect([...new Set([...called, ...NOT_CALLED, ...INTENT_NOT_CALLED])].sort()).toEqual(table.sort())
  })
})

describe('the scenarios', () => {
  it('are the attacks, and one without an attack', () => {
    expect(Object.keys(SCENARIOS)).toEqual(['nothing', ...Object.keys(ATTACKS)])
  })
})

describe('the verdict on neighbours', () => {
  const seen = (latenciesMs: number[], failures: Record<string, number> = {}): Observed =>
    new Map([['GET /v1/claims', { latenciesMs, failures }]])
  const judge = (calm: Observed, attacked: Observed) => compareAll(calm, attacked)[0]

  it('compares the p99 of a route with and without the attack', () => {
    expect(judge(seen([10, 20]), seen([39, 40]))).toMatchObject({ ratio: 2, isReached: true })
    expect(judge(seen([10, 20]), seen([39, 41]))).toMatchObject({ isReached: false })
  })

  it('holds where one of six requests is beyond, and not where two are', () => {
    expect(judge(seen([10, 20]), seen([10, 10, 10, 10, 10, 41]))).toMatchObject({ beyond: 1, isReached: true })
    expect(judge(seen([10, 20]), seen([10, 10, 10, 10, 41, 41]))).toMatchObject({ beyond: 2, isReached: false })
  })

  it('is missed where a second run shows the same, and not where it does not', () => {
    const loud = seen([10, 10, 10, 10, 41, 41])
    const judgeTwice = (again: Observed) => compareAll(seen([10, 20]), loud, again)[0]
    expect(judgeTwice(seen([10, 41, 10, 41, 10, 10]))).toMatchObject({ isReached: false })
    expect(judgeTwice(seen([10, 41, 10, 10, 10, 10]))).toMatchObject({
      isReached: true,
      beyond: 2,
      again: { beyond: 1, samples: 6 },
    })
    expect(judgeTwice(seen([10, 10], { '503': 1 }))).toMatchObject({ isReached: false, failures: '1 x 503' })
  })

  it('is about one request in a hundred where there are many', () => {
    const loud = (beyond: number) => seen([...Array<number>(300 - beyond).fill(10), ...Array<number>(beyond).fill(90)])
    expect(judge(seen([10, 20]), loud(6))).toMatchObject({ isReached: true })
    expect(judge(seen([10, 20]), loud(8))).toMatchObject({ isReached: false })
  })

  it('ignores a few milliseconds', () => {
    expect(judge(seen([2]), seen([12]))).toMatchObject({ ratio: 6, isReached: true })
    expect(judge(seen([2]), seen([12.1]))).toMatchObject({ isReached: false })
  })

  it('is missed by any answer that an honest caller should not get', () => {
    const failed = judge(seen([10]), seen([10], { '503 service_unavailable': 2 }))
    expect(failed).toMatchObject({ isReached: false, failures: '2 x 503 service_unavailable' })
  })

  it('is missed when the time without attack was never measured', () => {
    expect(judge(new Map(), seen([10]))).toMatchObject({ isReached: false })
  })

  it('names the worst first, missed ones before the others', () => {
    const calm: Observed = new Map()
    const attacked: Observed = new Map()
    const figures = { small: [1, 5], far: [100, 900], near: [100, 150] }
    for (const [name, [quiet = 0, loud = 0]] of Object.entries(figures)) {
      calm.set(name, { latenciesMs: [quiet], failures: {} })
      attacked.set(name, { latenciesMs: [loud], failures: {} })
    }
    const compared = compareAll(calm, attacked)
    expect(compared.map(({ name }) => name)).toEqual(['far', 'small', 'near'])
    const { line, isReached } = judgeScenario('locks', compared, { rate: '2 requests/s', ofAll: 3 })
    expect(isReached).toBe(false)
    expect(line).toContain('all requests together 3.00 (bar <= 2 x, missed), 2 of 3 reached, 1 with a request beyond')
  })

  it('relates each request to the p99 of its own route, a short one to ten milliseconds', () => {
    const calm: Observed = new Map([
      ['short', { latenciesMs: [1], failures: {} }],
      ['long', { latenciesMs: [100], failures: {} }],
    ])
    const attacked: Observed = new Map([
      ['short', { latenciesMs: [15], failures: {} }],
      ['long', { latenciesMs: [120], failures: {} }],
    ])
    expect(ratioOfAll(calm, attacked)).toBe(1.5)
  })

  it('combines all phases of one kind', () => {
    const merged = merge([seen([1], { '503': 1 }), seen([2, 3], { '503': 1 })])
    expect(merged.get('GET /v1/claims')).toEqual({ latenciesMs: [1, 2, 3], failures: { '503': 2 } })
  })
})

// Requests are created when they are due: their names need no data.
const NOTHING = {
  captures: { deviceId: '' } as HonestData['captures'],
  bodies: [],
  claimIds: [],
  attestationIds: [],
  mediaIds: [],
  batchId: '',
  openable: [],
  erasable: [],
  failed: [],
  caseIds: [],
  chains: [],
  revocable: [],
  evidence: [],
  authorities: [],
  endpointId: '',
  screeningId: '',
  screeningBatchId: '',
  rootId: '',
  anchorId: '',
  reevaluationId: '',
  assetName: '',
  photo: () => Buffer.alloc(0),
} satisfies HonestData
