// A risk policy as text, as sentences, and as differences between two.

import type { RiskPolicyDocument } from '@countersign/client'
import { CountersignError } from '@countersign/client'
import { formatMetres, formatNumber } from '../../parts/measures.ts'

export function textOf(document: RiskPolicyDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The object of a text; undefined where it is none. Only the API says whether it is a policy. */
export function parse(text: string): RiskPolicyDocument | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as RiskPolicyDocument)
      : undefined
  } catch {
    return undefined
  }
}

export function sentencesOf(document: RiskPolicyDocument): string[] {
  const { thresholds, geofence_m: metres } = document
  const needs = [
    [document.require_attestation, 'a signed bundle'],
    [document.require_biometric, 'a biometric check'],
    [document.require_gps, 'a GPS fix'],
    [document.require_session_nonce, 'a session nonce'],
  ].flatMap(([isNeeded, what]) => (isNeeded === true ? [what as string] : []))
  return [
    ...(typeof thresholds?.review === 'number' && typeof thresholds.failed === 'number'
      ? [
          `A claim with a score of ${formatNumber(thresholds.review)} or more needs a review.`,
          `With ${formatNumber(thresholds.failed)} or more it has failed.`,
        ]
      : []),
    ...(typeof metres === 'number'
      ? [`A capture may be ${formatMetres(metres)} away from the loss, less its own accuracy.`]
      : []),
    needs.length === 0
      ? 'A capture may lack a signed bundle, a biometric check, a GPS fix and a session nonce.'
      : `A capture without ${new Intl.ListFormat(undefined, { type: 'disjunction' }).format(needs)} is noted.`,
  ]
}

export interface Difference {
  name: string
  mine: string
  theirs: string
}

/** The members that differ, by their path. */
export function differencesOf(mine: unknown, theirs: unknown): Difference[] {
  const [left, right] = [flatten(mine), flatten(theirs)]
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) => {
    const [one = '–', other = '–'] = [left.get(name), right.get(name)]
    return one === other ? [] : [{ name, mine: one, theirs: other }]
  })
}

function flatten(value: unknown, prefix = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) return into.set(prefix, JSON.stringify(value) ?? '')
  for (const [name, member] of Object.entries(value)) flatten(member, prefix === '' ? name : `${prefix}.${name}`, into)
  return into
}

/** What the API finds about the document, with pointers into the document itself. */
export function findingsOf(error: unknown): { pointer: string; text: string }[] {
  if (!(error instanceof CountersignError)) return []
  return error.errors
    .filter(({ pointer }) => pointer.startsWith('/document'))
    .map(({ pointer, detail }) => ({ pointer: pointer.slice('/document'.length), text: detail }))
}
