import { afterAll, describe, expect, it, vi } from 'vitest'
import { allRoutes } from '#src/app.ts'
import { NOT_CALLED } from '../../bench/neighbours/account-routes.ts'
import type { HonestData } from '../../bench/neighbours/data.ts'
import { INTENT_NOT_CALLED } from '../../bench/neighbours/intent-requests.ts'
import { compareP99, DELIVERIES, judgeScenario, merge } from '../../bench/neighbours/judge.ts'
import { honestRoutines } from '../../bench/neighbours/requests.ts'
import { SCENARIOS } from '../../bench/neighbours/scenarios.ts'
import { type Observed, planOf, type Seen } from '../../bench/neighbours/steady.ts'
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

describe('a phase of the honest tenant', () => {
  const routineOf = (perSecond: number, index: number) => ({ name: `${index}`, next: () => undefined, perSecond })

  it('calls each route at its rate, at least once, and none after its end', () => {
    const routines = [...Array<number>(20).fill(0.25), ...Array<number>(4).fill(0.04)].map(routineOf)
    const plan = planOf(routines, 12)
    const timesOf = (name: string) => plan.filter(({ routine }) => routine.name === name).length
    expect(routines.slice(0, 20).map(({ name }) => timesOf(name))).toEqual(Array(20).fill(3))
    expect(routines.slice(20).map(({ name }) => timesOf(name))).toEqual(Array(4).fill(1))
    expect(Math.max(...plan.map(({ atMs }) => atMs))).toBeLessThan(12_000)
    expect(plan).toEqual(plan.toSorted((left, right) => left.atMs - right.atMs))
  })
})

describe('the verdict on neighbours', () => {
  const ROUTE = 'GET /v1/claims'
  const seen = (latenciesMs: number[], failures: Record<string, number> = {}): Seen => ({ latenciesMs, failures })
  const observe = (requests: Seen, deliveries = seen([300]), other = seen([])): Observed =>
    new Map([
      [ROUTE, requests],
      ['GET /v1/cases', other],
      [DELIVERIES, deliveries],
    ])
  const judge = (calm: Observed, attacked: Observed) => judgeScenario('locks', { calm, attacked, rate: '2 requests/s' })

  it('compares the 99th of a hundred samples under attack with that without', () => {
    const compared = compareP99([...Array<number>(99).fill(10), 500], [...Array<number>(98).fill(10), 20, 900])
    expect(compared).toEqual({ calmMs: 10, attackedMs: 20, ratio: 2, samples: [100, 100] })
  })

  it('is about the samples of all routes together, and allows three times', () => {
    const many = (ms: number) => seen(Array<number>(300).fill(ms))
    // A line alone may be far beyond.
    const attacked = observe(many(30), seen([300]), seen([400, 500]))
    expect(judge(observe(many(10), seen([300]), seen([5, 5])), attacked)).toMatchObject({ isReached: true })
    expect(judge(observe(many(10)), observe(many(30.1)))).toMatchObject({ isReached: false })
  })

  it('is about deliveries by themselves', () => {
    expect(judge(observe(seen([10])), observe(seen([10]), seen([900])))).toMatchObject({ isReached: true })
    const slow = judge(observe(seen([10])), observe(seen([10]), seen([901])))
    expect(slow.isReached).toBe(false)
    expect(slow.line).toContain('of deliveries 3.00 x (300 ms to 901 ms; 1 calm, 1 attacked) (bar <= 3 x, missed)')
  })

  it('is missed by any answer that an honest caller should not get', () => {
    const failed = judge(observe(seen([10])), observe(seen([10], { '503 service_unavailable': 2 })))
    expect(failed).toMatchObject({ isReached: false })
    expect(failed.line).toContain('failed: GET /v1/claims: 2 x 503 service_unavailable')
  })

  it('is missed when the time with or without attack was never measured', () => {
    expect(judge(new Map(), observe(seen([10])))).toMatchObject({ isReached: false })
    expect(judge(observe(seen([10])), observe(seen([10]), seen([])))).toMatchObject({ isReached: false })
  })

  it('combines all phases of one kind', () => {
    const merged = merge([observe(seen([1], { '503': 1 })), observe(seen([2, 3], { '503': 1 }))])
    expect(merged.get(ROUTE)).toEqual({ latenciesMs: [1, 2, 3], failures: { '503': 2 } })
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
