// Values in readable form. Pure.

import type { PacketAttestation } from './views.ts'

/** `20 November 2026, 15:11:04 UTC`. */
export function dateOf(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const day = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
  return `${day}, ${at.toISOString().slice(11, 19)} UTC`
}

export function metresOf(metres: number): string {
  return metres >= 10_000 ? `${Math.round(metres / 1_000)} km` : `${Math.round(metres)} m`
}

/** The position of a capture that has a bundle. */
export function describePosition({
  submission,
  result,
  erased_at,
}: Pick<PacketAttestation, 'submission' | 'result' | 'erased_at'>): string {
  const gps = recordOf(recordOf(submission.bundle)?.gps)
  if (gps === undefined && erased_at === null) return 'none'
  if (gps === undefined) {
    // An erasure removes the member whatever it held; the finding stays, and says whether there was a position.
    if (result === null) return 'erased, if there was one'
    const absent = result.factors.find(({ code }) => code === 'gps_absent')
    return absent?.evidence.found === null ? 'none' : 'erased'
  }
  const simulated = gps.mock === true ? ', which the device itself calls simulated' : ''
  return `${gps.lat}, ${gps.lng} (accuracy ${wordsOf(gps.accuracy_m)} m)${simulated}`
}

export function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

// Enough for the findings of one photo; the attachment has the rest.
const MAX_DEPTH = 3
const MAX_ITEMS = 20

/** A value of JSON in one line: `found: revoked; device id: dev_…`. */
export function wordsOf(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object') return String(value)
  if (depth >= MAX_DEPTH) return '…'
  const isList = Array.isArray(value)
  const parts = inOrder(Object.entries(value))
    .slice(0, MAX_ITEMS)
    .map(([name, member]) =>
      isList ? wordsOf(member, depth + 1) : `${name.replaceAll('_', ' ')}: ${wordsOf(member, depth + 1)}`,
    )
  if (Object.keys(value).length > MAX_ITEMS) parts.push('…')
  if (parts.length === 0) return 'none'
  const text = parts.join(isList ? ', ' : '; ')
  return depth > 0 && !isList ? `(${text})` : text
}

// What was compared with what comes first in evidence.
const FIRST = ['compared', 'expected', 'found']

function inOrder(entries: [string, unknown][]): [string, unknown][] {
  const rank = ([name]: [string, unknown]) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)
  return entries.toSorted((a, b) => rank(a) - rank(b))
}

const MOMENTS: Record<string, string> = {
  'claim.created': 'The claim came in',
  'capture.claimed': 'Taken, as the device says',
  'attestation.accepted': 'Photo received',
  'attestation.evaluated': 'Photo examined',
  'attestation.replaced': 'An earlier result, replaced later',
  'claim.provenance_updated': 'The result of the claim changed',
  'claim.escalated': 'The claim became failed',
  'claim.erased': 'Photos and positions were erased',
  'case.opened': 'A case was opened',
  'case.escalated': 'The case was brought up again',
  'case.proposed': 'A decision was proposed',
  'case.transitioned': 'The case moved on',
  'case.noted': 'A note was written',
  'case.changed': 'The case was changed',
}

export function momentOf(kind: string): string {
  return (Object.hasOwn(MOMENTS, kind) ? MOMENTS[kind] : undefined) ?? kind.replaceAll(/[._]/g, ' ')
}

/** The detail of an event, without absent members. */
export function detailOf(detail: Record<string, unknown>): string {
  const there = Object.entries(detail).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  )
  return there.length === 0 ? '' : wordsOf(Object.fromEntries(there))
}

/** The changes of a history entry. */
export function changesOf(changes: readonly { field: string; from: string | null; to: string | null }[]): string {
  return changes
    .map(({ field, from, to }) => `${field.replaceAll('_', ' ')}: from ${from ?? 'nothing'} to ${to ?? 'nothing'}`)
    .join('; ')
}

/** The header of a JWS in words. */
export function tableOf(header: string): string {
  try {
    return wordsOf(JSON.parse(Buffer.from(header, 'base64url').toString()))
  } catch {
    return header
  }
}
