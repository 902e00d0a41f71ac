// Answers of authenticators, as a person sends them who has one passkey and wants to confirm what it did not sign.

import { ALGORITHM_NAMES, readAuthenticatorFacts, readMap } from '#src/authorize/passkeys/authenticator-data.ts'
import { assertionResponse, registrationResponse } from '#src/authorize/passkeys/bodies.ts'
import { loadWebauthn, verifyPasskeyAssertion, verifyRegistration } from '#src/authorize/passkeys/ceremony.ts'
import { Failure } from '#src/failure.ts'
import type { CeremoniesInput } from '../tools/vectors/answers/service-passkeys.ts'
import { readVectors, type VectorCase } from '../tools/vectors/file.ts'
import type { AssertionInput } from '../tools/vectors/made/passkeys.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'

interface Response {
  clientDataJSON: string
  authenticatorData: string
  signature: string
}

const bytes = (text: string) => Buffer.from(text, 'base64url')
// One passkey, which is known.
const assertions = readVectors<AssertionInput, { answer: string }>('passkeys/assertions').cases.filter(
  ({ input }) => input.credential.algorithm === 'ES256',
)
const w3c = readVectors<CeremoniesInput>('passkeys/w3c').cases.map(({ id, input }) => ({
  id,
  rp: { id: input.rp_id, origins: [input.origin] },
  ...input.registration,
}))
const [{ input: own }] = assertions as [VectorCase<AssertionInput>]
const RP = { id: own.rp_id, origins: own.origins }
const KNOWN = {
  credentialId: bytes(own.credential.id),
  publicKey: bytes(own.credential.public_key),
  algorithm: own.credential.algorithm,
  isBackupEligible: own.credential.backup_eligible,
}
const SIGNED: Response[] = assertions
  .filter(({ expect: { answer } }) => answer === 'accepted')
  .map(({ input }) => input.response.response)
const PARTS = ['clientDataJSON', 'authenticatorData', 'signature'] as const
const [REGISTRATION] = w3c.filter(({ id }) => id === 'passkeys-w3c-packed-self-es256') as [(typeof w3c)[number]]
const OBJECTS = w3c.map(({ attestationObject }) => bytes(attestationObject))
const MAX_BYTES = 16 * 1024
const LIMIT = { kind: 'thread', ms: 250 } as const
const REFUSALS = [
  'too_long',
  'too_short',
  'malformed',
  'mismatch',
  'wrong_type',
  'wrong_challenge',
  'wrong_origin',
  'cross_origin',
  'wrong_rp_id',
  'user_not_present',
  'user_not_verified',
  'backup_eligibility_changed',
  'unsupported_attestation',
  'unsupported_key',
  'invalid_signature',
]

/** Their library is loaded first: no case pays for it. */
export async function passkeyParsers(): Promise<Parser[]> {
  await loadWebauthn()
  return [
    {
      name: 'passkey assertion',
      source: 'src/authorize/passkeys/ceremony.ts',
      limit: LIMIT,
      make(dice: Dice) {
        const seed = dice.below(SIGNED.length)
        const part = dice.below(PARTS.length)
        const name = PARTS[part] ?? 'signature'
        const seeds = SIGNED.map((response) => bytes(response[name]))
        return Buffer.concat([Buffer.of(seed, part), mutateBytes(seeds, dice, MAX_BYTES)])
      },
      async run(input) {
        const given = SIGNED[input[0] ?? 0]
        const name = PARTS[input[1] ?? 0] ?? 'signature'
        const response = { ...given, [name]: input.subarray(2).toString('base64url') }
        const parsed = assertionResponse.safeParse({
          id: own.credential.id,
          rawId: own.credential.id,
          type: 'public-key',
          response,
        })
        if (!parsed.success) return input.length > 2 ? 'too_long' : 'too_short'
        const refused = await codeOf(() =>
          verifyPasskeyAssertion(parsed.data, KNOWN, { rp: RP, challenge: bytes(own.challenge), pointer: '' }),
        )
        if (refused !== undefined) return refused
        const { clientDataJSON, authenticatorData } = parsed.data.response
        hold(
          SIGNED.some((one) => one.clientDataJSON === clientDataJSON && one.authenticatorData === authenticatorData),
          'no data but those that were signed',
        )
        return 'accepted'
      },
      refusals: REFUSALS,
    },
    {
      name: 'passkey registration',
      source: 'src/authorize/passkeys/ceremony.ts',
      limit: LIMIT,
      make: (dice) => mutateBytes(OBJECTS, dice, MAX_BYTES),
      async run(input) {
        const data = readMap(input)?.get('authData')
        const found = data instanceof Uint8Array ? readAuthenticatorFacts(Buffer.from(data))?.credential?.id : undefined
        const id = found?.toString('base64url') ?? REGISTRATION.credential_id
        const response = { clientDataJSON: REGISTRATION.clientDataJSON, attestationObject: input.toString('base64url') }
        const parsed = registrationResponse.safeParse({ id, rawId: id, type: 'public-key', response })
        if (!parsed.success) return input.length > 0 ? 'too_long' : 'too_short'
        let publicKey: Buffer = Buffer.alloc(0)
        const refused = await codeOf(async () => {
          const made = await verifyRegistration(parsed.data, {
            rp: REGISTRATION.rp,
            challenge: bytes(REGISTRATION.challenge),
            pointer: '',
          })
          hold(ALGORITHM_NAMES.includes(made.algorithm), 'the algorithm is one that was asked for')
          hold(made.isBackupEligible || !made.isBackedUp, 'what is backed up is eligible')
          publicKey = made.publicKey
        })
        if (refused !== undefined) return refused
        hold(publicKey.length > 32 && publicKey.length <= 1_024, 'a key is bounded')
        return 'accepted'
      },
      refusals: REFUSALS,
    },
  ]
}

async function codeOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.errors?.[0]?.code ?? error.code
  }
}
