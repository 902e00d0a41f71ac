import type { Usage } from '@countersign/client'

export interface UsageOfDay {
  /** In UTC, such as `2026-11-20`. */
  day: string
  /** Units of each operation. */
  units: Readonly<Record<string, number>>
  total: number
  /** Since the beginning of the month. */
  sum: number
}

/** Each day of the month on which something was counted, oldest first, with the sum until then. */
export function daysOf({ operations }: Pick<Usage, 'operations'>): UsageOfDay[] {
  const byDay = new Map<string, Record<string, number>>()
  for (const { operation, days } of operations) {
    for (const { day, units } of days) byDay.set(day, { ...byDay.get(day), [operation]: units })
  }
  let sum = 0
  return [...byDay]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, units]) => {
      const total = Object.values(units).reduce((all, count) => all + count, 0)
      sum += total
      return { day, units, total, sum }
    })
}
