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
const CLIENT = 'clients/typescript/src'

export const TARGETS: readonly Target[] = [
  { file: `${CLIENT}/verify-intent-token.ts`, answers: 'typescript', vectors: ['tokens/offline'] },
  { file: `${CLIENT}/claims.ts`, answers: 'typescript', vectors: ['tokens/offline'] },
  { file: `${CLIENT}/strict-json.ts`, answers: 'typescript', vectors: [...CANONICAL, 'tokens/offline'] },
  { file: `${CLIENT}/canonicalize.ts`, answers: 'typescript', vectors: CANONICAL },
  { file: `${CLIENT}/key-source.ts`, answers: 'typescript', vectors: ['tokens/key-source'] },
  { file: 'src/authorize/tokens/parse.ts', answers: 'service-tokens', vectors: ['tokens/offline'] },
  { file: 'src/authorize/tokens/claims.ts', answers: 'service-tokens', vectors: ['tokens/offline'] },
  { file: 'src/account/webhooks/signature.ts', answers: 'service-webhooks', vectors: ['webhooks/signatures'] },
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
  {
    file: 'src/platform/ledger/proofs.ts',
    answers: 'service-ledger',
    vectors: ['ledger/inclusion', 'ledger/inclusion-refused', 'ledger/consistency', 'ledger/consistency-refused'],
    functions: ['verifyInclusion', 'verifyConsistency', 'isIn'],
  },
  { file: 'src/platform/ledger/checkpoint-check.ts', answers: 'service-ledger', vectors: LEDGER },
  { file: 'commands/ledger/check.ts', answers: 'service-ledger', vectors: ['ledger/exports'], notTables: ['WORDS'] },
  {
    file: 'src/platform/crypto/signing-keys.ts',
    answers: 'service-ledger',
    vectors: LEDGER,
    functions: ['verifyRecord', 'verifiedPayload', 'readHeader'],
  },
  { file: 'commands/evidence/check.ts', answers: 'service-packets', vectors: PACKETS },
  { file: 'commands/evidence/check-attestation.ts', answers: 'service-packets', vectors: PACKETS, tables: ['shown'] },
  {
    file: 'commands/evidence/check-video.ts',
    answers: 'service-packets',
    vectors: ['packets/videos', 'packets/photos'],
  },
  { file: 'commands/evidence/findings.ts', answers: 'service-packets', vectors: PACKETS },
  {
    file: 'src/attest/evidence/pdf-file.ts',
    answers: 'service-packets',
    vectors: PACKETS,
    functions: ['splitSeal', 'isPdf', 'readAttachment'],
  },
]
