// Reduces a C2PA manifest store to facts. The reader's JSON comes from untrusted bytes, so what is kept is counted,
// sanitized and sorted: the reader returns manifests in no order, and the same bytes must give the same facts.

import { quote } from '#src/platform/sanitize.ts'

export type C2paFacts =
  /** The file has no manifest. `manifestReference`: the place of one according to XMP. It is never fetched. */
  | { state: 'absent'; manifestReference: string | null }
  | { state: 'read'; manifest: C2paManifest }
  /** There is a manifest, but it can't be parsed. `code`: the reader's own. */
  | { state: 'malformed'; code: string }
  /** There is or may be a manifest that was not read. */
  | { state: 'unread'; why: 'too_large' | 'too_many_parts' | 'timeout' | 'crashed' | 'unreadable'; detail: string }
  /** The format of the media is not known to carry manifests. */
  | { state: 'not_applicable' }

export interface C2paManifest {
  /** `Valid`: everything verifies, but the signer is not trusted. */
  validationState: 'Trusted' | 'Valid' | 'Invalid'
  /** Failures of the file's active manifest as C2PA codes: sorted, without repeats. */
  failures: readonly string[]
  /** The same for its ingredients. */
  ingredientFailures: readonly string[]
  signer: {
    issuer: string | null
    commonName: string | null
    algorithm: string | null
    /** Decimal. */
    serial: string | null
    /** Time that the time stamp states, trusted or not. */
    signedAt: string | null
  } | null
  claimGenerator: string | null
  manifestCount: number
  ingredientCount: number
  /** Ingredients without a manifest: how they were made is unknown. */
  bareIngredientCount: number
  /** Every manifest declares its list of actions complete, and C2PA defines each action. */
  hasWholeHistory: boolean
  /** Digital source types of all manifests. `action` is null where metadata name the type. */
  sources: readonly C2paSource[]
  sourceCount: number
  /** The trust list used: the number of certificates, and SHA-256 over their sorted fingerprints. */
  trustList: { certificates: number; sha256: string }
  /** Left out in facts of older rules. */
  timeStamp?: TimeStamp | null
  /** Same as `trustList`, for time-stamp authorities. Absent in facts of older rules. */
  authorityList?: { certificates: number; sha256: string }
}

/**
 * The time stamp of the active manifest's signature; null when it has none. `unknown_authority`: it fits the signature, and
 * its authority is in no list. C2PA 1 has no list of authorities: theirs are unknown. `invalid`: it proves nothing.
 */
export type TimeStamp = 'trusted' | 'unknown_authority' | 'invalid'

export interface C2paSource {
  manifest: 'active' | 'ingredient'
  action: string | null
  type: string
}

const MAX_CODES = 32
const MAX_SOURCES = 32
// Per store; the reader's own limits are lower.
const MAX_LOOKED_AT = 10_000

/** @param store the JSON of c2pa-rs's manifest store; a member of an unexpected type counts as absent. */
export function readStore(store: unknown, trustList: C2paManifest['trustList']): C2paManifest | undefined {
  const validationState = textIn(store, 'validation_state')
  if (validationState !== 'Trusted' && validationState !== 'Valid' && validationState !== 'Invalid') return undefined
  const activeLabel = textIn(store, 'active_manifest')
  const manifests = Object.entries(recordIn(store, 'manifests')).sort(([a], [b]) => (a < b ? -1 : 1))
  const active = manifests.find(([label]) => label === activeLabel)?.[1]
  const ingredients = manifests.flatMap(([, manifest]) => listIn(manifest, 'ingredients'))
  const sources = manifests
    .flatMap(([label, manifest]) => sourcesOf(manifest, label === activeLabel ? 'active' : 'ingredient'))
    .sort(bySource)
  const results = recordIn(store, 'validation_results')
  const signature = recordIn(active, 'signature_info')
  return {
    validationState,
    failures: codesOf(listIn(results.activeManifest, 'failure')),
    ingredientFailures: codesOf([
      ...listIn(results, 'ingredientDeltas').flatMap((delta) => listIn(recordIn(delta, 'validationDeltas'), 'failure')),
      ...ingredients.flatMap(failuresOfIngredient),
    ]),
    signer:
      Object.keys(signature).length === 0
        ? null
        : {
            issuer: quotedIn(signature, 'issuer'),
            commonName: quotedIn(signature, 'common_name'),
            algorithm: quotedIn(signature, 'alg'),
            serial: quotedIn(signature, 'cert_serial_number'),
            signedAt: quotedIn(signature, 'time'),
          },
    claimGenerator: generatorOf(active),
    manifestCount: manifests.length,
    ingredientCount: ingredients.length,
    hasWholeHistory: manifests.length > 0 && manifests.every(([, manifest]) => isWhole(manifest)),
    bareIngredientCount: ingredients.filter((one) => textIn(one, 'active_manifest') === undefined).length,
    sources: sources.slice(0, MAX_SOURCES),
    sourceCount: sources.length,
    trustList,
  }
}

