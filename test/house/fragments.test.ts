// A reader of a feature should not have to open many small files: what is one thing is one file.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const SMALL_LINES = 40
// Their names are fixed, and say what is in them. A closed list of the catalogue is as long as it is.
const FIXED_NAMES = ['config.ts', 'feature.ts', 'metrics.ts', 'notes.ts', 'routes.ts', 'rows.ts']
const FIXED_FOLDERS = ['src/catalogue']

// Small files that have a reason. Remove each that is merged or gone; before you add one, look for the file that it
// belongs to.
const SMALL: Record<string, readonly string[]> = {
  'a part of the account that several features use, or the seam to an outside service': [
    'src/account/audit/retention.ts',
    'src/account/keys/lookup.ts',
    'src/account/login/allowlist.ts',
    'src/account/mail/letter.ts',
    'src/authorize/approvals/letter.ts',
    'src/authorize/approvals/sealed.ts',
    'src/account/usage/payments.ts',
    'src/account/webhooks/secret.ts',
  ],
  'pure, and also run by commands, by vectors or by the hostile tests': [
    'src/authorize/tokens/parse.ts',
    'src/account/webhooks/envelope.ts',
    'src/account/webhooks/latency.ts',
    'src/attest/batches/lines.ts',
    'src/attest/reevaluate/refresh.ts',
    'src/attest/video/padding.ts',
    'src/platform/amounts.ts',
    'src/platform/sanitize.ts',
    'src/platform/sequence-interval.ts',
  ],
  'its only reader, or the file that it belongs to, is near the limit of length': ['src/platform/db/causes.ts'],
  'the steps of a comparison': [
    'src/attest/duplicates/findings.ts',
    'src/attest/duplicates/hasher.ts',
    'src/attest/duplicates/unreferenced.ts',
  ],
  'one file for each thing that a factor judges': [
    'src/attest/factors/biometric.ts',
    'src/attest/factors/chain.ts',
    'src/attest/factors/device.ts',
    'src/attest/factors/gps.ts',
    'src/attest/factors/hash.ts',
    'src/attest/factors/manifest.ts',
    'src/attest/factors/screening.ts',
    'src/attest/factors/signature.ts',
    'src/attest/factors/staleness.ts',
    'src/attest/factors/stored-facts.ts',
  ],
  'shared by files or features that must not import each other': [
    'src/attest/devices/enroll-rows.ts',
    'src/attest/media/inline.ts',
    'src/attest/screen/detectors/multipart.ts',
    'src/authorize/policy/json-object.ts',
    'src/authorize/tokens/sealed.ts',
    'src/platform/http/money.ts',
    'src/platform/http/rejection.ts',
    'src/platform/jobs/eager-dispatch.ts',
    'src/platform/kept-by-plan.ts',
    'src/platform/store/names.ts',
    'src/trace/gguf/model-error.ts',
  ],
  'the choice between implementations, or one of them': [
    'src/attest/screen/detectors/http.ts',
    'src/attest/screen/detectors/open.ts',
    'src/platform/store/open.ts',
  ],
  'the configuration reads it without loading the stores': ['src/platform/store/address.ts'],
  'where one part calls another, beside both': ['src/attest/screen/evaluation.ts'],
  'one mechanism that the whole service uses': [
    'src/platform/crypto/random.ts',
    'src/docs/highlight.ts',
    'src/docs/html.ts',
    'src/docs/prepared.ts',
    'src/platform/context.ts',
    'src/platform/crypto/digest.ts',
    'src/platform/crypto/key-views.ts',
    'src/platform/crypto/sealed-columns.ts',
    'src/platform/crypto/signing-key-pair.ts',
    'src/platform/http/versions.ts',
    'src/platform/jobs/failpoint.ts',
    'src/platform/limits/live-processes.ts',
    'src/platform/limits/tokens.ts',
    'src/platform/mail-address.ts',
    'src/platform/tasks.ts',
  ],
}
const known = Object.values(SMALL).flat()

describe('small files', () => {
  it('have a reason: what belongs to a neighbour stands in it', () => {
    const small = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join('src', file))
      .filter((file) => !hasFixedName(file) && linesOf(file) < SMALL_LINES)
    expect(small.filter((file) => !known.includes(file))).toEqual([])
  })

  it('that are merged, gone or no longer small leave the list', () => {
    expect(known.filter((file) => !existsSync(join(ROOT, file)) || linesOf(file) >= SMALL_LINES)).toEqual([])
    expect(known.filter((file, index) => known.indexOf(file) !== index)).toEqual([])
  })
})

function hasFixedName(file: string): boolean {
  const [folder, name] = [dirname(file), basename(file)]
  return FIXED_NAMES.includes(name) || FIXED_FOLDERS.includes(folder) || name === `${basename(folder)}.ts`
}

function linesOf(file: string): number {
  return readFileSync(join(ROOT, file), 'utf8').trimEnd().split('\n').length
}
