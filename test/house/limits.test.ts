import { describe, expect, it } from 'vitest'
import { createLimitOf } from '#src/account/limits/limit-of.ts'
import { PLANS } from '#src/catalogue/access.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
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
