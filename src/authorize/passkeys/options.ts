// What a browser is asked with: the JSON of WebAuthn Level 3, 5.1.8 and 5.1.9, which PublicKeyCredential.parse…OptionsFromJSON reads.
// Browsers read these members by their names: they are verbatim.

import { z } from 'zod'
import { ALGORITHM_NAMES, ALGORITHMS } from './authenticator-data.ts'
import type { RelyingParty } from './config.ts'
import type { PasskeyRow } from './rows.ts'

const descriptors = z.array(
  z
    .object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()).optional() })
    .meta({ id: 'PasskeyDescriptor', verbatim: true }),
)

/** For `navigator.credentials.create`. */
export const creationOptions = z
  .object({
    challenge: z.string(),
    rp: z.object({ id: z.string(), name: z.string() }).meta({ id: 'PasskeyRelyingParty', verbatim: true }),
    user: z
      .object({ id: z.string(), name: z.string(), displayName: z.string() })
      .meta({ id: 'PasskeyUser', verbatim: true }),
    pubKeyCredParams: z.array(
      z
        .object({ type: z.literal('public-key'), alg: z.number().int() })
        .meta({ id: 'PasskeyParameters', verbatim: true }),
    ),
    timeout: z.number().int(),
    excludeCredentials: descriptors,
    authenticatorSelection: z
      .object({
        residentKey: z.literal('required'),
        requireResidentKey: z.literal(true),
        userVerification: z.literal('required'),
      })
      .meta({ id: 'PasskeyAuthenticatorSelection', verbatim: true }),
    attestation: z.literal('none'),
  })
  .meta({ id: 'PasskeyCreationOptions', verbatim: true })

/** For `navigator.credentials.get`. */
export const requestOptions = z
  .object({
    challenge: z.string(),
    rpId: z.string(),
    timeout: z.number().int(),
    allowCredentials: descriptors.meta({
      description: 'Allowed passkeys; empty: browsers offer the passkeys that they know.',
    }),
    userVerification: z.literal('required'),
  })
  .meta({ id: 'PasskeyRequestOptions', verbatim: true })

export type CreationOptions = z.output<typeof creationOptions>
export type RequestOptions = z.output<typeof requestOptions>

interface Asked {
  rp: RelyingParty
  challenge: Buffer
  /** Passkeys of the user. */
  passkeys: readonly Pick<PasskeyRow, 'credentialId' | 'transports'>[]
  timeoutMs: number
}

export function generateCreationOptions(
  { rp, challenge, passkeys, timeoutMs }: Asked,
  { userId, email }: { userId: string; email: string },
): CreationOptions {
  return {
    challenge: challenge.toString('base64url'),
    rp: { id: rp.id, name: 'Countersign' },
    // Authenticators keep the name, and give the id back with each assertion.
    user: { id: Buffer.from(userId).toString('base64url'), name: email, displayName: email },
    pubKeyCredParams: ALGORITHM_NAMES.map((name) => ({ type: 'public-key', alg: ALGORITHMS[name] })),
    timeout: timeoutMs,
    excludeCredentials: describe(passkeys),
    // Discoverable, so that a request without a list of credentials finds it.
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  }
}

export function generateRequestOptions({ rp, challenge, passkeys, timeoutMs }: Asked): RequestOptions {
  return {
    challenge: challenge.toString('base64url'),
    rpId: rp.id,
    timeout: timeoutMs,
    allowCredentials: describe(passkeys),
    userVerification: 'required',
  }
}

function describe(passkeys: Asked['passkeys']): z.output<typeof descriptors> {
  return passkeys.map(({ credentialId, transports }) => ({
    type: 'public-key',
    id: credentialId.toString('base64url'),
    ...(transports.length > 0 && { transports }),
  }))
}
