import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createLimitOf } from '#src/account/limits/limit-of.ts'
import { PLANS } from '#src/catalogue/access.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
import { DEFAULT_BODY_VALUES } from '#src/platform/http/body.ts'
import { makeKeyRow } from '../support/http.ts'
import { makeServices, routesOf } from '../support/services.ts'

// What somebody calls in an emergency, by the verb of its operation.
const STOPS = /^(?:revoke|stop|suspend|kill|disable|deactivate|endAll)[A-Z]/

describe('the rate limits', () => {
  it('have a bucket of their own for every route that revokes or stops something', () => {
    const stopping = routesOf({ features: makeServices().features }).filter(
      ({ operationId, public: reason }) => reason === undefined && STOPS.test(operationId),
    )
    expect(stopping.length).toBeGreaterThan(0)
    expect(stopping.filter(({ isEmergency }) => isEmergency !== true).map(({ operationId }) => operationId)).toEqual([])
  })

  it('are those of the plan table, times the factor', () => {
    for (const plan of PLANS) {
      const { keyId, scopes, ...row } = makeKeyRow({ environment: 'live', plan })
      const caller = { ...row, principal: { kind: 'key', keyId, scopes } } as const
      const { perSecond, burst } = PLAN_LIMITS[plan].rate
      const limitOf = createLimitOf({ isDevelopment: false, factor: 2 })
      expect(limitOf(caller, {})).toMatchObject({
        name: 'account',
        subject: row.accountId,
        rate: { perSecond: perSecond * 2, burst: burst * 2 },
      })
    }
  })
})

interface Schema {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  maxItems?: number
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
}

/** The most values that a schema lets through; infinitely many where only the length of the JSON is limited. */
function mostValues(schema: Schema, named: Record<string, Schema>, within: readonly string[] = []): number {
  const { $ref: ref, anyOf, oneOf = anyOf, type } = schema
  if (ref !== undefined) {
    const name = ref.slice('#/$defs/'.length)
    const target = named[name]
    if (target === undefined || within.includes(name)) return Number.POSITIVE_INFINITY
    return mostValues(target, named, [...within, name])
  }
  if (oneOf !== undefined) return Math.max(...oneOf.map((one) => mostValues(one, named, within)))
  if (type === 'array') {
    const { items = {}, maxItems = Number.POSITIVE_INFINITY } = schema
    return Math.max(1, maxItems * mostValues(items, named, within))
  }
  if (type === 'object') {
    if (schema.additionalProperties !== false) return Number.POSITIVE_INFINITY
    const members = Object.values(schema.properties ?? {})
    return Math.max(
      1,
      members.reduce((sum, member) => sum + mostValues(member, named, within), 0),
    )
  }
  return type === undefined && !('const' in schema || 'enum' in schema) ? Number.POSITIVE_INFINITY : 1
}

it('a body may have as many values as its schema lets through', () => {
  const counted = routesOf({ features: makeServices().features }).flatMap((route) => {
    if (route.body === undefined) return []
    const { $defs = {}, ...schema } = z.toJSONSchema(route.body, { io: 'input', unrepresentable: 'any' })
    const most = mostValues(schema as Schema, $defs as Record<string, Schema>)
    return Number.isFinite(most) ? [{ route: `${route.method} ${route.path}`, most, of: route.maxBodyValues }] : []
  })
  expect(counted.find(({ route }) => route === 'POST /v1/trace/eval-sets')?.most).toBeGreaterThan(60_000)
  expect(counted.filter(({ most, of = DEFAULT_BODY_VALUES }) => most > of)).toEqual([])
})
