// Turns what media declare about their making into observations: who says what, and where it stands. Never a score: the
// maker of a picture writes these words, and anyone who passes it on can remove them.

import type { Json } from '#src/platform/crypto/canonical.ts'
import { quote } from '#src/platform/sanitize.ts'
import type { C2paFacts } from './c2pa-facts.ts'
import { kindOfSource, nameOfType, type SourceKind } from './source-type.ts'

/**
 * What was compared, what an honest capture would show and what was found, with whatever else an adjuster needs to
 * check it. Times are ISO 8601, units stand in the names. Never a coordinate: evidence is signed and remains after the
 * erasure of its claim.
 */
export interface Evidence {
  compared: string
  expected: Json
  found: Json
  [detail: string]: Json
}

/** What an image declares outside of C2PA. Found in the inspector's thread, which sanitizes all texts. */
export interface DeclaredFacts {
  /** Digital source types (IPTC) in XMP. */
  sourceTypes: readonly { where: 'xmp'; field: string; value: string }[]
  /** Traces that a known generator writes. */
  generators: readonly GeneratorTrace[]
  /**
   * The place of a C2PA manifest according to XMP: elsewhere, or in a part of the file that may be gone. It is never
   * fetched.
   */
  manifestReference: string | null
}

export interface GeneratorTrace {
  where: 'xmp' | 'png_text' | 'exif'
  /** Keyword, property or tag. */
  field: string
  /** The name in a field about software. Null for prompts: results are kept longer than the media that hold those. */
  value: string | null
  generator: string
}

export type DeclaredCode =
  | 'declared_ai_generated'
  | 'declared_ai_partly_generated'
  | 'declared_not_captured'
  | 'declared_capture'
  | 'c2pa_not_read'

/** Same shape as an evaluation's observations. */
export interface DeclaredObservation {
  code: DeclaredCode
  evidence: Evidence
}

// More would add no information.
const MAX_SHOWN = 16

const CODES: Record<SourceKind, DeclaredCode | null> = {
  generated: 'declared_ai_generated',
  partly_generated: 'declared_ai_partly_generated',
  captured: 'declared_capture',
  stitched: 'declared_capture',
  digitised: 'declared_not_captured',
  screen: 'declared_not_captured',
  created: 'declared_not_captured',
  blank: 'declared_not_captured',
  possibly_generated: null,
  other: null,
}
const ORDER = [
  'declared_ai_generated',
  'declared_ai_partly_generated',
  'declared_not_captured',
  'declared_capture',
] as const satisfies readonly DeclaredCode[]

interface Said {
  code: DeclaredCode
  where: string
  field: string
  value: string | null
  generator?: string
}

/**
 * Observations about declared provenance, in a fixed order, each code at most once: `declared_ai_generated`,
 * `declared_ai_partly_generated`, `declared_not_captured` (film, screen, drawing), `declared_capture`, and
 * `c2pa_not_read` where there is or may be a manifest that was not read. The same facts give the same observations.
 * Facts that are left out were not searched for.
 */
export function declaredProvenance({
  declared,
  c2pa,
}: {
  declared?: DeclaredFacts | undefined
  c2pa?: C2paFacts | undefined
}): DeclaredObservation[] {
  const said = [...saidByC2pa(c2pa), ...saidByMetadata(declared)]
  const observations = ORDER.flatMap((code): DeclaredObservation[] => {
    const ofCode = said.filter((one) => one.code === code)
    return ofCode.length === 0 ? [] : [{ code, evidence: evidenceOf(code, ofCode) }]
  })
  return c2pa?.state === 'unread' ? [...observations, notRead(c2pa)] : observations
}

function saidByC2pa(c2pa: C2paFacts | undefined): Said[] {
  if (c2pa?.state !== 'read') return []
  return c2pa.manifest.sources.flatMap(({ manifest, action, type }): Said[] => {
    const code = CODES[kindOfSource(type, action)]
    // An edit by a person or a camera says nothing about how the picture was made.
    const isOnlyEdit = action !== null && action !== 'c2pa.created' && code !== 'declared_ai_partly_generated'
    if (code === null || isOnlyEdit) return []
    return [{ code, where: `c2pa_${manifest}_manifest`, field: action ?? 'metadata', value: nameOfType(type) }]
  })
}

function saidByMetadata(declared: DeclaredFacts | undefined): Said[] {
  const types = (declared?.sourceTypes ?? []).flatMap(({ where, field, value }): Said[] => {
    const code = CODES[kindOfSource(value, null)]
    return code === null ? [] : [{ code, where, field, value: nameOfType(value) }]
  })
  const traces = (declared?.generators ?? []).map((trace): Said => ({ code: 'declared_ai_generated', ...trace }))
  return [...types, ...traces]
}

const COMPARED: Record<(typeof ORDER)[number], string> = {
  declared_ai_generated: 'declared as made by a trained model',
  declared_ai_partly_generated: 'declared as made in part by a trained model',
  declared_not_captured: 'declared as made by other means than a camera',
  declared_capture: 'declared as captured by a camera',
}

function evidenceOf(code: (typeof ORDER)[number], said: readonly Said[]): Evidence {
  const declarations = said.slice(0, MAX_SHOWN).map(({ where, field, value, generator }) => ({
    where,
    field: quote(field),
    value: value === null ? null : quote(value),
    ...(generator === undefined ? {} : { generator: quote(generator) }),
  }))
  return {
    compared: COMPARED[code],
    expected: 'as the media say, unproven unless the C2PA finding says otherwise',
    found: [...new Set(said.map(({ where }) => where))],
    declarations,
    declaration_count: said.length,
  }
}

function notRead({ why, detail }: Extract<C2paFacts, { state: 'unread' }>): DeclaredObservation {
  return {
    code: 'c2pa_not_read',
    evidence: { compared: 'C2PA manifest of the media', expected: 'readable', found: why, detail: quote(detail) },
  }
}
