// What browsers send of a passkey. Members that a later browser adds are dropped and not refused: no caller chooses them.
// Every member is bounded before anything decodes it. Names are those of WebAuthn.

import { z } from 'zod'

/** WebAuthn 5.8.6: a credential id has up to 1,023 bytes. */
const MAX_CREDENTIAL_ID_BYTES = 1_023
const MAX_CLIENT_DATA_BYTES = 4_096
const MAX_AUTHENTICATOR_DATA_BYTES = 4_096
/** RSA of 4,096 bits. */
const MAX_SIGNATURE_BYTES = 512
const MAX_USER_HANDLE_BYTES = 64
// A key of 4,096 bits, a credential id and extensions. Attestation statements with certificates are refused anyway.
const MAX_ATTESTATION_BYTES = 8_192

export const MAX_NAME_LENGTH = 100

const base64url = (maxBytes: number) =>
  z
    .string()
    .min(1)
    .max(Math.ceil((maxBytes * 4) / 3))
    .regex(/^[A-Za-z0-9_-]+$/, { error: 'must be base64url without padding', abort: true })
    .meta({ contentEncoding: 'base64url' })

const credentialId = base64url(MAX_CREDENTIAL_ID_BYTES)
const credential = {
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(40).nullish(),
}

/** `RegistrationResponseJSON` of WebAuthn 5.1: `toJSON()` of what `navigator.credentials.create` returned. */
export const registrationResponse = z
  .object({
    ...credential,
    response: z
      .object({
        clientDataJSON: base64url(MAX_CLIENT_DATA_BYTES),
        attestationObject: base64url(MAX_ATTESTATION_BYTES),
        transports: z.array(z.string().max(40)).max(20).optional(),
      })
      .meta({ id: 'PasskeyAttestationData', verbatim: true }),
  })
  .meta({ id: 'PasskeyRegistrationResponse', verbatim: true })

/** `AuthenticationResponseJSON` of WebAuthn 5.1: `toJSON()` of what `navigator.credentials.get` returned. */
export const assertionResponse = z
  .object({
    ...credential,
    response: z
      .object({
        clientDataJSON: base64url(MAX_CLIENT_DATA_BYTES),
        authenticatorData: base64url(MAX_AUTHENTICATOR_DATA_BYTES),
        signature: base64url(MAX_SIGNATURE_BYTES),
        userHandle: base64url(MAX_USER_HANDLE_BYTES).nullish(),
      })
      .meta({ id: 'PasskeyAssertionData', verbatim: true }),
  })
  .meta({ id: 'PasskeyAssertionResponse', verbatim: true })

/** The member `passkey_assertion` of requests that a person confirms. */
export const passkeyAssertion = z
  .strictObject({
    challenge_id: z.string().min(1).max(64).meta({ description: 'Id of a challenge of POST /v1/intent/challenges.' }),
    response: assertionResponse,
  })
  .meta({ id: 'PasskeyAssertion' })

export type RegistrationResponse = z.output<typeof registrationResponse>
export type AssertionResponse = z.output<typeof assertionResponse>
export type PasskeyAssertion = z.output<typeof passkeyAssertion>
