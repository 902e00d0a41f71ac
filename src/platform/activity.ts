// Which accounts had requests lately. Bulk work of an account takes less of the processors while others have some.

/** How long after a request its account counts as active. */
const ACTIVE_MS = 1_000
const REPORT_EVERY_MS = 500

export interface Activity {
  /** A request of this account has come. */
  note(account: string): void
  /** Whether any other account had a request lately. */
  isOtherActive(account: string): boolean
  /** Calls `report` with the newest one or two active accounts, at a request, and at most twice a second. */
  follow(report: (accounts: readonly string[]) => void): void
}

/**
 * Keeps two times, not one for each account: the newest request, and the newest one of any other account.
 * @param now In milliseconds.
 */
export function createActivity(now = () => performance.now(), activeMs = ACTIVE_MS): Activity {
  const never = { account: '', at: Number.NEGATIVE_INFINITY }
  let [latest, other] = [never, never]
  let reportedAt = Number.NEGATIVE_INFINITY
  let report: ((accounts: readonly string[]) => void) | undefined
  const isActive = ({ at }: typeof latest) => at > now() - activeMs
  return {
    note(account) {
      if (account !== latest.account) other = latest
      latest = { account, at: now() }
      if (report === undefined || latest.at - reportedAt < REPORT_EVERY_MS) return
      reportedAt = latest.at
      report([latest, other].filter(isActive).map((one) => one.account))
    },
    isOtherActive: (account) => isActive(account === latest.account ? other : latest),
    follow(next) {
      report = next
    },
  }
}

/** Of this process: authentication notes each request, and bulk work anywhere in the process reads it. */
export const requestActivity = createActivity()
