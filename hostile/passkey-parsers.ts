// Answers of authenticators, as a person sends them who has one passkey and wants to confirm what it did not sign.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALGORITHM_NAMES, readAuthenticatorFacts, readMap } from '#src/authorize/passkeys/authenticator-data.ts'
import { assertionResponse, registrationResponse } from '#src/authorize/passkeys/bodies.ts'
import { loadWebauthn, verifyPasskeyAssertion, verifyRegistration } from '#src/authorize/passkeys/ceremony.ts'
import { Failure } from '#src/failure.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'

interface Response {
  clientDataJSON: string
  authenticatorData: string
  signature: string
}

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, '../vectors/passkeys', name), 'utf8'))
const bytes = (text: string) => Buffer.from(text, 'base64url')
const own = read('assertions.json')
const w3c = read('w3c.json')
const RP = { id: own.rp_id, origins: own.origins }
const KNOWN = {
  credentialId: bytes(own.credential.id),
  publicKey: bytes(own.credential.public_key),
  algorithm: own.credential.algorithm,
  isBackupEligible: own.credential.backup_eligible,
}
const SIGNED: Response[] = own.cases
  .filter(({ answer }: { answer: string }) => answer === 'accepted')
  .map(({ response }: { response: { response: Response } }) => response.response)
const PARTS = ['clientDataJSON', 'authenticatorData', 'signature'] as const
const REGISTRATION = w3c.cases.find(({ id }: { id: string }) => id === 'packed-self-es256').registration
const OBJECTS: Buffer[] = w3c.cases.map(({ registration }: { registration: { attestationObject: string } }) =>
  bytes(registration.attestationObject),
)
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
        const rp = { id: w3c.rp_id, origins: [w3c.origin] }
        let publicKey: Buffer = Buffer.alloc(0)
        const refused = await codeOf(async () => {
          const made = await verifyRegistration(parsed.data, {
            rp,
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
