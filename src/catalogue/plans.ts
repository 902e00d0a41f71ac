// What each plan includes. The numbers stand here and nowhere else.

import type { Plan } from './access.ts'

interface PlanRow {
  ratePerSecond: number
  burst: number
  /** Metered operations of the live environment in a month (UTC). */
  monthlyOperations: number
  /** Beyond the monthly operations requests are refused; otherwise the account is only told. */
  isHardCap: boolean
  retentionDays: number
}

export const PLAN_TABLE = {
  developer: { ratePerSecond: 10, burst: 20, monthlyOperations: 1_000, isHardCap: true, retentionDays: 30 },
  growth: { ratePerSecond: 100, burst: 200, monthlyOperations: 100_000, isHardCap: true, retentionDays: 365 },
  enterprise: {
    ratePerSecond: 500,
    burst: 1_000,
    monthlyOperations: 5_000_000,
    isHardCap: false,
    retentionDays: 7 * 365,
  },
} as const satisfies Record<Plan, PlanRow>
