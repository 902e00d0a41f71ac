// What a check of an export found, bounded: a file of a million wrong lines has a report of a page.

/** unproven: nothing contradicts it, and nothing proves it. */
export type LedgerOutcome = 'ok' | 'failed' | 'unproven'

/** Of what a finding is. */
export type LedgerCheckName =
  | 'line'
  | 'head'
  | 'order'
  | 'complete'
  | 'entry'
  | 'leaf'
  | 'removed'
  | 'checkpoint'
  | 'signature'
  | 'kept'

export interface LedgerFinding {
  check: LedgerCheckName
  outcome: LedgerOutcome
  /** For people: file and line, position and id. */
  place: string
  detail: string
}

const MAX_OF_ONE_CHECK = 20

export function createFindings() {
  const findings: LedgerFinding[] = []
  const counts = new Map<LedgerCheckName, number>()

  function add(finding: LedgerFinding): void {
    const count = (counts.get(finding.check) ?? 0) + 1
    counts.set(finding.check, count)
    if (count <= MAX_OF_ONE_CHECK) findings.push(finding)
  }

  return {
    pass: (check: LedgerCheckName, place: string, detail: string) => add({ check, outcome: 'ok', place, detail }),
    fail: (check: LedgerCheckName, place: string, detail: string) => add({ check, outcome: 'failed', place, detail }),
    doubt: (check: LedgerCheckName, place: string, detail: string) =>
      add({ check, outcome: 'unproven', place, detail }),

    /** In the order in which they were found, and how many more there are of each check. */
    list(): LedgerFinding[] {
      const more = [...counts].flatMap(([check, count]): LedgerFinding[] =>
        count <= MAX_OF_ONE_CHECK
          ? []
          : [{ check, outcome: 'failed', place: 'further', detail: `${count - MAX_OF_ONE_CHECK} more of these` }],
      )
      return [...findings, ...more]
    },
  }
}
