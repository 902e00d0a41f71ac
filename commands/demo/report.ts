import type { Attestation } from '../../capture-kit/client.ts'
import type { PlannedCapture } from '../../capture-kit/fleet.ts'
import type { Receiver } from './receiver.ts'

export interface Finding {
  capture: PlannedCapture
  result: Attestation | undefined
  isSettled: boolean
  /** How the result differs from the plan, a sentence each. */
  differences: string[]
}

export interface Outcome {
  summary: {
    submitted: number
    settled: number
    lost: number
    wrong: number
    events_delivered: number
    claims_per_second: number
  }
  findings: Finding[]
  events: { expected: number; missing: number; surplus: number }
  receiver: Receiver
  endpoint: string
  settledSeconds: number
  isAsPlanned: boolean
}

const SHOWN_DIFFERENCES = 20

export function printReport(outcome: Outcome, say: (line: string) => void): void {
  const { summary, findings, events, receiver } = outcome
  say('\nWhat was submitted, and what was found')
  table(rowsByKind(findings), say)
  say('\nWebhooks')
  table(
    [
      ['event', 'received'],
      ...[...receiver.byType].sort().map(([type, count]) => [type, String(count)]),
      ['signatures verified', `${receiver.deliveries - receiver.invalid.length} of ${receiver.deliveries}`],
    ],
    say,
  )
  for (const reason of new Set(receiver.invalid)) say(`  a signature did not verify: ${reason}`)
  if (events.missing > 0) say(`  ${events.missing} of ${events.expected} expected events did not arrive`)
  if (events.surplus > 0) say(`  ${events.surplus} more events than expected arrived`)

  const wrong = findings.filter((finding) => finding.differences.length > 0 || !finding.isSettled)
  for (const { capture, differences, result } of wrong.slice(0, SHOWN_DIFFERENCES)) {
    say(`  NOT AS PLANNED ${capture.externalId} (${capture.kind}): ${differences.join('; ') || `not settled (${result?.status ?? 'no answer'})`}`)
  }
  if (wrong.length > SHOWN_DIFFERENCES) say(`  and ${wrong.length - SHOWN_DIFFERENCES} more`)
  say(
    `\n${summary.settled} of ${summary.submitted} claims settled in ${outcome.settledSeconds.toFixed(1)} s ` +
      `(${summary.claims_per_second} per second), ${summary.lost} lost, ${summary.wrong} wrong.`,
  )
  say(outcome.isAsPlanned ? 'Everything is as planned.' : 'NOT everything is as planned.')
}

function rowsByKind(findings: readonly Finding[]): string[][] {
  const kinds = new Map<string, Finding[]>()
  for (const finding of findings) kinds.set(finding.capture.kind, [...(kinds.get(finding.capture.kind) ?? []), finding])
  const rows = [...kinds].map(([kind, members]) => {
    const { result } = members[0] ?? {}
    const advisory = (result?.advisory_factors ?? []).map(({ code }) => `(${code})`)
    const factors = (result?.factors ?? []).map(({ code, points }) => `${code} +${points}`)
    return [
      kind,
      String(members.length),
      result?.risk_status ?? '-',
      String(result?.risk_score ?? '-'),
      result?.provenance_status ?? '-',
      [...factors, ...advisory].join(', '),
    ]
  })
  return [['capture', 'claims', 'risk', 'score', 'provenance', 'factors (advisory ones in brackets)'], ...rows]
}

function table(rows: readonly string[][], say: (line: string) => void): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of rows) say(`  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()}`)
}
