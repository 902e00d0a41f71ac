// The verifiers whose checks are removed one by one, and the vectors that must notice it.

import type { Choice } from './mutate.ts'

export interface Target extends Choice {
  /** From the root of the repository. */
  file: string
  /** The module of tools/vectors/answers that runs the vectors with this file. */
  answers: string
  vectors: readonly string[]
}

const CANONICAL = ['canonical/accepted', 'canonical/refused', 'canonical/values']
const PACKETS = ['packets/photos', 'packets/videos', 'packets/documents']
const LEDGER = ['ledger/checkpoints', 'ledger/entries', 'ledger/exports']
const TREES = [
  'ledger/trees',
  'ledger/inclusion',
  'ledger/inclusion-refused',
  'ledger/consistency',
  'ledger/consistency-refused',
]
const CLIENT = 'clients/typescript/src/verify'

export const TARGETS: readonly Target[] = [
  { file: `${CLIENT}/verify-intent-token.ts`, answers: 'typescript', vectors: ['tokens/offline'] },
  { file: `${CLIENT}/claims.ts`, answers: 'typescript', vectors: ['tokens/offline'] },
  { file: `${CLIENT}/parse-token.ts`, answers: 'typescript', vectors: ['tokens/offline'] },
  { file: `${CLIENT}/canonicalize.ts`, answers: 'typescript', vectors: CANONICAL },
  { file: `${CLIENT}/key-source.ts`, answers: 'typescript', vectors: ['tokens/key-source'] },
  {
    file: 'src/authorize/passkeys/ceremony.ts',
    answers: 'service-passkeys',
    vectors: ['passkeys/assertions', 'passkeys/w3c'],
    functions: [
      'verifyPasskeyAssertion',
      'isDerSignature',
      'isShortest',
      'verifying',
      'checkClientData',
      'parseObject',
      'checkFacts',
    ],
  },
  {
    file: 'src/authorize/passkeys/authenticator-data.ts',
    answers: 'service-passkeys',
    vectors: ['passkeys/assertions', 'passkeys/w3c'],
    functions: ['readAuthenticatorFacts', 'areExtensions', 'readMap'],
  },
  { file: `${CLIENT}/checkpoint.ts`, answers: 'service-ledger', vectors: LEDGER },
  { file: `${CLIENT}/packet-findings.ts`, answers: 'service-packets', vectors: PACKETS },
  {
    file: 'commands/evidence/check-video.ts',
    answers: 'service-packets',
    vectors: ['packets/videos', 'packets/photos'],
  },
  { file: `${CLIENT}/strict-json.ts`, answers: 'typescript', vectors: CANONICAL },
  { file: `${CLIENT}/json-tokens.ts`, answers: 'service-canonical', vectors: CANONICAL },
  { file: `${CLIENT}/json-scan.ts`, answers: 'service-canonical', vectors: CANONICAL },
  { file: `${CLIENT}/webhook.ts`, answers: 'typescript', vectors: ['webhooks/signatures'] },
  { file: `${CLIENT}/merkle.ts`, answers: 'service-ledger', vectors: TREES },
  { file: `${CLIENT}/records.ts`, answers: 'service-ledger', vectors: LEDGER },
  { file: `${CLIENT}/ledger-lines.ts`, answers: 'service-ledger', vectors: ['ledger/exports'] },
  { file: `${CLIENT}/ledger.ts`, answers: 'service-ledger', vectors: ['ledger/exports'], notTables: ['WORDS'] },
  { file: `${CLIENT}/removed.ts`, answers: 'service-ledger', vectors: ['ledger/exports'] },
  { file: `${CLIENT}/packet.ts`, answers: 'service-packets', vectors: PACKETS },
  { file: `${CLIENT}/packet-attestation.ts`, answers: 'service-packets', vectors: PACKETS },
  { file: `${CLIENT}/packet-file.ts`, answers: 'service-packets', vectors: PACKETS },
  { file: 'commands/evidence/check.ts', answers: 'service-packets', vectors: PACKETS },
  { file: 'commands/evidence/check-certificates.ts', answers: 'service-packets', vectors: PACKETS },
]

/** The quick targets, which the suite runs. */
const SAMPLED = [
  'claims.ts',
  'parse-token.ts',
  'canonicalize.ts',
  'key-source.ts',
  'ceremony.ts',
  'authenticator-data.ts',
  'checkpoint.ts',
]
export const SAMPLED_TARGETS = TARGETS.filter(({ file }) => SAMPLED.some((name) => file.endsWith(`/${name}`)))
