import type { Evidence } from '#src/attest/media/declared.ts'
import { isGenerated, kindOfSource, nameOfType } from '#src/attest/media/source-type.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { quote } from '#src/platform/sanitize.ts'
import type { C2paFacts, C2paManifest } from '../media/c2pa-facts.ts'
import type { Facts } from './facts.ts'
import { type AdvisoryFactor, advisory } from './table.ts'

const COMPARED = 'C2PA manifest of the media'

// Who signed, and when, does not tell whether the signed content is intact. Nor does an ingredient without a manifest.
const ABOUT_TRUST = /^(signingCredential\.|timeStamp\.|cawg\.|ingredient\.(unknownProvenance|manifest\.missing)$)/

/** `c2pa_absent`: also without a bundle, as all codes here, because they are about the media alone. */
export function judgeC2paAbsent({ c2pa }: Facts): AdvisoryFactor<'c2pa_absent'> | null {
  if (c2pa?.state !== 'absent') return null
  return advisory('c2pa_absent', {
    compared: COMPARED,
    expected: 'present',
    found: whereabouts(c2pa.manifestReference),
    reference: quote(c2pa.manifestReference ?? ''),
  })
}

/** `c2pa_invalid`: the manifest is unreadable, does not verify, or contains an ingredient's manifest that does not. */
export function judgeC2paInvalid({ c2pa }: Facts): AdvisoryFactor<'c2pa_invalid'> | null {
  if (c2pa?.state === 'malformed') {
    return advisory('c2pa_invalid', {
      compared: COMPARED,
      expected: 'well-formed and signed',
      found: 'malformed',
      detail: 'there is a manifest, and it can not be read',
      codes: [quote(c2pa.code)],
    })
  }
  if (c2pa?.state !== 'read' || isSound(c2pa)) return null
  const found = whatFails(c2pa.manifest)
  return advisory('c2pa_invalid', { ...evidenceOf(c2pa.manifest), found, detail: DETAILS[found] })
}

/** `c2pa_present_valid`: everything verifies. The signer may be unknown: see `trusted`. */
export function judgeC2paValid({ c2pa }: Facts): AdvisoryFactor<'c2pa_present_valid'> | null {
  if (c2pa?.state !== 'read' || !isSound(c2pa)) return null
  return advisory('c2pa_present_valid', evidenceOf(c2pa.manifest))
}

// XMP may remain after the manifest that it points to: programs that know only XMP remove everything else.
function whereabouts(reference: string | null): string {
  if (reference === null) return 'absent'
  return /^https?:/i.test(reference) ? 'elsewhere, not fetched' : 'no longer there'
}

function isSound({ manifest }: Extract<C2paFacts, { state: 'read' }>): boolean {
  return manifest.validationState !== 'Invalid' && brokenIn(manifest.ingredientFailures).length === 0
}

const DETAILS = {
  'changed after signing': 'the file is not the one that its manifest was signed for',
  'bad signature': 'the signature of the file’s own manifest does not verify',
  'not well-formed': 'the file’s own manifest is signed and breaks the rules of C2PA',
  'credential not acceptable': 'the file’s own manifest fits, and the certificate that signed it is not acceptable',
  'broken ingredient':
    'the file’s own manifest fits; it was made from something whose manifest does not verify; the signer may have known that',
  invalid: 'the validator calls it invalid and names no failure of the file’s own manifest or of an ingredient',
}

// Faults of the file's own manifest come first: in a changed file, its ingredients prove nothing.
function whatFails({ validationState, failures, ingredientFailures }: C2paManifest): keyof typeof DETAILS {
  const broken = brokenIn(failures)
  if (broken.some((code) => /hash|Hash/.test(code))) return 'changed after signing'
  if (broken.some((code) => code.startsWith('claimSignature.'))) return 'bad signature'
  if (broken.length > 0) return 'not well-formed'
  // An unknown signer alone invalidates nothing.
  const isRefused = failures.some((code) => /^signingCredential\.(?!untrusted$)/.test(code))
  if (validationState === 'Invalid' && isRefused) return 'credential not acceptable'
  if (brokenIn(ingredientFailures).length > 0) return 'broken ingredient'
  return failures.length > 0 && failures.every((code) => code.startsWith('signingCredential.'))
    ? 'credential not acceptable'
    : 'invalid'
}

const brokenIn = (codes: readonly string[]): string[] => codes.filter((code) => !ABOUT_TRUST.test(code))

function evidenceOf(manifest: C2paManifest): Evidence {
  const { signer, sources, trustList, authorityList } = manifest
  return {
    compared: COMPARED,
    expected: 'well-formed and signed',
    found: 'valid',
    validation_state: manifest.validationState,
    trusted: manifest.validationState === 'Trusted',
    not_judged: notJudged(manifest),
    codes: manifest.failures.map(quote),
    ingredient_codes: manifest.ingredientFailures.map(quote),
    signer: signer && {
      issuer: quote(signer.issuer ?? ''),
      common_name: quote(signer.commonName ?? ''),
      algorithm: quote(signer.algorithm ?? ''),
      serial: quote(signer.serial ?? ''),
      signed_at: quote(signer.signedAt ?? ''),
    },
    claim_generator: quote(manifest.claimGenerator ?? ''),
    manifests: manifest.manifestCount,
    ingredients: manifest.ingredientCount,
    ingredients_without_manifest: manifest.bareIngredientCount,
    all_actions_declared: manifest.hasWholeHistory,
    ai_declared: sources.some(({ type, action }) => isGenerated(kindOfSource(type, action))),
    digital_source_types: sources.map(sourceOf),
    digital_source_type_count: manifest.sourceCount,
    trust_list: { certificates: trustList.certificates, sha256: trustList.sha256 },
    ...(authorityList && {
      time_stamp_trust_list: { certificates: authorityList.certificates, sha256: authorityList.sha256 },
    }),
  }
}

// Not known to be right, and not known to be wrong.
function notJudged({ failures, ingredientFailures, timeStamp }: C2paManifest): string[] {
  return [
    ...(failures.includes(UNTRUSTED) ? ['issuer'] : []),
    ...(timeStamp === 'unknown_authority' ? ['time_stamp_authority'] : []),
    ...(ingredientFailures.includes(UNTRUSTED) ? ['ingredient_issuer'] : []),
  ]
}

const UNTRUSTED = 'signingCredential.untrusted'

function sourceOf({ manifest, action, type }: C2paManifest['sources'][number]): Json {
  return { manifest, action: quote(action ?? ''), type: quote(nameOfType(type)), kind: kindOfSource(type, action) }
}
