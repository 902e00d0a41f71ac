import type { Attestation } from '../../capture-kit/client.ts'
import { TAMPERINGS, VIDEO_KINDS } from '../../capture-kit/findings.ts'
import type { PlannedCapture } from '../../capture-kit/fleet.ts'
import type { PlannedVideo } from '../../capture-kit/footage.ts'
import type { Receiver } from './receiver.ts'

export type Planned = PlannedCapture | PlannedVideo

export interface Finding {
  capture: Planned
  result: Attestation | undefined
  isSettled: boolean
  /** How the result differs from the plan, a sentence each. */
  differences: string[]
  /** Webhooks about this claim that are missing or too many, a sentence each. */
  eventFaults: string[]
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
  events: { expected: number }
  /** Refused lines of a batch, a sentence each. */
  refused: string[]
  receiver: Receiver
  settledSeconds: number
  isAsPlanned: boolean
}

const SHOWN_FAULTS = 20

export function printReport(outcome: Outcome, say: (line: string) => void): void {
  const { summary, findings, events, receiver } = outcome
  say('\nWhat was submitted, and what was found')
  table(rowsByKind(findings), say)
  say('\nWebhooks that the receiver got')
  table(
    [
      ['event', 'received'],
      ...[...receiver.byType].sort().map(([type, count]) => [type, String(count)]),
      ['together', `${receiver.eventIds.size} of ${events.expected}`],
      ['signatures verified', `${receiver.deliveries - receiver.invalid.length} of ${receiver.deliveries}`],
    ],
    say,
  )
  const faults = faultsOf(outcome)
  if (faults.length > 0) say('\nNOT AS PLANNED')
  for (const fault of faults.slice(0, SHOWN_FAULTS)) say(`  ${fault}`)
  if (faults.length > SHOWN_FAULTS) say(`  and ${faults.length - SHOWN_FAULTS} more`)
  say(
    `\n${summary.settled} of ${summary.submitted} claims settled in ${outcome.settledSeconds.toFixed(1)} s ` +
      `(${summary.claims_per_second} per second), ${summary.lost} lost, ${summary.wrong} wrong.`,
  )
  say(outcome.isAsPlanned ? 'Everything is as planned.' : 'NOT everything is as planned.')
}

function faultsOf({ findings, refused, receiver, events }: Outcome): string[] {
  const perClaim = findings.flatMap(({ capture, result, isSettled, differences, eventFaults }) => {
    const what = isSettled
      ? [...differences, ...eventFaults]
      : [`not settled (${result?.failure?.detail ?? result?.status ?? 'no result'})`]
    return what.length === 0 ? [] : [`${capture.externalId} (${capture.kind}): ${what.join('; ')}`]
  })
  const signatures = [...new Set(receiver.invalid)].map((reason) => `a webhook's signature did not verify: ${reason}`)
  const total =
    receiver.eventIds.size === events.expected
      ? []
      : [`webhooks: planned ${events.expected} events, received ${receiver.eventIds.size}`]
  return [...refused.map((line) => `refused ${line}`), ...perClaim, ...signatures, ...total]
}

function rowsByKind(findings: readonly Finding[]): string[][] {
  const isBare = ({ capture }: Finding) => capture.expected.factors.includes('hardware_backing_absent')
  const kinds = ['honest', ...TAMPERINGS, ...VIDEO_KINDS]
    .flatMap((kind) => {
      const members = findings.filter((finding) => finding.capture.kind === kind)
      if (kind !== 'honest') return [{ kind, members }]
      return [
        { kind, members: members.filter((finding) => !isBare(finding)) },
        { kind: 'honest, no hardware evidence', members: members.filter(isBare) },
      ]
    })
    .filter(({ members }) => members.length > 0)
  // The row of a kind shows what most of its captures got; the others are listed as faults.
  const rows = kinds.flatMap(({ kind, members }) => {
    const { result } =
      members.find(({ differences, isSettled }) => isSettled && differences.length === 0) ?? members[0] ?? {}
    const factors = (result?.factors ?? []).map(({ code, points }) => `${code} +${points}`)
    const advisory = (result?.advisory_factors ?? []).map(({ code }) => `(${code})`)
    return [
      [
        kind,
        String(members.length),
        result?.risk_status ?? '-',
        String(result?.risk_score ?? '-'),
        result?.provenance_status ?? '-',
        [...factors, ...advisory].join(', '),
      ],
    ]
  })
  return [['capture', 'claims', 'risk', 'score', 'provenance', 'factors (advisory ones in brackets)'], ...rows]
}

function table(rows: readonly string[][], say: (line: string) => void): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const isNumber = widths.map((_, column) => rows.slice(1).every((row) => /^(?:\d+|-)?$/.test(row[column] ?? '')))
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    )
    say(`  ${cells.join('  ').trimEnd()}`)
  }
}
