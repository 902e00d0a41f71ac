// The findings by part. Pure.

import type { CheckFinding, CheckOutcome } from '#client/verify/packet-findings.ts'
import type { CheckReport } from './check.ts'

export interface PartReport {
  name: string
  outcome: CheckOutcome
  summary: string
  findings: CheckFinding[]
  /** The findings that are not ok. */
  remarks: CheckFinding[]
}

// The worst first.
const RANK: readonly CheckOutcome[] = ['failed', 'unproven', 'ok', 'skipped']

export function partsOf(findings: readonly CheckFinding[]): PartReport[] {
  const byPart = Map.groupBy(findings, ({ part }) => part)
  return [...byPart].map(([name, list]) => {
    const outcome = RANK.find((rank) => list.some((one) => one.outcome === rank)) ?? 'ok'
    const clean = list.map((one) => ({ ...one, detail: printable(one.detail) }))
    const remarks = clean.filter((one) => one.outcome === 'failed' || one.outcome === 'unproven')
    return { name: printable(name), outcome, summary: summaryOfPart(list), findings: clean, remarks }
  })
}

export function summaryOf({ packet, findings }: CheckReport): string[] {
  const failed = findings.filter(({ outcome }) => outcome === 'failed').length
  const isUnproven = findings.some(({ outcome }) => outcome === 'unproven')
  const verdict =
    failed > 0
      ? `${failed} ${failed === 1 ? 'check does' : 'checks do'} not hold.`
      : isUnproven
        ? 'It is consistent, but its keys are not vouched for: give --keys or --url.'
        : 'Everything that could be checked holds.'
  if (packet === undefined) return [verdict, '']
  const { about, claim } = packet
  return [
    verdict,
    '',
    `Packet   ${printable(about.packet_id)} of ${about.issued_at}`,
    `Claim    ${printable(about.claim_id)}${claim.reference === null ? '' : ` (${printable(claim.reference)})`}`,
    `Holds    ${about.attestations.included} of ${about.attestations.total} attestations`,
    '',
  ]
}

function summaryOfPart(list: readonly CheckFinding[]): string {
  const counts: [CheckOutcome, string][] = [
    ['ok', 'hold'],
    ['failed', 'do not hold'],
    ['unproven', 'unproven'],
    ['skipped', 'skipped'],
  ]
  return counts
    .map(([outcome, words]) => ({ words, count: list.filter((one) => one.outcome === outcome).length }))
    .filter(({ count }) => count > 0)
    .map(({ words, count }) => `${count} ${words}`)
    .join(', ')
}

// Control characters that affect a terminal or reorder text are shown escaped.
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
}
