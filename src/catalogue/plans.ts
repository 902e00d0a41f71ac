// What each plan allows: the one place of these numbers. `PLANS` in access.ts has the names.

import type { Plan } from './access.ts'

/** A token bucket: `burst` requests at once, refilled by `perSecond`. */
export interface Rate {
  perSecond: number
  burst: number
}

interface PlanRow {
  /** Rate of all requests to the live environment together. */
  rate: Rate
  /** Successful metered operations in the live environment, in a month (UTC). The sandbox is not metered. */
  monthly: {
    operations: number
    /** true: more operations are refused with `monthly_cap_exceeded`; false: there is a notice only. */
    isHard: boolean
  }
  /** Retention of live deliveries, audit entries and the ledger. */
  retentionDays: number
}

export const PLAN_LIMITS = {
  developer: {
    rate: { perSecond: 10, burst: 20 },
    monthly: { operations: 1_000, isHard: true },
    retentionDays: 30,
  },
  growth: {
    rate: { perSecond: 100, burst: 200 },
    monthly: { operations: 100_000, isHard: true },
    retentionDays: 365,
  },
  enterprise: {
    rate: { perSecond: 500, burst: 1_000 },
    // The contract names the number; without one, this.
    monthly: { operations: 5_000_000, isHard: false },
    // Seven years with their leap days.
    retentionDays: 2_557,
  },
} as const satisfies Record<Plan, PlanRow>

/**
 * Rate of each signed-in user, in both environments and on every plan, beside the account's rate. The burst lets a page
 * of the dashboard ask for all of its pictures at once, since a browser does not ask again.
 */
export const SESSION_RATE = { perSecond: 20, burst: 100 } as const satisfies Rate

/** Rate of each token of a directory, within the rate of its account. */
export const DIRECTORY_RATE = { perSecond: 50, burst: 100 } as const satisfies Rate

/**
 * Rate of each key and each user for the routes that stop something; other requests don't count against it. The burst
 * is enough to revoke a fleet of phones in minutes.
 */
export const EMERGENCY_RATE = { perSecond: 10, burst: 50 } as const satisfies Rate

/**
 * Rate of all keys of an account together for the same routes, beside the rate of each: otherwise more keys could send
 * more requests. Signed-in users don't count against it: many stolen keys can't keep them from revoking these.
 */
export const EMERGENCY_ACCOUNT_RATE = { perSecond: 50, burst: 250 } as const satisfies Rate

/**
 * Rate of each account in an environment for pings and for deliveries that a person sends again. They go before all
 * others.
 */
export const DIRECT_DELIVERIES_RATE = { perSecond: 2, burst: 60 } as const satisfies Rate

/** Rate of each address for unknown keys and sessions. */
export const FAILED_AUTHENTICATIONS_PER_SECOND = 20

/** The sandbox of an account on any plan. Not metered. */
export const SANDBOX_LIMITS = {
  /** Rate of each key. */
  rate: { perSecond: 10, burst: 20 },
  /** Rate of all keys of an account together, beside the rate of each: otherwise more keys could send more requests. */
  accountRate: { perSecond: 100, burst: 200 },
  /** Rate of each address that calls with a publishable key: many callers share these keys. */
  publishableRate: { perSecond: 5, burst: 20 },
  /** The same in development mode, where one developer runs the service for themselves. */
  developmentPublishableRate: { perSecond: 100, burst: 200 },
  retentionDays: 7,
} as const satisfies { retentionDays: number } & Record<string, Rate | number>