/** What the store of a reading that verified time stamps against a list says of the active manifest's. */
export function stampOf(store: unknown): TimeStamp | null {
  const active = recordIn(recordIn(store, 'validation_results'), 'activeManifest')
  const codes = new Set(codesOf([...listIn(active, 'success'), ...listIn(active, 'informational')]))
  if (![...codes].some((code) => code.startsWith('timeStamp.'))) return null
  if (!codes.has('timeStamp.validated')) return 'invalid'
  const version = memberOf(
    memberOf(memberOf(store, 'manifests'), textIn(store, 'active_manifest') ?? ''),
    'claim_version',
  )
  return codes.has('timeStamp.trusted') && version !== 1 ? 'trusted' : 'unknown_authority'
}

/** Whether the certificate had ended, unless the time that an unknown authority stamped is right. */
export function isOpenByStamp(store: unknown): boolean {
  const { activeManifest } = recordIn(store, 'validation_results')
  return codesOf(listIn(activeManifest, 'failure')).includes(EXPIRED) && stampOf(store) === 'unknown_authority'
}

const EXPIRED = 'signingCredential.expired'

function failuresOfIngredient(ingredient: unknown): unknown[] {
  const results = recordIn(ingredient, 'validation_results')
  return [...listIn(ingredient, 'validation_status'), ...listIn(results.activeManifest, 'failure')]
}

function codesOf(statuses: readonly unknown[]): string[] {
  const codes = statuses.slice(0, MAX_LOOKED_AT).flatMap((status) => quotedIn(status, 'code') ?? [])
  return [...new Set(codes)].sort().slice(0, MAX_CODES)
}

const ACTIONS = /^c2pa\.actions(\.v\d+)?(__\d+)?$/
const METADATA = /^(stds\.iptc|c2pa\.metadata|cawg\.metadata)/
const METADATA_FIELD = 'Iptc4xmpExt:DigitalSourceType'

function sourcesOf(manifest: unknown, place: C2paSource['manifest']): C2paSource[] {
  return listIn(manifest, 'assertions').flatMap((assertion): C2paSource[] => {
    const label = textIn(assertion, 'label') ?? ''
    const data = recordIn(assertion, 'data')
    if (ACTIONS.test(label)) {
      return listIn(data, 'actions').flatMap((action) => {
        const type = quotedIn(action, 'digitalSourceType')
        return type === null ? [] : [{ manifest: place, action: quotedIn(action, 'action') ?? 'unnamed', type }]
      })
    }
    const type = METADATA.test(label) ? quotedIn(data, METADATA_FIELD) : null
    return type === null ? [] : [{ manifest: place, action: null, type }]
  })
}

// The rubrics demand it: unless the writer declares that nothing else happened, something may have.
function isWhole(manifest: unknown): boolean {
  const histories = listIn(manifest, 'assertions').filter((one) => ACTIONS.test(textIn(one, 'label') ?? ''))
  return histories.length > 0 && histories.every((one) => isWholeHistory(recordIn(one, 'data')))
}

function isWholeHistory(data: Record<string, unknown>): boolean {
  const names = listIn(data, 'actions').map((action) => textIn(action, 'action') ?? '')
  return data.allActionsIncluded === true && names.every((name) => name.startsWith('c2pa.') && name !== 'c2pa.unknown')
}

function bySource(a: C2paSource, b: C2paSource): number {
  const [left, right] = [a, b].map(({ manifest, action, type }) => `${manifest} ${action ?? ''} ${type}`)
  return (left ?? '') < (right ?? '') ? -1 : 1
}

function generatorOf(manifest: unknown): string | null {
  const [info] = listIn(manifest, 'claim_generator_info')
  const named = [textIn(info, 'name'), textIn(info, 'version')].filter((part) => part !== undefined).join(' ')
  return quote(named) ?? quotedIn(manifest, 'claim_generator')
}

function recordIn(value: unknown, key: string): Record<string, unknown> {
  const found = memberOf(value, key)
  return found !== null && typeof found === 'object' && !Array.isArray(found) ? { ...found } : {}
}

function listIn(value: unknown, key: string): unknown[] {
  const found = memberOf(value, key)
  return Array.isArray(found) ? found.slice(0, MAX_LOOKED_AT) : []
}

function textIn(value: unknown, key: string): string | undefined {
  const found = memberOf(value, key)
  return typeof found === 'string' ? found : undefined
}

function quotedIn(value: unknown, key: string): string | null {
  const text = textIn(value, key)
  return text === undefined ? null : quote(text)
}

function memberOf(value: unknown, key: string): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
  return Reflect.get(value, key)
}
